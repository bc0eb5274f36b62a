#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <carom/types/qp.hpp>

#include "programs/qp/layout.hpp"

namespace carom {

/// Prepared data of QPs that share P and A, or that each have their own P and A.
struct SharedQp {
  explicit SharedQp(const QpBatch& matrices) : layout(matrices) {}

  [[nodiscard]] bool any_usable() const {
    return std::find(usable.begin(), usable.end(), 1) != usable.end();
  }

  QpLayout layout;
  Buffer<double> kept;               ///< of each problem
  Buffer<double> shared;             ///< empty where problems have their own matrices
  std::vector<std::uint8_t> usable;  ///< of each problem whether starts are taken
  std::vector<std::uint8_t> end;     ///< of those that are being solved
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
