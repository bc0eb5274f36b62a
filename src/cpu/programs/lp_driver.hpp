#pragma once

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "cpu/simd/lp_lane.hpp"
#include "programs/lp/backends.hpp"
#include "programs/lp/body/lp_settle_body.hpp"

namespace carom::cpu {

/// The arrays of a batch and its result, where both lie.
inline kernels::LpArrays lp_arrays(const LpBatch& batch, const LpSettings& settings,
                                   const Buffer<BasisStatus>* start, LpResult& result) {
  return {batch.rows,
          batch.columns,
          batch.objectives,
          lp_pivot_limit(batch, settings),
          settings.tolerance,
          batch.cost.data(),
          batch.matrix.data(),
          batch.row_lower.data(),
          batch.row_upper.data(),
          batch.column_lower.data(),
          batch.column_upper.data(),
          start != nullptr ? start->data() : nullptr,
          result.solution.data(),
          result.dual.data(),
          result.objective.data(),
          result.status.data(),
          result.pivots.data(),
          result.residual.data(),
          result.farkas.data(),
          result.ray.data(),
          result.point.data(),
          result.basis.data(),
          settings.max_pivots > 0};
}

/// `solve` takes an LpRange.
template <class Solve>
LpResult drive_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, Solve&& solve) {
  LpResult result = make_lp_result(batch, settings);
  const kernels::LpArrays arrays = lp_arrays(batch, settings, start, result);
  struct Memory {
    Buffer<double> reals;  // aligned to cache lines
    std::vector<int> ints;
    std::vector<double> settle;  // for what is left open, taken when it is first needed
  };
  tbb::enumerable_thread_specific<Memory> memories([&] {
    return Memory{Buffer<double>(static_cast<std::size_t>(
                      kernels::lp_real_workspace(batch.rows, batch.columns))),
                  std::vector<int>(static_cast<std::size_t>(kernels::lp_int_workspace(batch.rows))),
                  {}};
  });
  const std::int64_t grain = std::max(1, 32 / batch.objectives);
  parallel_for(batch.problems, grain, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    Memory& memory = memories.local();
    solve(simd::LpRange{begin, end, &arrays, memory.reals.data(), memory.ints.data(), nullptr});
    const auto is_open = [&](Status status) { return kernels::lp_is_open(arrays, status); };
    if (std::none_of(arrays.status + begin * batch.objectives,
                     arrays.status + end * batch.objectives, is_open)) {
      return;
    }
    memory.settle.resize(
        static_cast<std::size_t>(kernels::lp_settle_workspace(batch.rows, batch.columns)));
    solve(simd::LpRange{begin, end, &arrays, nullptr, nullptr, memory.settle.data()});
  });
  return result;
}

}  // namespace carom::cpu
