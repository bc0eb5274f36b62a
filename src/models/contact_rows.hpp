#pragma once

// Contact Jacobian rows of free rigid bodies, and the packing of rows into a problem.

#include <vector>

#include <Eigen/Core>

#include <carom/impact.hpp>

namespace carom::models::detail {

/// Rows of one contact: J v is the velocity of the touching point in the contact's frame.
struct ContactRows {
  Eigen::RowVectorXd normal;  ///< Jn_i, positive separating
  Eigen::MatrixXd tangents;   ///< Jt_i, [dimension-1, nv]
};

/// A problem with one friction coefficient for all contacts.
ImpactProblem assemble(int dimension, const Eigen::MatrixXd& mass_matrix,
                       const std::vector<ContactRows>& contacts, double friction,
                       const Eigen::VectorXd& velocity);

/// The planar tangent of a unit normal: the normal rotated by -90 degrees, so +x on a floor
/// (normal +y) and +y on a wall to the right (normal -x).
inline Eigen::Vector2d planar_tangent(const Eigen::Vector2d& normal) {
  return {normal.y(), -normal.x()};
}

/// Planar contact of free bodies with coordinates (x, y, theta) each, theta counter-clockwise.
/// `arm` leads from the body's centre of mass to the touching point; the normal points into the
/// body, away from what it touches: the world, or `other` with its own arm.
struct PlanarContact {
  Eigen::Vector2d normal;
  int body = 0;
  Eigen::Vector2d arm;
  int other = -1;
  Eigen::Vector2d other_arm = Eigen::Vector2d::Zero();
};

/// v = (vx, vy, omega) per body; the row of direction d is (dx, dy, arm x d), minus the other's.
ContactRows planar_rows(const PlanarContact& contact, int bodies);

/// Orthonormal tangents of a unit normal n as rows, right-handed: t1 x t2 = n. t1 is world x made
/// orthogonal to n, or world y where n is close to x; so (x, y) on a level floor.
Eigen::Matrix<double, 2, 3> spatial_tangents(const Eigen::Vector3d& normal);

/// Contact of one spatial body with the world. v = (vx, vy, vz, wx, wy, wz) at the centre of mass
/// in the world frame; the row of direction d is (d, arm x d), since d . (w x arm) = w . (arm x d).
ContactRows spatial_rows(const Eigen::Vector3d& normal, const Eigen::Vector3d& arm);

/// diag(m 1, I) for an inertia about the centre of mass, in world axes.
Eigen::MatrixXd spatial_mass_matrix(double mass, const Eigen::Matrix3d& inertia);

}  // namespace carom::models::detail
