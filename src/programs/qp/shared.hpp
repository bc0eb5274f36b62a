#pragma once

#include <cstdint>

#include <carom/types/qp.hpp>

#include "programs/qp/layout.hpp"

namespace carom {

/// What QPs of one P and one A keep, or of each its own.
struct SharedQp {
  explicit SharedQp(const QpBatch& matrices) : layout(matrices) {}

  QpLayout layout;
  Buffer<double> factors;  ///< empty where problems have their own matrices
  bool usable = false;
};

namespace cpu {
/// Of problems whose vectors do not matter.
SharedQp share_qp(const QpBatch& matrices, const QpSettings& settings);
/// batch: hessian and matrix as share_qp had them, all else of each. held: see QpSolver::solve.
/// taken: [problems], 1 where result has a certified answer.
void solve_shared_qp(SharedQp& shared, const QpBatch& batch, const QpSettings& settings,
                     std::uint8_t* held, std::uint8_t* taken, QpResult& result,
                     WorkspaceState* workspace);
}  // namespace cpu

}  // namespace carom
