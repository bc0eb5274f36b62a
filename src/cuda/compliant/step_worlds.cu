#include <algorithm>

#include <carom/device/memory.hpp>

#include "compliant/backends.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "models/scenario_kinds.hpp"

namespace carom::cuda {

namespace {

struct DeviceTarget {};

struct WorldsLaunch {
  std::int64_t worlds;
  kernels::WorldSizes sizes;
  kernels::WorldSettings settings;
  std::int64_t first;
  std::int64_t count;
  const double* parameters;
  std::int64_t parameter_stride;
  double* position;
  double* velocity;
  double* impulse;
  kernels::WorldRecord* record;
  double* reals;  ///< scratch of each thread; unused where it lies in the thread's own memory
  int* ints;
  RowType* types;
};

constexpr int kThreads = 64;
constexpr int kBlocks = 4;  // resident ones, as in solve_compliant.cu
/// Threads with scratch in global memory.
constexpr std::int64_t kMostThreads = 1 << 15;
constexpr std::size_t kMostScratch = std::size_t{4} << 30;

template <class Scenario>
constexpr __host__ __device__ long thread_reals(const kernels::WorldSizes& s) {
  return kernels::world_reals(s) + kernels::world_solver_reals<Scenario>(s) +
         kernels::alone_reals(s.rows, s.velocities, true);
}
constexpr __host__ __device__ long thread_ints(const kernels::WorldSizes& s) {
  return kernels::world_ints(s) + kernels::world_solver_ints(s);
}

/// All steps of one world; reals: [thread_reals], ints: [thread_ints], types: [world_types].
template <class Scenario>
__device__ void run_world(const WorldsLaunch& launch, std::int64_t w, double* reals, int* ints,
                          RowType* types) {
  const kernels::WorldSizes& sizes = launch.sizes;
  kernels::WorldRecord record = launch.record[w];
  if (record.broken || record.finished) return;
  kernels::World<Scenario, DeviceTarget> world(sizes, reals, ints, types);
  double* solver_reals = reals + kernels::world_reals(sizes);
  kernels::WorldSolver<Scenario, DeviceTarget> solver(sizes, solver_reals,
                                                      ints + kernels::world_ints(sizes));
  const kernels::PlainMemory<double> pack{solver_reals +
                                          kernels::world_solver_reals<Scenario>(sizes)};
  const double* parameters = launch.parameters + w * launch.parameter_stride;
  const kernels::CompliantOptions options = kernels::world_options<Scenario>(launch.settings);
  double* q = launch.position + w * sizes.positions;
  double* v = launch.velocity + w * sizes.velocities;
  double* kept = launch.impulse + w * sizes.rows;
  for (std::int64_t step = launch.first; step < launch.first + launch.count; ++step) {
    if (record.finished || record.broken) break;
    if (!world.begin(parameters, launch.settings, step, q, v, kept, record)) continue;
    const kernels::StepVerdict verdict = kernels::solve_world(solver, options, world.task(), pack);
    world.end(parameters, launch.settings, verdict, q, v, kept, record);
  }
  launch.record[w] = record;
}

/// A thread is a world, whose scratch is the thread's local memory, which the hardware interleaves.
template <class Scenario>
__global__ void __launch_bounds__(kThreads, kBlocks)
    step_alike_worlds(const __grid_constant__ WorldsLaunch launch) {
  constexpr kernels::WorldSizes kSizes = Scenario::kSizes;
  double reals[thread_reals<Scenario>(kSizes)];
  int ints[thread_ints(kSizes)];
  RowType types[kernels::world_types(kSizes)];
  const std::int64_t w = Grid::global_thread();
  if (w < launch.worlds) run_world<Scenario>(launch, w, reals, ints, types);
}

/// A thread takes worlds in turn, with scratch in global memory.
template <class Scenario>
__global__ void __launch_bounds__(kThreads, kBlocks)
    step_sized_worlds(const __grid_constant__ WorldsLaunch launch) {
  const std::int64_t thread = Grid::global_thread();
  const std::int64_t threads = Grid::global_threads();
  double* reals = launch.reals + thread * thread_reals<Scenario>(launch.sizes);
  int* ints = launch.ints + thread * thread_ints(launch.sizes);
  RowType* types = launch.types + thread * kernels::world_types(launch.sizes);
  for (std::int64_t w = thread; w < launch.worlds; w += threads) {
    run_world<Scenario>(launch, w, reals, ints, types);
  }
}

/// Keeps the worlds on the device between chunks; what a chunk leaves is copied out after it.
class Stepper : public WorldStepper {
 public:
  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    cudaStream_t stream = stream_.get();
    if (!uploaded_) {
      parameters_.upload(states.parameters.data(), states.parameters.size(), stream);
      position_.upload(states.position.data(), states.position.size(), stream);
      velocity_.upload(states.velocity.data(), states.velocity.size(), stream);
      impulse_.upload(states.impulse.data(), states.impulse.size(), stream);
      record_.upload(states.record.data(), states.record.size(), stream);
      uploaded_ = true;
    }
    WorldsLaunch launch{states.worlds,
                        states.sizes,
                        states.settings,
                        first,
                        count,
                        parameters_.data(),
                        states.parameter_stride,
                        position_.data(),
                        velocity_.data(),
                        impulse_.data(),
                        record_.data(),
                        nullptr,
                        nullptr,
                        nullptr};
    models::detail::visit_scenario(states.scenario->kind,
                                   [&](auto body) { start<decltype(body)>(launch); });
    download(states.position.data(), position_.data(), states.position.size(), stream);
    download(states.velocity.data(), velocity_.data(), states.velocity.size(), stream);
    download(states.impulse.data(), impulse_.data(), states.impulse.size(), stream);
    download(states.record.data(), record_.data(), states.record.size(), stream);
    stream_.synchronize();
  }

 private:
  template <class Scenario>
  void start(WorldsLaunch& launch) {
    if constexpr (kernels::SizedAlike<Scenario>) {
      const std::int64_t blocks = (launch.worlds + kThreads - 1) / kThreads;
      launch_kernel("step_alike_worlds", step_alike_worlds<Scenario>, {blocks, kThreads},
                    stream_.get(), launch);
    } else {
      const auto reals = static_cast<std::int64_t>(thread_reals<Scenario>(launch.sizes));
      std::int64_t threads = std::min(launch.worlds, kMostThreads);
      threads = std::min(
          threads, std::max<std::int64_t>(
                       kThreads, static_cast<std::int64_t>(kMostScratch / sizeof(double)) / reals));
      const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
      threads = blocks * kThreads;
      launch.reals = reals_.reserve(static_cast<std::size_t>(threads * reals));
      launch.ints = ints_.reserve(static_cast<std::size_t>(threads * thread_ints(launch.sizes)));
      launch.types =
          types_.reserve(static_cast<std::size_t>(threads * kernels::world_types(launch.sizes)));
      launch_kernel("step_sized_worlds", step_sized_worlds<Scenario>, {blocks, kThreads},
                    stream_.get(), launch);
    }
  }

  Stream stream_;
  bool uploaded_ = false;
  DeviceArray<double> parameters_, position_, velocity_, impulse_, reals_;
  DeviceArray<kernels::WorldRecord> record_;
  DeviceArray<int> ints_;
  DeviceArray<RowType> types_;
};

}  // namespace

std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings&) {
  return std::make_unique<Stepper>();
}

}  // namespace carom::cuda
