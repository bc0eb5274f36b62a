#pragma once

#include <cstddef>
#include <vector>

#include <carom/types/impact.hpp>

namespace carom {

/// The problem with only contact `contact`.
inline ImpactProblem single_contact(const ImpactProblem& problem, int contact) {
  ImpactProblem single = problem;
  single.contacts = 1;
  const auto keep = [contact](std::vector<double>& values, std::ptrdiff_t count) {
    if (values.empty()) return;
    const auto first = values.begin() + contact * count;
    values = std::vector<double>(first, first + count);
  };
  const std::ptrdiff_t nv = problem.velocities;
  keep(single.normal_jacobian, nv);
  keep(single.tangent_jacobian, (problem.dimension - 1) * nv);
  for (std::vector<double>* values : {&single.friction, &single.friction_high,
                                      &single.restitution_low, &single.restitution_high}) {
    keep(*values, 1);
  }
  return single;
}

}  // namespace carom
