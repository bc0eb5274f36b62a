#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include <carom/impact.hpp>

namespace carom::reference {

/// The rocking block of the paper's Table 4, corner by corner: coordinates (x, y, angle), corners
/// A = (-w/2, -h/2) and B = (w/2, -h/2) from the centre of mass, w = 1 m, h = 2 m, 1 kg.
inline ImpactProblem block(double drop_speed, double friction) {
  ImpactProblem problem;
  problem.name = "block";
  problem.velocities = 3;
  problem.contacts = 2;
  problem.mass_matrix = {1, 0, 0, 0, 1, 0, 0, 0, 5.0 / 12.0};
  problem.normal_jacobian = {0, 1, -0.5, 0, 1, 0.5};
  problem.tangent_jacobian = {1, 0, 1, 1, 0, 1};
  problem.friction = {friction, friction};
  problem.velocity = {0, -drop_speed, 0};
  return problem;
}

/// A planar point of the given mass that meets the floor.
inline ImpactProblem point_on_floor(double mass, double friction, double vx, double vy) {
  ImpactProblem problem;
  problem.name = "point";
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {mass, 0, 0, mass};
  problem.normal_jacobian = {0, 1};
  problem.tangent_jacobian = {1, 0};
  problem.friction = {friction};
  problem.velocity = {vx, vy};
  return problem;
}

/// Random problem with a well-conditioned mass matrix; at least one contact approaches.
inline ImpactProblem random_problem(std::mt19937_64& generator, int dimension, int contacts,
                                    int velocities, double friction) {
  std::normal_distribution<double> normal;
  const auto fill = [&](std::vector<double>& values, int count) {
    values.resize(count);
    for (double& value : values) value = normal(generator);
  };
  ImpactProblem problem;
  problem.name = "random";
  problem.dimension = dimension;
  problem.velocities = velocities;
  problem.contacts = contacts;
  Eigen::MatrixXd factor(velocities, velocities);
  for (double& value : factor.reshaped()) value = normal(generator);
  Eigen::MatrixXd mass = factor * factor.transpose();
  mass += Eigen::MatrixXd::Identity(velocities, velocities);
  problem.mass_matrix.assign(mass.data(), mass.data() + mass.size());
  fill(problem.normal_jacobian, contacts * velocities);
  fill(problem.tangent_jacobian, (dimension - 1) * contacts * velocities);
  problem.friction.assign(contacts, friction);
  fill(problem.velocity, velocities);
  double first = 0.0;
  for (int i = 0; i < velocities; ++i) {
    first += problem.normal_jacobian[i] * problem.velocity[i];
  }
  if (first > 0.0) {
    for (double& value : problem.velocity) value = -value;
  }
  return problem;
}

}  // namespace carom::reference
