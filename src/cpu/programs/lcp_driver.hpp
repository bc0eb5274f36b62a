#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include <carom/types/lcp.hpp>

#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/programs/range.hpp"
#include "cpu/simd/programs/lcp_range.hpp"

namespace carom::cpu {

/// Working memory of one thread.
struct LcpMemory {
  Buffer<double> reals;  // aligned to cache lines, as padded rows want it
  std::vector<int> ints;
  Buffer<double> pack_reals;
  std::vector<int> pack_ints;
  std::array<int, 2> pack_counts{};
  std::vector<double> finish;  // for what is left open, taken when it is first needed

  void fit(int n) {
    make_room(reals, std::max(kernels::lemke_real_workspace(n, simd::kLargestPadding),
                              kernels::principal_workspace(n)));
    make_room(ints, kernels::lemke_int_workspace(n));
    make_room(pack_reals, simd::lcp_range_reals(n));
    make_room(pack_ints, simd::lcp_range_ints(n));
  }
};

/// General LCPs; `solve` takes an LcpRange.
template <class Solve>
LcpResult drive_lcp(const LcpBatch& batch, const LcpSettings& settings, Solve&& solve,
                    WorkspaceState* workspace = nullptr) {
  const int n = batch.order;
  auto result = allocate<LcpResult>(batch, MemorySpace::host, settings.certificates);
  const Scratch<ThreadScratch<LcpMemory>> memories(workspace);
  // What packs are worth is found out anew.
  for (LcpMemory& memory : memories->of_thread) memory.pack_counts = {};
  const int max_pivots = settings.max_pivots > 0 ? settings.max_pivots : 50 * (n + 1);
  const auto solve_range = [&](std::int64_t begin, std::int64_t end) {
    LcpMemory& memory = memories->local();
    memory.fit(n);
    auto range = range_of<simd::LcpRange>(batch, settings.tolerance, result, begin, end);
    range.max_pivots = max_pivots;
    range.limited = settings.max_pivots > 0;
    range.reals = memory.reals.data();
    range.ints = memory.ints.data();
    range.pack_reals = memory.pack_reals.data();
    range.pack_ints = memory.pack_ints.data();
    range.pack_counts = memory.pack_counts.data();
    solve(range);
    if (range.farkas != nullptr) {
      std::fill(range.farkas + begin * n, range.farkas + end * n,
                std::numeric_limits<double>::quiet_NaN());
    }
    bool open = false;
    for (std::int64_t p = begin; p < end; ++p) {
      open = open || kernels::lcp_is_open(n, range.status[p], range.residual[p], range.limited);
    }
    if (!open) return;
    make_room(memory.finish, kernels::lcp_finish_workspace(n));
    range.finish = memory.finish.data();
    solve(range);
  };
  if (settings.threads == 1) {
    solve_range(0, batch.problems);
  } else {
    parallel_for(batch.problems, 64, settings.threads, solve_range);
  }
  return result;
}

}  // namespace carom::cpu
