#include <algorithm>

#include <carom/kernels/memory.hpp>

#include "compliant_backends.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"

namespace carom::cuda {

namespace {

struct DeviceTarget {};

constexpr int kThreads = 64;
constexpr std::int64_t kMostThreads = 1 << 16;
constexpr std::size_t kMostScratch = std::size_t{4} << 30;

struct CompliantLaunch {
  kernels::CompliantArrays arrays;
  std::int64_t problems;
  kernels::CompliantOptions options;
  double* reals;
  double* packs;  ///< of all threads, interleaved
  int* ints;
  RowType* types;
};

/// Scratch of a thread, but for what is interleaved.
struct ThreadScratch {
  long reals, ints, types;
};
__host__ __device__ ThreadScratch thread_scratch(int rows, int velocities) {
  return {kernels::array_task_reals(rows) + kernels::array_solver_reals(rows, velocities),
          kernels::array_task_ints(rows) + kernels::array_solver_ints(rows),
          kernels::array_task_types(rows) + kernels::array_solver_types(rows)};
}

/// A thread takes problems in turn.
__global__ void __launch_bounds__(kThreads)
    solve_steps(const __grid_constant__ CompliantLaunch launch) {
  const std::int64_t thread = Grid::global_thread();
  const std::int64_t threads = Grid::global_threads();
  const int rows = launch.arrays.rows;
  const int nv = launch.arrays.velocities;
  const ThreadScratch scratch = thread_scratch(rows, nv);
  double* reals = launch.reals + thread * scratch.reals;
  int* ints = launch.ints + thread * scratch.ints;
  RowType* types = launch.types + thread * scratch.types;
  kernels::ArrayTask<DeviceTarget> problem(launch.arrays, reals, ints, types);
  kernels::ArraySolver<DeviceTarget> solver(rows, nv, reals + kernels::array_task_reals(rows),
                                            ints + kernels::array_task_ints(rows),
                                            types + kernels::array_task_types(rows));
  const kernels::InterleavedMemory<double> pack{launch.packs + thread, threads};
  for (std::int64_t p = thread; p < launch.problems; p += threads) {
    kernels::StepVerdict verdict{};
    if (!problem.begin(p, launch.options.centripetal) ||
        !kernels::solve_problem(problem, p, solver, launch.options, pack, verdict)) {
      problem.refuse(p, Status::invalid_input);
      continue;
    }
    problem.end(p, verdict, launch.options.tolerance);
  }
}

CompliantResult solve_on_device(const CompliantBatch& batch, const CompliantSettings& settings) {
  CompliantResult result = make_compliant_result(batch);
  if (batch.problems == 0) return result;
  const ThreadScratch scratch = thread_scratch(batch.rows, batch.velocities);
  const long packs = kernels::alone_reals(batch.rows, batch.velocities, false);
  std::int64_t threads = std::min(batch.problems, kMostThreads);
  threads = std::min(
      threads,
      std::max<std::int64_t>(kThreads, static_cast<std::int64_t>(kMostScratch / sizeof(double)) /
                                           (scratch.reals + packs)));
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  threads = blocks * kThreads;
  const Stream stream;
  DeviceArray<double> work;
  DeviceArray<double> pack_work;
  DeviceArray<int> int_work;
  DeviceArray<RowType> type_work;
  const CompliantLaunch launch{
      compliant_arrays(batch, result),
      batch.problems,
      compliant_options(batch, settings),
      work.reserve(static_cast<std::size_t>(threads * scratch.reals)),
      pack_work.reserve(static_cast<std::size_t>(threads * packs)),
      int_work.reserve(static_cast<std::size_t>(threads * scratch.ints)),
      type_work.reserve(static_cast<std::size_t>(threads * scratch.types))};
  launch_kernel("solve_steps", solve_steps, {blocks, kThreads}, stream.get(), launch);
  stream.synchronize();
  return result;
}

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings) {
  if (batch.mass_matrix.space() == MemorySpace::device) return solve_on_device(batch, settings);
  const CompliantResult there = solve_on_device(batch.to(MemorySpace::device), settings);
  CompliantResult result;
  result.velocity = there.velocity.to(MemorySpace::host);
  result.increment = there.increment.to(MemorySpace::host);
  result.force = there.force.to(MemorySpace::host);
  result.kinetic_energy = there.kinetic_energy.to(MemorySpace::host);
  result.status = there.status.to(MemorySpace::host);
  result.iterations = there.iterations.to(MemorySpace::host);
  result.residual = there.residual.to(MemorySpace::host);
  return result;
}

}  // namespace carom::cuda
