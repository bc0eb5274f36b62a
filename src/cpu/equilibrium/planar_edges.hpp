#pragma once

#include <vector>

#include "equilibrium/kernels/planar_posture.hpp"

/// Cone edges of a planar posture in the form that the geometric methods use.
namespace carom::cpu {

/// A contact, or one end of a patch, in the frame of the force: x across it, y against it.
struct PlanarPoint {
  double x, y;
};

/// An edge of a friction cone: direction (u, v), u = 0 where it is parallel to the force.
struct PlanarEdge {
  int index;  ///< 2 point + {0, 1}
  double x, y, u, v;

  [[nodiscard]] bool left() const { return u < 0.0; }
  [[nodiscard]] bool right() const { return u > 0.0; }
  [[nodiscard]] bool parallel() const { return u == 0.0; }
  [[nodiscard]] double slope() const { return v / u; }
  [[nodiscard]] double height_at(double at) const { return y + (at - x) * slope(); }
};

/// Points and edges; edge e of point p stands at 2 p + e.
struct PlanarScene {
  std::vector<PlanarPoint> points;
  std::vector<PlanarEdge> edges;
  double size = 0.0;  ///< largest distance of a point from the first
};

/// A basis of LP (4): the line of action of the force that its edges bear. right < 0: one parallel
/// edge alone.
struct PlanarBasis {
  double x = 0.0;
  int left = -1, right = -1;
};

PlanarScene planar_scene(const certificate::PlanarContacts& contacts, bool patches,
                         const kernels::ForceFrame& frame);

/// Forces on two edges that add up to the unit force against the external one: false where they
/// would have to pull.
bool make_basis(const PlanarEdge& a, const PlanarEdge& b, PlanarBasis& basis);

/// The bases furthest to the left and right, by Lemma 2.3 for each pair of contacts. A region
/// without end is -infinity or infinity; empty: lower > upper.
struct GraphicRange {
  double lower, upper;
};
GraphicRange graphic_range(const PlanarScene& scene);

}  // namespace carom::cpu
