#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <carom/lcp.hpp>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "cpu/simd/lcp_range.hpp"

namespace carom::cpu {

/// General LCPs; `solve` takes an LcpRange.
template <class Solve>
LcpResult drive_lcp(const LcpBatch& batch, const LcpSettings& settings, Solve&& solve) {
  const int n = batch.order;
  auto result = allocate<LcpResult>(batch);
  struct Memory {
    Buffer<double> reals;  // aligned to cache lines, as padded rows want it
    std::vector<int> ints;
    Buffer<double> pack_reals;
    std::vector<int> pack_ints;
    std::array<int, 2> pack_counts{};
    std::vector<double> settle;  // for what is left open, taken when it is first needed
  };
  const auto size = [](long count) { return static_cast<std::size_t>(count); };
  const auto make_memory = [&] {
    return Memory{Buffer<double>(size(kernels::lemke_real_workspace(n, simd::kLargestPadding))),
                  std::vector<int>(size(kernels::lemke_int_workspace(n))),
                  Buffer<double>(size(simd::lcp_pack_reals(n))),
                  std::vector<int>(size(simd::lcp_pack_ints(n))),
                  {},
                  {}};
  };
  const int max_pivots = settings.max_pivots > 0 ? settings.max_pivots : 50 * (n + 1);
  const auto solve_range = [&](Memory& memory, std::int64_t begin, std::int64_t end) {
    simd::LcpRange range{};
    arrays::bind(range, batch);
    arrays::bind(range, result);
    range.begin = begin;
    range.end = end;
    range.order = n;
    range.tolerance = settings.tolerance;
    range.max_pivots = max_pivots;
    range.limited = settings.max_pivots > 0;
    range.reals = memory.reals.data();
    range.ints = memory.ints.data();
    range.pack_reals = memory.pack_reals.data();
    range.pack_ints = memory.pack_ints.data();
    range.pack_counts = memory.pack_counts.data();
    solve(range);
    bool open = false;
    for (std::int64_t p = begin; p < end; ++p) {
      open = open || kernels::lcp_is_open(n, range.status[p], range.residual[p], range.limited);
    }
    if (!open) return;
    memory.settle.resize(size(kernels::lcp_settle_workspace(n)));
    range.settle = memory.settle.data();
    solve(range);
  };
  if (settings.threads == 1) {
    Memory memory = make_memory();
    solve_range(memory, 0, batch.problems);
    return result;
  }
  tbb::enumerable_thread_specific<Memory> memories(make_memory);
  parallel_for(batch.problems, 64, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    solve_range(memories.local(), begin, end);
  });
  return result;
}

}  // namespace carom::cpu
