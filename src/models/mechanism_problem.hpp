#pragma once

// Impact problems from mechanisms.

#include <array>
#include <stdexcept>
#include <vector>

#include <carom/types/impact.hpp>

#include "models/definition.hpp"
#include "models/mechanisms/mechanism.hpp"

namespace carom::models::detail {

inline constexpr double kStandardGravity = 9.81;  ///< [m/s2]; no impact depends on it

/// Parameters of a mechanism, in its order, from those of its impact model; those behind gravity
/// are zero.
template <kernels::ImpactMechanism Mechanism>
std::vector<double> mechanism_parameters(const Values& values) {
  std::vector<double> parameters = values.in_order();
  if (parameters.size() != Mechanism::kGravity) {
    throw std::logic_error("a model's parameters are not those of its mechanism");
  }
  parameters.push_back(kStandardGravity);
  parameters.resize(Mechanism::kParameters);
  return parameters;
}

/// M, J, mu and v of a mechanism at the configuration of its impact model.
template <kernels::ImpactMechanism Mechanism>
ImpactProblem impact_problem(const Values& values) {
  constexpr int nv = Mechanism::kSizes.velocities;
  constexpr int contacts = Mechanism::kSizes.constraints;
  constexpr int rows = Mechanism::kRows;
  const std::vector<double> p = mechanism_parameters<Mechanism>(values);
  std::array<double, Mechanism::kSizes.positions> q{};
  ImpactProblem problem;
  problem.dimension = rows;
  problem.velocities = nv;
  problem.contacts = contacts;
  problem.velocity.resize(nv);
  Mechanism::start(p.data(), q.data(), problem.velocity.data());
  const Mechanism at(p.data(), 0.0, q.data());
  problem.mass_matrix.resize(nv * nv);
  at.mass_matrix(problem.mass_matrix.data());
  for (int i = 0; i < contacts; ++i) {
    const auto contact = at.constraint(i);
    std::array<double, rows * nv> jacobian{};
    at.jacobian(contact, jacobian.data(), nv);
    // The sum turns -0 into 0.
    for (int j = 0; j < nv; ++j) problem.normal_jacobian.push_back(jacobian[j] + 0.0);
    for (int j = nv; j < rows * nv; ++j) problem.tangent_jacobian.push_back(jacobian[j] + 0.0);
    problem.friction.push_back(at.friction(contact));
  }
  for (double& entry : problem.mass_matrix) entry += 0.0;
  return problem;
}

}  // namespace carom::models::detail
