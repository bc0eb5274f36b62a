#include <algorithm>
#include <limits>

#include <carom/certificate_lcp.hpp>

#include "core/pointers.hpp"
#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"
#include "programs/lcp/kernels/lemke.hpp"
#include "programs/lcp/kernels/principal_pivots.hpp"

namespace carom::cuda {

namespace {

struct LcpLaunch : LcpBatchArrays<ConstPointer>, LcpResultArrays<Pointer> {
  int order;
  int problems;
  int max_pivots;
  double tolerance;
  double* work;  ///< a tableau for each block; null where it lies in shared memory
  int* int_work;
  bool limited;         ///< max_pivots is the caller's
  double* finish_work;  ///< lcp_finish_workspace for each block of finish_lcps
};

CAROM_HOST_DEVICE constexpr long lcp_reals(int n) {
  return std::max(kernels::lemke_real_workspace(n) + certificate::lcp_judge_workspace(n) + n,
                  kernels::principal_workspace(n));
}
CAROM_HOST_DEVICE constexpr long lcp_ints(int n) { return kernels::lemke_int_workspace(n); }

/// True where one of the values is NaN or infinite.
template <class Lanes>
CAROM_INLINE bool any_not_finite(const Lanes& lanes, const double* values, int count) {
  return lanes
             .argmin(
                 count, kernels::kInfinity,
                 [&](int i) { return kernels::is_finite(values[i]) ? kernels::kInfinity : 0.0; })
             .index >= 0;
}

/// Judged.
CAROM_INLINE kernels::LemkeOutcome solve_by_lemke(const WarpLanes& lanes, const LcpLaunch& launch,
                                                  const double* matrix, const double* vector,
                                                  double* z, double* reals, int* ints,
                                                  double& residual) {
  const int n = launch.order;
  residual = std::numeric_limits<double>::quiet_NaN();
  kernels::Lemke<WarpLanes> lemke(lanes, n, reals, ints);
  const auto entry = [&](int i, int j) { return matrix[static_cast<long>(i) * n + j]; };
  const auto q = [&](int i) { return vector[i]; };
  kernels::LemkeOutcome outcome = lemke.find(entry, q, launch.max_pivots, z);
  if (outcome.status != Status::solved) return outcome;
  // Behind the tableau: refinement still reads it.
  double* memory = reals + kernels::lemke_real_workspace(n);
  residual = certificate::clean_lcp_residual(lanes, n, matrix, vector, z, memory);
  if (outcome.pivots > 0 && kernels::wants_refinement(residual, launch.tolerance)) {
    lemke.improve(entry, q, z);
    residual = certificate::clean_lcp_residual(lanes, n, matrix, vector, z, memory);
  }
  if (!certificate::within(residual, launch.tolerance)) {
    outcome.status = kernels::is_finite(residual) ? Status::inaccurate : Status::numerical_error;
  }
  return outcome;
}

constexpr int kLcpBlocks = 16;  // for whose registers is compiled: more of them spill

/// A block is one warp and solves problems in turn.
/// kShared: the tableau lies in shared memory, as the compiler then knows.
template <bool kShared>
__global__ void __launch_bounds__(WarpLanes::kWidth, kLcpBlocks)
    solve_lcps(const __grid_constant__ LcpLaunch launch) {
  const WarpLanes lanes;
  const int n = launch.order;
  double* const reals = kShared ? shared_memory() : launch.work + Grid::block() * lcp_reals(n);
  int* const ints = kShared ? reinterpret_cast<int*>(reals + lcp_reals(n))
                            : launch.int_work + Grid::block() * lcp_ints(n);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    const double* matrix = launch.matrix + static_cast<long>(p) * n * n;
    const double* vector = launch.vector + static_cast<long>(p) * n;
    double* z = launch.solution + static_cast<long>(p) * n;
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    kernels::LemkeOutcome outcome{Status::invalid_input, 0};
    double residual = kNan;
    if (!any_not_finite(lanes, matrix, n * n) && !any_not_finite(lanes, vector, n)) {
      const kernels::PrincipalOutcome principal = kernels::solve_by_principal_pivots(
          lanes, n, matrix, vector, launch.tolerance, launch.max_pivots, z, reals);
      outcome.pivots = principal.pivots;
      residual = principal.residual;
      if (principal.pivots >= 0) {
        outcome.status = Status::solved;
      } else {
        outcome = solve_by_lemke(lanes, launch, matrix, vector, z, reals, ints, residual);
      }
    }
    if (launch.farkas != nullptr) {
      double* y = launch.farkas + static_cast<long>(p) * n;
      lanes.for_each(n, [&](int i) { y[i] = kNan; });
    }
    if (outcome.status != Status::solved && outcome.status != Status::inaccurate) {
      lanes.for_each(n, [&](int i) { z[i] = kNan; });
    }
    lanes.for_each(1, [&](int) {
      launch.status[p] = outcome.status;
      launch.pivots[p] = outcome.pivots;
      launch.residual[p] = residual;
    });
  }
}

/// The same for what solve_lcps leaves open.
__global__ void __launch_bounds__(WarpLanes::kWidth, kLcpBlocks)
    finish_lcps(const __grid_constant__ LcpLaunch launch) {
  const WarpLanes lanes;
  const long n = launch.order;
  double* memory = launch.finish_work + Grid::block() * kernels::lcp_finish_workspace(launch.order);
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    const kernels::LcpAnswer before{launch.status[p], launch.pivots[p], launch.residual[p]};
    if (!kernels::lcp_is_open(launch.order, before.status, before.residual, launch.limited))
      continue;
    kernels::LcpFinish<WarpLanes> finisher(lanes, launch.order, launch.matrix + p * n * n,
                                           launch.vector + p * n, launch.tolerance, memory);
    const kernels::LcpAnswer answer =
        finisher.run(before, launch.solution + p * n,
                     launch.farkas != nullptr ? launch.farkas + p * n : nullptr);
    lanes.for_each(1, [&](int) {
      launch.status[p] = answer.status;
      launch.pivots[p] = answer.pivots;
      launch.residual[p] = answer.residual;
    });
  }
}

}  // namespace

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, WorkspaceState* workspace) {
  const int n = batch.order;
  auto result = allocate<LcpResult>(batch, batch.matrix.space(), settings.certificates);
  if (batch.problems == 0) return result;

  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  const DeviceLimits limits = device_limits();
  const std::size_t tableau = static_cast<std::size_t>(lcp_reals(n)) * sizeof(double) +
                              static_cast<std::size_t>(lcp_ints(n)) * sizeof(int);
  const bool shared = tableau <= limits.shared_per_block;
  const auto kernel = shared ? &solve_lcps<true> : &solve_lcps<false>;
  std::int64_t blocks = std::min<std::int64_t>(
      batch.problems, resident_blocks(reinterpret_cast<const void*>(kernel), WarpLanes::kWidth,
                                      shared ? tableau : 0, limits));
  Staging staging(stream, batch.problems, &scratch->staging);
  LcpLaunch launch{};
  launch.order = n;
  launch.max_pivots = settings.max_pivots > 0 ? settings.max_pivots : 50 * (n + 1);
  launch.tolerance = settings.tolerance;
  if (!shared) {
    blocks = std::min(blocks,
                      std::max<std::int64_t>(1, static_cast<std::int64_t>(kWorkBytes / tableau)));
    staging.memory(launch.work, blocks * lcp_reals(n));
    staging.memory(launch.int_work, blocks * lcp_ints(n));
  }
  launch.limited = settings.max_pivots > 0;
  const long finish_size = kernels::lcp_finish_workspace(n);
  const std::int64_t finishing = finish_blocks(reinterpret_cast<const void*>(&finish_lcps),
                                               finish_size, batch.problems, limits);
  staging.memory(launch.finish_work, finishing * finish_size);
  staging.inputs(launch, batch, batch);
  staging.results(launch, result, batch);
  staging.alternate([&](std::int64_t, std::int64_t count) {
    launch.problems = static_cast<int>(count);
    launch_kernel("solve_lcps", kernel,
                  {std::min(blocks, count), WarpLanes::kWidth, shared ? tableau : 0}, stream.get(),
                  launch);
    launch_kernel("finish_lcps", finish_lcps, {std::min(finishing, count), WarpLanes::kWidth, 0},
                  stream.get(), launch);
  });
  return result;
}

}  // namespace carom::cuda
