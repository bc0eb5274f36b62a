#pragma once

#include <cstddef>

#include <carom/impact.hpp>

namespace carom::test {

/// e in [low, high] of every contact.
inline void set_restitution(ImpactProblem& problem, double low, double high) {
  const auto m = static_cast<std::size_t>(problem.contacts);
  problem.restitution_low.assign(m, low);
  problem.restitution_high.assign(m, high);
}

/// A point mass of 2 kg that slides with 3 m/s and approaches with 1 m/s, mu = 1/4.
inline ImpactProblem sliding_ball(double e) {
  ImpactProblem problem;
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {2.0, 0.0, 0.0, 2.0};
  problem.normal_jacobian = {0.0, 1.0};
  problem.tangent_jacobian = {1.0, 0.0};
  problem.friction = {0.25};
  problem.velocity = {3.0, -1.0};
  set_restitution(problem, e, e);
  return problem;
}

/// A planar block on two contacts. Powers of two make every preparation exact, so that a device's
/// equals the host's.
inline ImpactProblem exact_block() {
  ImpactProblem problem;
  problem.name = "block";
  problem.velocities = 3;
  problem.contacts = 2;
  problem.mass_matrix = {1, 0, 0, 0, 1, 0, 0, 0, 0.25};
  problem.normal_jacobian = {0, 1, -0.5, 0, 1, 0.5};
  problem.tangent_jacobian = {1, 0, 1, 1, 0, 1};
  problem.friction = {0.5, 0.75};
  problem.velocity = {0.25, -1, 0.5};
  return problem;
}

/// Equal balls of 1 kg in a row that touch; the first one moves with 1 m/s.
inline ImpactProblem cradle(int balls, double e) {
  ImpactProblem problem;
  problem.velocities = balls;
  problem.contacts = balls - 1;
  const auto n = static_cast<std::size_t>(balls);
  problem.mass_matrix.assign(n * n, 0.0);
  problem.normal_jacobian.assign((n - 1) * n, 0.0);
  problem.tangent_jacobian.assign((n - 1) * n, 0.0);
  problem.friction.assign(n - 1, 0.0);
  problem.velocity.assign(n, 0.0);
  problem.velocity[0] = 1.0;
  for (std::size_t i = 0; i < n; ++i) problem.mass_matrix[i * n + i] = 1.0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    problem.normal_jacobian[i * n + i] = -1.0;
    problem.normal_jacobian[i * n + i + 1] = 1.0;
  }
  set_restitution(problem, e, e);
  return problem;
}

}  // namespace carom::test
