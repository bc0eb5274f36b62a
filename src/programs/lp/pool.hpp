#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <carom/types/lp.hpp>

#include "core/workspace.hpp"

namespace carom {

/// A basis with what its answers are made of: cpu/simd/programs/lp_pool.hpp.
struct PooledBasis {
  std::vector<BasisStatus> status;  ///< [columns + rows]
  std::vector<int> row, column;     ///< [k]
  Buffer<double> inverse;           ///< [k, k padded to 8], transposed
  std::vector<double> dual;         ///< [rows]
  std::int64_t hits = 0;
};

/// Bases of LPs that share c and A.
class LpPoolState {
 public:
  LpPoolState(const LpBatch& one, int most);

  /// Number of a basis that is in the pool or joins it; -1 where there is no room or its block is
  /// singular.
  int add(const BasisStatus* status);
  [[nodiscard]] const std::deque<PooledBasis>& bases() const { return bases_; }
  [[nodiscard]] const Buffer<double>& transposed() const { return transposed_; }
  /// The likely ones first, `count` at most.
  [[nodiscard]] std::vector<int> likely(int count) const;
  void hit(int basis) { ++bases_[static_cast<std::size_t>(basis)].hits; }

 private:
  [[nodiscard]] std::optional<PooledBasis> make(const BasisStatus* status) const;

  int rows_, columns_, most_;
  std::vector<double> matrix_, cost_;
  Buffer<double> transposed_;  ///< [columns, rows padded to 8]
  std::deque<PooledBasis> bases_;
};

namespace cpu {
/// batch: matrix and cost of one problem, bounds of each. start, taken: see LpSolver::solve and
/// solve_shared_qp.
void solve_pooled_lp(const LpPoolState& pool, const LpBatch& batch, const LpSettings& settings,
                     std::int32_t* start, std::uint8_t* taken, LpResult& result,
                     WorkspaceState* workspace);
}  // namespace cpu

}  // namespace carom
