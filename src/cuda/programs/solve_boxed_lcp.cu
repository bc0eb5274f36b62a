#include <algorithm>
#include <limits>

#include <carom/types/boxed_lcp.hpp>

#include "core/pointers.hpp"
#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "programs/lcp/boxed_backends.hpp"
#include "programs/lcp/kernels/box_solver.hpp"

namespace carom::cuda {

namespace {

struct BoxLaunch : BoxedLcpBatchArrays<ConstPointer>, BoxedLcpResultArrays<Pointer> {
  int order;
  int most;  ///< order of the largest box without friction rows
  int problems;
  int max_pivots;
  double tolerance;
  FrictionLaw friction_law;
  double* work;  ///< box_solver_workspace for each block; null where it lies in shared memory
};

constexpr int kBoxBlocks = 12;  // for whose registers is compiled: more of them spill

/// A block is one warp and solves problems in turn, from the box as given to what is certified.
/// kShared: all that a problem needs lies in shared memory, as the compiler then knows.
template <bool kShared>
__global__ void __launch_bounds__(WarpLanes::kWidth, kBoxBlocks)
    solve_boxes(const __grid_constant__ BoxLaunch launch) {
  const WarpLanes lanes;
  const long n = launch.order;
  double* const memory = kShared ? shared_memory()
                                 : launch.work + Grid::block() * kernels::box_solver_workspace(
                                                                     launch.order, launch.most);
  kernels::BoxSolver<WarpLanes> solver(lanes, launch.order, launch.most, memory);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    const bool friction = launch.findex != nullptr;
    const certificate::BoxedLcpData given{launch.order,
                                          launch.matrix + p * n * n,
                                          launch.vector + p * n,
                                          launch.lower + p * n,
                                          launch.upper + p * n,
                                          friction ? launch.findex + p * n : nullptr,
                                          friction ? launch.friction + p * n : nullptr};
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    lanes.for_each(launch.order, [&](int i) {
      launch.solution[p * n + i] = launch.slack[p * n + i] = launch.farkas[p * n + i] = kNan;
      if (friction) launch.limit[p * n + i] = kNan;
    });
    const kernels::BoxAnswer answer = solver.run(
        given, launch.friction_law, launch.tolerance, launch.max_pivots,
        {launch.solution + p * n, launch.slack + p * n, friction ? launch.limit + p * n : nullptr});
    lanes.for_each(1, [&](int) {
      launch.status[p] = answer.found ? Status::solved : Status::numerical_error;
      launch.pivots[p] = answer.found ? answer.pivots : kernels::kBoxLeft;
      launch.residual[p] = answer.found ? answer.residual : kNan;
      if (friction) launch.limit_error[p] = answer.found ? answer.limit_error : kNan;
    });
  }
}

}  // namespace

BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, WorkspaceState* workspace) {
  const int n = batch.order;
  auto result = allocate<BoxedLcpResult>(batch, batch.matrix.space(), !batch.findex.empty());
  if (batch.problems == 0) return result;

  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  const DeviceLimits limits = device_limits();
  BoxLaunch launch{};
  launch.order = n;
  launch.most = n + 2 * (settings.friction_law == FrictionLaw::ode ? 0 : frictions);
  launch.max_pivots = settings.max_pivots;
  launch.tolerance = settings.tolerance;
  launch.friction_law = settings.friction_law;
  const long doubles = kernels::box_solver_workspace(n, launch.most);
  const std::size_t bytes = static_cast<std::size_t>(doubles) * sizeof(double);
  const bool shared = bytes <= limits.shared_per_block;
  const auto kernel = shared ? &solve_boxes<true> : &solve_boxes<false>;
  std::int64_t blocks = std::min<std::int64_t>(
      batch.problems, resident_blocks(reinterpret_cast<const void*>(kernel), WarpLanes::kWidth,
                                      shared ? bytes : 0, limits));
  Staging staging(stream, batch.problems, &scratch->staging);
  if (!shared) {
    blocks =
        std::min(blocks, std::max<std::int64_t>(1, static_cast<std::int64_t>(kWorkBytes / bytes)));
    staging.memory(launch.work, blocks * doubles);
  }
  staging.inputs(launch, batch, batch);
  staging.results(launch, result, batch);
  staging.alternate([&](std::int64_t, std::int64_t count) {
    launch.problems = static_cast<int>(count);
    launch_kernel("solve_boxes", kernel,
                  {std::min(blocks, count), WarpLanes::kWidth, shared ? bytes : 0}, stream.get(),
                  launch);
  });
  return result;
}

}  // namespace carom::cuda
