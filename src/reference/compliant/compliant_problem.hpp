#pragma once

#include <cstdint>

#include <carom/types/compliant.hpp>

#include "reference/compliant/compliant_equations.hpp"

/// Problems of a batch as Eigen matrices, and answers back into it.
namespace carom::reference {

inline Eigen::VectorXd vector_of(const double* values, Eigen::Index size) {
  return Eigen::Map<const Eigen::VectorXd>(values, size);
}

/// Problem `problem` of a host batch; absent rows are zero.
CompliantEquations gather(const CompliantBatch& batch, std::int64_t problem, bool centripetal);

/// Writes v', q' - q, lambda and the energy.
void hand_out(const CompliantBatch& batch, std::int64_t problem,
              const CompliantEquations& equations, const CompliantSolution& solution,
              CompliantResult& result);

}  // namespace carom::reference
