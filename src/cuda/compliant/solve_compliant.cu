#include <algorithm>

#include <carom/device/memory.hpp>

#include "compliant/backends.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"

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

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings) {
  CompliantResult result = make_compliant_result(batch);
  if (batch.problems == 0) return result;
  const std::int64_t nv = batch.velocities;
  const std::int64_t m = batch.rows;
  const std::int64_t nq = batch.positions > 0 ? batch.positions : nv;
  const ThreadScratch scratch = thread_scratch(batch.rows, batch.velocities);
  const long packs = kernels::alone_reals(batch.rows, batch.velocities, false);
  const std::int64_t affordable =
      static_cast<std::int64_t>(kMostScratch / sizeof(double)) / (scratch.reals + packs);
  const std::int64_t blocks =
      (std::min({batch.problems, kMostThreads, std::max<std::int64_t>(affordable, kThreads)}) +
       kThreads - 1) /
      kThreads;
  const std::int64_t threads = blocks * kThreads;
  const Stream stream;
  Staging staging(stream, batch.problems);
  CompliantLaunch launch{};
  launch.arrays = compliant_arrays(batch, result);
  launch.options = compliant_options(batch, settings);
  staging.memory(launch.reals, threads * scratch.reals);
  staging.memory(launch.packs, threads * packs);
  staging.memory(launch.ints, threads * scratch.ints);
  staging.memory(launch.types, threads * scratch.types);
  kernels::CompliantArrays& arrays = launch.arrays;
  staging.input(arrays.step_size, batch.step_size, 1);
  staging.input(arrays.mass_matrix, batch.mass_matrix, nv * nv);
  staging.input(arrays.force, batch.force, nv);
  staging.input(arrays.velocity, batch.velocity, nv);
  staging.input(arrays.position_map, batch.position_map, nq * nv);
  staging.input(arrays.type, batch.type, m);
  staging.input(arrays.jacobian, batch.jacobian, m * nv);
  staging.input(arrays.jacobian_dot_v, batch.jacobian_dot_v, m);
  staging.input(arrays.phi, batch.phi, m);
  staging.input(arrays.stiffness, batch.stiffness, m);
  staging.input(arrays.damping, batch.damping, m);
  staging.input(arrays.friction, batch.friction, m);
  staging.result(arrays.next_velocity, result.velocity, nv);
  staging.result(arrays.increment, result.increment, nq);
  staging.result(arrays.constraint_force, result.force, m);
  staging.result(arrays.kinetic_energy, result.kinetic_energy, 1);
  staging.result(arrays.status, result.status, 1);
  staging.result(arrays.iterations, result.iterations, 1);
  staging.result(arrays.residual, result.residual, 1);
  staging.run([&](std::int64_t, std::int64_t count) {
    launch.problems = count;
    launch_kernel("solve_steps", solve_steps, {blocks, kThreads}, stream.get(), launch);
  });
  return result;
}

}  // namespace carom::cuda
