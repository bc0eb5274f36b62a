#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <carom/posture.hpp>

#include "equilibrium/planar_polygon.hpp"

/// The region of three spatial contacts, parametrised by the point r in which the lines of their
/// horizontal forces meet (docs/explanation/equilibrium_spatial.md).
namespace carom::three_contacts {

using polygon::Point;

/// A contact in coordinates (u, v, e) with the contacts' mean as origin.
struct Foot {
  Point at;
  double height;
  double normal[3];
  double friction;
  bool vertical;  ///< its cone contains e
  Point edge[2];  ///< directions of the edges of the cone's projection, unless vertical
};

/// Labels of the edges of a piece of P: i for the line lambda_i = 0; cone_label(i, e) for edge e
/// of the projection of contact i's cone, on which its two roots coincide; kNoSide for an edge at
/// which P was truncated.
inline constexpr int kNoSide = -1;
inline constexpr int cone_label(std::size_t i, int e) { return 3 + 2 * static_cast<int>(i) + e; }

/// A convex piece of P, with the signs of sigma lambda_i on it.
struct Piece {
  std::vector<Point> polygon;
  std::vector<int> labels;  ///< of the edge that starts at each vertex
  std::array<double, 3> sign;
  double sigma = 1.0;
};

/// The roots z of (10) for the horizontal direction h; false if no force in the cone has this
/// direction. double_root: h lies on an edge of the cone's projection, up to rounding.
bool roots(const Foot& foot, const Point& h, double& low, double& high, bool double_root = false);

/// Positions are relative to the contacts' mean; the third axis, e, opposes the external force.
struct Parametrisation {
  /// Errors: InvalidInput if the construction does not apply to the posture.
  explicit Parametrisation(const Posture& posture);

  /// lambda_i(r) of (5).
  [[nodiscard]] double lambda(std::size_t i, const Point& r) const;

  /// One of the 16 convex pieces of P, within `reach` times the contacts' extent.
  [[nodiscard]] Piece piece_of(double sigma, int cell, double reach) const;

  /// Phi of (9) at `point`, with each zeta_i at the root that `choice` selects; false if there are
  /// no such forces. label: of the edge on which the point lies, up to rounding.
  bool image(const Piece& piece, const Point& point, int choice, Point& out,
             int label = kNoSide) const;

  /// r moved onto the labelled line, as exactly as the forces depend on it.
  [[nodiscard]] Point placed(const Point& r, int label) const;

  double axis[3][3] = {};
  std::array<Foot, 3> foot{};
  Point home{};         ///< the contacts' mean
  Point offset{};       ///< added to every image, from the external torque
  double extent = 0.0;  ///< largest distance of a contact from the mean
};

}  // namespace carom::three_contacts
