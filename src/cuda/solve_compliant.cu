#include <algorithm>

#include "compliant_backends.hpp"
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
  double tolerance;
  int max_iterations;
  bool centripetal;
  double* reals;
  int* ints;
  RowType* types;
};

/// A thread takes problems in turn.
__global__ void __launch_bounds__(kThreads)
    solve_steps(const __grid_constant__ CompliantLaunch launch) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const int rows = launch.arrays.rows;
  kernels::CompliantArrayStep<DeviceTarget> step(
      launch.arrays,
      launch.reals + thread * kernels::compliant_array_reals(rows, launch.arrays.velocities),
      launch.ints + thread * kernels::compliant_array_ints(rows),
      launch.types + thread * kernels::compliant_array_types(rows));
  for (std::int64_t p = thread; p < launch.problems; p += threads) {
    step.run(p, launch.tolerance, launch.max_iterations, launch.centripetal);
  }
}

CompliantResult solve_on_device(const CompliantBatch& batch, const CompliantSettings& settings) {
  CompliantResult result = make_compliant_result(batch);
  if (batch.problems == 0) return result;
  const auto reals =
      static_cast<std::int64_t>(kernels::compliant_array_reals(batch.rows, batch.velocities));
  std::int64_t threads = std::min(batch.problems, kMostThreads);
  threads = std::min(
      threads, std::max<std::int64_t>(
                   kThreads, static_cast<std::int64_t>(kMostScratch / sizeof(double)) / reals));
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  threads = blocks * kThreads;
  const Stream stream;
  DeviceArray<double> work;
  DeviceArray<int> int_work;
  DeviceArray<RowType> type_work;
  CompliantLaunch launch{compliant_arrays(batch, result),
                         batch.problems,
                         settings.tolerance,
                         settings.max_iterations > 0 ? settings.max_iterations : 100,
                         settings.centripetal,
                         work.reserve(static_cast<std::size_t>(threads * reals)),
                         int_work.reserve(static_cast<std::size_t>(
                             threads * kernels::compliant_array_ints(batch.rows))),
                         type_work.reserve(static_cast<std::size_t>(
                             threads * kernels::compliant_array_types(batch.rows)))};
  solve_steps<<<static_cast<unsigned>(blocks), kThreads, 0, stream.get()>>>(launch);
  check_launch("solve_steps");
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
