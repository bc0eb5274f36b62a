#include "models/contact_rows.hpp"

#include <cmath>

#include <Eigen/Geometry>

namespace carom::models::detail {
namespace {

/// Row-major; the sum turns -0 into 0.
void append(std::vector<double>& values, const Eigen::MatrixXd& rows) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < rows.cols(); ++j) values.push_back(rows(i, j) + 0.0);
  }
}

Eigen::RowVector3d planar_row(const Eigen::Vector2d& direction, const Eigen::Vector2d& arm) {
  return {direction.x(), direction.y(), arm.x() * direction.y() - arm.y() * direction.x()};
}

}  // namespace

ImpactProblem assemble(int dimension, const Eigen::MatrixXd& mass_matrix,
                       const std::vector<ContactRows>& contacts, double friction,
                       const Eigen::VectorXd& velocity) {
  ImpactProblem problem;
  problem.dimension = dimension;
  problem.velocities = static_cast<int>(velocity.size());
  problem.contacts = static_cast<int>(contacts.size());
  append(problem.mass_matrix, mass_matrix);
  for (const ContactRows& contact : contacts) {
    append(problem.normal_jacobian, contact.normal);
    append(problem.tangent_jacobian, contact.tangents);
  }
  problem.friction.assign(contacts.size(), friction);
  problem.velocity.assign(velocity.begin(), velocity.end());
  return problem;
}

ContactRows planar_rows(const PlanarContact& contact, int bodies) {
  const Eigen::Vector2d tangent = planar_tangent(contact.normal);
  ContactRows rows{Eigen::RowVectorXd::Zero(3 * bodies), Eigen::MatrixXd::Zero(1, 3 * bodies)};
  rows.normal.segment<3>(3 * contact.body) = planar_row(contact.normal, contact.arm);
  rows.tangents.block<1, 3>(0, 3 * contact.body) = planar_row(tangent, contact.arm);
  if (contact.other >= 0) {
    rows.normal.segment<3>(3 * contact.other) = -planar_row(contact.normal, contact.other_arm);
    rows.tangents.block<1, 3>(0, 3 * contact.other) = -planar_row(tangent, contact.other_arm);
  }
  return rows;
}

Eigen::Matrix<double, 2, 3> spatial_tangents(const Eigen::Vector3d& normal) {
  const Eigen::Vector3d axis =
      std::abs(normal.x()) < 0.9 ? Eigen::Vector3d::UnitX() : Eigen::Vector3d::UnitY();
  const Eigen::Vector3d first = (axis - normal.dot(axis) * normal).normalized();
  Eigen::Matrix<double, 2, 3> tangents;
  tangents.row(0) = first;
  tangents.row(1) = normal.cross(first);
  return tangents;
}

ContactRows spatial_rows(const Eigen::Vector3d& normal, const Eigen::Vector3d& arm) {
  const Eigen::Matrix<double, 2, 3> tangents = spatial_tangents(normal);
  ContactRows rows{Eigen::RowVectorXd(6), Eigen::MatrixXd(2, 6)};
  rows.normal << normal.transpose(), arm.cross(normal).transpose();
  for (int k = 0; k < 2; ++k) {
    const Eigen::Vector3d tangent = tangents.row(k);
    rows.tangents.row(k) << tangent.transpose(), arm.cross(tangent).transpose();
  }
  return rows;
}

Eigen::MatrixXd spatial_mass_matrix(double mass, const Eigen::Matrix3d& inertia) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(6, 6);
  matrix.diagonal().head<3>().setConstant(mass);
  matrix.bottomRightCorner<3, 3>() = inertia;
  return matrix;
}

}  // namespace carom::models::detail
