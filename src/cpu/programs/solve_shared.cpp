#include <vector>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/lp_pool.hpp"
#include "cpu/simd/programs/qp_warm.hpp"
#include "programs/lp/pool.hpp"
#include "programs/lp/task.hpp"
#include "programs/qp/shared.hpp"
#include "programs/qp/task.hpp"

/// Problems that share their matrices (carom/solver_objects.hpp).
namespace carom::cpu {

namespace {

constexpr std::int64_t kProblemsAtOnce = 64;

struct SharedQpMemory {
  Buffer<double> workspace;
};
struct PooledLpMemory {
  Buffer<double> workspace;
};

/// finish(range): sets what is not known of it.
template <class F>
void run_warm(SharedQp& shared, const kernels::QpTaskArrays& task, std::int64_t problems,
              const QpSettings& settings, WorkspaceState* workspace, F&& finish) {
  const kernels::QpShape& shape = task.shape;
  const Scratch<ThreadScratch<SharedQpMemory>> memories(workspace);
  parallel_for(problems, kProblemsAtOnce, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 SharedQpMemory& memory = memories->local();
                 make_room(memory.workspace, simd::qp_warm_workspace(shape.variables, shape.rows));
                 simd::QpWarmRange range{};
                 range.begin = begin;
                 range.end = end;
                 range.task = &task;
                 range.kept = shared.kept.data();
                 range.shared = shared.shared.empty() ? nullptr : shared.shared.data();
                 range.usable = shared.usable.data();
                 range.workspace = memory.workspace.data();
                 finish(range);
                 simd::instruction_set().warm_qps(range);
               });
}

}  // namespace

SharedQp share_qp(const QpBatch& matrices, const QpSettings& settings) {
  SharedQp shared(matrices);
  const kernels::QpShape& shape = shared.layout.shape();
  if (settings.method != QpMethod::automatic || shape.cones > 0 || matrices.cone_rows() > 0 ||
      shape.rows < 1 || shape.rows > simd::kLargestWideRows ||
      shape.variables > simd::kLargestWideVariables) {
    return shared;
  }
  shared.usable.resize(static_cast<std::size_t>(matrices.problems), 0);
  shared.kept = Buffer<double>(static_cast<std::size_t>(
      matrices.problems * kernels::values_of<simd::QpKeptLayout>(shape.variables, shape.rows)));
  if (matrices.problems == 1) {
    shared.shared = Buffer<double>(static_cast<std::size_t>(
        kernels::values_of<simd::QpSharedLayout>(shape.variables, shape.rows)));
  }
  kernels::QpTaskArrays task = qp_task(matrices, shared.layout, settings);
  arrays::bind(static_cast<QpBatchArrays<ConstPointer>&>(task), matrices);
  run_warm(shared, task, matrices.problems, settings, nullptr,
           [](simd::QpWarmRange& range) { range.keeps = true; });
  return shared;
}

void solve_shared_qp(SharedQp& shared, const QpBatch& batch, const QpSettings& settings,
                     std::uint8_t* held, std::uint8_t* taken, QpResult& result,
                     WorkspaceState* workspace) {
  kernels::QpTaskArrays task = qp_task(batch, shared.layout, settings, {}, result);
  shared.end.assign(static_cast<std::size_t>(batch.problems), 0);
  task.end = shared.end.data();
  run_warm(shared, task, batch.problems, settings, workspace, [&](simd::QpWarmRange& range) {
    range.held = held;
    range.taken = taken;
  });
}

void solve_pooled_lp(const LpPoolState& pool, const LpBatch& batch, const LpSettings& settings,
                     std::int32_t* start, std::uint8_t* taken, LpResult& result,
                     WorkspaceState* workspace) {
  constexpr int kCandidates = 16;
  kernels::LpArrays task = lp_task(batch, settings);
  arrays::bind(task, batch);
  arrays::bind(task, result);
  std::vector<simd::LpPoolBasis> bases;
  for (const PooledBasis& basis : pool.bases()) {
    bases.push_back({basis.status.data(), static_cast<int>(basis.row.size()), basis.row.data(),
                     basis.column.data(), basis.inverse.data(), basis.dual.data()});
  }
  const std::vector<int> order = pool.likely(kCandidates);
  const Scratch<ThreadScratch<PooledLpMemory>> memories(workspace);
  parallel_for(batch.problems, kProblemsAtOnce, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 PooledLpMemory& memory = memories->local();
                 make_room(memory.workspace, simd::lp_pool_workspace(batch.rows, batch.columns));
                 simd::instruction_set().pool_lps({.begin = begin,
                                                   .end = end,
                                                   .arrays = &task,
                                                   .transposed = pool.transposed().data(),
                                                   .bases = bases.data(),
                                                   .order = order.data(),
                                                   .candidates = static_cast<int>(order.size()),
                                                   .start = start,
                                                   .taken = taken,
                                                   .workspace = memory.workspace.data()});
               });
}

}  // namespace carom::cpu
