#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <carom/posture.hpp>

#include "equilibrium/planar_polygon.hpp"

/// Centres of mass that three spatial contacts hold, as functions of the point r in which their
/// horizontal forces meet: docs/explanation/equilibrium_spatial.md.
namespace carom::three_contacts {

using polygon::Point;

/// A contact in (u, v, e), about the contacts' mean.
struct Foot {
  Point at;
  double height;
  double normal[3];
  double friction;
  bool vertical;  ///< its cone contains e
  Point edge[2];  ///< along the edges of the cone seen from above, unless vertical
};

/// What an edge of a piece of P lies on: the line lambda_i = 0, labelled i; edge e of contact i's
/// cone seen from above, where its two roots meet, cone_label(i, e); or nothing, where P is cut
/// off.
inline constexpr int kNoSide = -1;
inline constexpr int cone_label(std::size_t i, int e) { return 3 + 2 * static_cast<int>(i) + e; }

/// A convex piece of P with the signs of sigma lambda_i.
struct Piece {
  std::vector<Point> polygon;
  std::vector<int> labels;  ///< of the edge behind each vertex
  std::array<double, 3> sign;
  double sigma = 1.0;
};

/// The roots z of (10) for the horizontal direction h; false where no force has it. double_root: h
/// lies on an edge of the cone's projection, up to rounding.
bool roots(const Foot& foot, const Point& h, double& low, double& high, bool double_root = false);

/// Lengths are about the contacts' mean, in axes of which the third, e, opposes the external force.
struct Parametrisation {
  /// Errors: InvalidInput where the construction does not apply to the posture.
  explicit Parametrisation(const Posture& posture);

  /// lambda_i(r) of (5).
  [[nodiscard]] double lambda(std::size_t i, const Point& r) const;

  /// One of the 16 convex pieces of P, within `reach` times the contacts' extent.
  [[nodiscard]] Piece piece_of(double sigma, int cell, double reach) const;

  /// Phi of (9) with each zeta_i at one of its roots; false where there are no such forces. sides:
  /// what the point r lies on, up to rounding.
  bool image(const Piece& piece, const Point& point, int choice, Point& out,
             int label = kNoSide) const;

  /// r moved onto what the label says as exactly as forces feel it.
  [[nodiscard]] Point placed(const Point& r, int label) const;

  double axis[3][3] = {};
  std::array<Foot, 3> foot{};
  Point home{};         ///< the contacts' mean
  Point offset{};       ///< from the external torque, of every image
  double extent = 0.0;  ///< largest distance of a contact from the mean
};

}  // namespace carom::three_contacts
