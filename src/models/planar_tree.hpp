#pragma once

// Planar kinematic trees of links joined by hinges.

#include <vector>

#include <Eigen/Core>

namespace carom::models::detail {

/// One link. Its frame sits at its hinge and, at angle zero, has the world's axes.
struct PlanarLink {
  int parent = -1;        ///< link that carries the hinge, before this one; -1: the floating point
  Eigen::Vector2d hinge;  ///< in the parent's frame; in world axes from the floating point
  double mass = 0.0;
  double inertia = 0.0;         ///< about the mass centre; zero for a point mass
  Eigen::Vector2d mass_centre;  ///< in the link's frame
};

/// Links that hang on a floating point, q = (x, y, angle of link 0, of link 1, ...) with every
/// angle counter-clockwise and relative to the link's parent (to the world where the parent is the
/// floating point).
class PlanarTree {
 public:
  explicit PlanarTree(std::vector<PlanarLink> links) : links_(std::move(links)) {}

  [[nodiscard]] int velocities() const { return 2 + static_cast<int>(links_.size()); }

  /// Angle of a link in the world.
  [[nodiscard]] double angle(int link, const Eigen::VectorXd& q) const;

  /// World position of a point fixed in a link's frame.
  [[nodiscard]] Eigen::Vector2d position(int link, const Eigen::Vector2d& point,
                                         const Eigen::VectorXd& q) const;

  /// [2, nv], velocity of that point: a hinge moves what hangs on it by angle x (point - hinge).
  [[nodiscard]] Eigen::MatrixXd jacobian(int link, const Eigen::Vector2d& point,
                                         const Eigen::VectorXd& q) const;

  /// M(q) = sum over links of m Jc' Jc + I w' w, with Jc the mass centre's Jacobian and w the
  /// link's angular velocity row.
  [[nodiscard]] Eigen::MatrixXd mass_matrix(const Eigen::VectorXd& q) const;

 private:
  std::vector<PlanarLink> links_;
};

}  // namespace carom::models::detail
