#pragma once

#include <algorithm>
#include <vector>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/simd/programs/lp_lane.hpp"
#include "programs/lp/kernels/lp_finish.hpp"
#include "programs/lp/task.hpp"

namespace carom::cpu {

/// Working memory of one thread.
struct LpMemory {
  Buffer<double> reals;  // aligned to cache lines
  std::vector<int> ints;
  Buffer<double> pack;
  simd::LpPackCounts counts;
  std::vector<double> finish;  // for what is left open, taken when it is first needed

  void fit(const LpBatch& batch, bool packs) {
    const int lanes = packs ? simd::kLargestPadding : 1;
    make_room(reals, lanes * simd::lp_lane_reals(batch.rows, batch.columns));
    make_room(ints, lanes * simd::lp_lane_ints(batch.rows, batch.columns));
    if (packs) make_room(pack, simd::lp_pack_reals(batch.rows, batch.columns));
  }
};

/// `solve` takes an LpRange.
template <class Solve>
LpResult drive_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, Solve&& solve,
                  WorkspaceState* workspace = nullptr) {
  LpResult result = allocate<LpResult>(batch, MemorySpace::host, settings.certificates);
  kernels::LpArrays task = lp_task(batch, settings);
  arrays::bind(task, batch);
  arrays::bind(task, result);
  task.start = start != nullptr ? start->data() : nullptr;
  const Scratch<ThreadScratch<LpMemory>> memories(workspace);
  // What packs are worth is found out anew.
  for (LpMemory& memory : memories->of_thread) memory.counts = {};
  const bool packs = simd::lp_packs(task, batch.problems);
  const std::int64_t grain = std::max(1, 32 / batch.objectives);
  parallel_for(batch.problems, grain, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    LpMemory& memory = memories->local();
    memory.fit(batch, packs);
    solve(simd::LpRange{begin, end, &task, memory.reals.data(), memory.ints.data(), nullptr,
                        packs ? memory.pack.data() : nullptr, &memory.counts});
    const auto is_open = [&](Status status) { return kernels::lp_is_open(task, status); };
    if (std::none_of(task.status + begin * batch.objectives, task.status + end * batch.objectives,
                     is_open)) {
      return;
    }
    make_room(memory.finish, kernels::lp_finish_workspace(batch.rows, batch.columns));
    solve(
        simd::LpRange{begin, end, &task, nullptr, nullptr, memory.finish.data(), nullptr, nullptr});
  });
  return result;
}

}  // namespace carom::cpu
