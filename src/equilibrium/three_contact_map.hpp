#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <carom/posture.hpp>

#include "equilibrium/planar_polygon.hpp"

/// Centres of mass that three spatial contacts hold, as functions of the point r in which their
/// horizontal forces meet: docs/algorithms/equilibrium_spatial.md.
namespace carom::three_contacts {

using polygon::Point;

/// A contact in (u, v, e), about the contacts' mean.
struct Foot {
  Point at;
  double height;
  double normal[3];
  double friction;
  bool vertical;  ///< its cone contains e
};

/// A convex piece of P with the signs of sigma lambda_i.
struct Piece {
  std::vector<Point> polygon;
  std::array<double, 3> sign;
  double sigma = 1.0;
};

/// The roots z of (10) for the horizontal direction h; false where no force has it.
bool roots(const Foot& foot, const Point& h, double& low, double& high);

/// Lengths are about the contacts' mean, in axes of which the third, e, opposes the external force.
struct Parametrisation {
  /// Errors: InvalidInput where the construction does not apply to the posture.
  explicit Parametrisation(const Posture& posture);

  /// lambda_i(r) of (5).
  [[nodiscard]] double lambda(std::size_t i, const Point& r) const;

  /// One of the 16 convex pieces of P, within `reach` times the contacts' extent.
  [[nodiscard]] Piece piece_of(double sigma, int cell, double reach) const;

  /// Phi of (9) with each zeta_i at one of its roots; false where there are no such forces.
  bool image(const Piece& piece, const Point& r, int choice, Point& out) const;

  double axis[3][3] = {};
  std::array<Foot, 3> foot{};
  Point home{};         ///< the contacts' mean
  Point offset{};       ///< from the external torque, of every image
  double extent = 0.0;  ///< largest distance of a contact from the mean
};

}  // namespace carom::three_contacts
