#pragma once

#include <cstdint>

#include <carom/compliant.hpp>

#include "compliant/body/compliant_array_body.hpp"
#include "cpu/reference/compliant/compliant_equations.hpp"

/// Problems of a batch as Eigen matrices, and answers back into it.
namespace carom::reference {

inline Eigen::VectorXd vector_of(const double* values, Eigen::Index size) {
  return Eigen::Map<const Eigen::VectorXd>(values, size);
}

/// Problem `problem` of a host batch; absent rows are zero.
CompliantEquations gather(const CompliantBatch& batch, std::int64_t problem, bool centripetal);

/// Whether the problem's numbers and rows can be worked with.
bool acceptable(const CompliantBatch& batch, std::int64_t problem);

/// Writes v', q' - q, lambda and the energy.
void hand_out(const CompliantBatch& batch, std::int64_t problem,
              const CompliantEquations& equations, const CompliantSolution& solution,
              const kernels::CompliantArrays& out);

/// Writes NaN and the status.
void refuse(const CompliantBatch& batch, std::int64_t problem, Status status,
            const kernels::CompliantArrays& out);

}  // namespace carom::reference
