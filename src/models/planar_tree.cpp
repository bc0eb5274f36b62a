#include "models/planar_tree.hpp"

#include <Eigen/Geometry>

namespace carom::models::detail {

double PlanarTree::angle(int link, const Eigen::VectorXd& q) const {
  double sum = 0.0;
  for (int i = link; i >= 0; i = links_[i].parent) sum += q(2 + i);
  return sum;
}

Eigen::Vector2d PlanarTree::position(int link, const Eigen::Vector2d& point,
                                     const Eigen::VectorXd& q) const {
  Eigen::Vector2d place = point;
  for (int i = link; i >= 0; i = links_[i].parent) {
    place = links_[i].hinge + Eigen::Rotation2Dd(q(2 + i)) * place;
  }
  return q.head<2>() + place;
}

Eigen::MatrixXd PlanarTree::jacobian(int link, const Eigen::Vector2d& point,
                                     const Eigen::VectorXd& q) const {
  const Eigen::Vector2d place = position(link, point, q);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(2, velocities());
  rows.leftCols<2>().setIdentity();
  for (int i = link; i >= 0; i = links_[i].parent) {
    const Eigen::Vector2d arm = place - position(i, Eigen::Vector2d::Zero(), q);
    rows.col(2 + i) = Eigen::Vector2d(-arm.y(), arm.x());
  }
  return rows;
}

Eigen::MatrixXd PlanarTree::mass_matrix(const Eigen::VectorXd& q) const {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(velocities(), velocities());
  for (int link = 0; link < static_cast<int>(links_.size()); ++link) {
    const PlanarLink& body = links_[link];
    const Eigen::MatrixXd centre = jacobian(link, body.mass_centre, q);
    Eigen::RowVectorXd spin = Eigen::RowVectorXd::Zero(velocities());
    for (int i = link; i >= 0; i = links_[i].parent) spin(2 + i) = 1.0;
    matrix += body.mass * centre.transpose() * centre + body.inertia * spin.transpose() * spin;
  }
  // The products round differently above and below the diagonal.
  return 0.5 * (matrix + matrix.transpose());
}

}  // namespace carom::models::detail
