#pragma once

#include <cstdint>

#include <carom/types/qp.hpp>

#include "programs/qp/layout.hpp"

namespace carom {

/// What QPs of one P and one A keep.
struct SharedQp {
  explicit SharedQp(const QpBatch& one) : layout(one) {}

  QpLayout layout;
  Buffer<double> factors;
  bool usable = false;
};

namespace cpu {
/// Of a problem whose bounds do not matter.
SharedQp share_qp(const QpBatch& one, const QpSettings& settings);
/// batch: hessian and matrix of one problem, all else of each. held: see QpSolver::solve. taken:
/// [problems], 1 where result has a certified answer.
void solve_shared_qp(SharedQp& shared, const QpBatch& batch, const QpSettings& settings,
                     std::uint8_t* held, std::uint8_t* taken, QpResult& result,
                     WorkspaceState* workspace);
}  // namespace cpu

}  // namespace carom
