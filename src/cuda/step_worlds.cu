#include <algorithm>

#include "compliant_backends.hpp"
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

/// Sizes of the scenarios whose worlds are all alike; their scratch is a thread's local memory,
/// which the hardware interleaves. Zero rows: scratch in global memory.
template <class Scenario>
struct FixedSizes {
  static constexpr kernels::WorldSizes kSizes{0, 0, 0};
};
template <>
struct FixedSizes<kernels::SpringMassDamper> {
  static constexpr kernels::WorldSizes kSizes{1, 1, 1};
};
template <>
struct FixedSizes<kernels::PendulumJoint> {
  static constexpr kernels::WorldSizes kSizes{3, 3, 2};
};
template <>
struct FixedSizes<kernels::PendulumLimit> {
  static constexpr kernels::WorldSizes kSizes{1, 1, 1};
};
template <>
struct FixedSizes<kernels::InclinedBlock> {
  static constexpr kernels::WorldSizes kSizes{7, 6, 12};
};
template <>
struct FixedSizes<kernels::CompliantBlockImpact> {
  static constexpr kernels::WorldSizes kSizes{3, 3, 4};
};

constexpr int kThreads = 64;
/// Threads with scratch in global memory.
constexpr std::int64_t kMostThreads = 1 << 15;
constexpr std::size_t kMostScratch = std::size_t{4} << 30;

template <class Scenario>
__device__ void run_world(const WorldsLaunch& launch, std::int64_t w, double* reals, int* ints,
                          RowType* types) {
  if (launch.record[w].broken) return;
  kernels::World<Scenario, DeviceTarget> world(launch.sizes, reals, ints, types);
  kernels::WorldRecord record = launch.record[w];
  world.run(launch.parameters + w * launch.parameter_stride, launch.settings, launch.first,
            launch.count, launch.position + w * launch.sizes.positions,
            launch.velocity + w * launch.sizes.velocities, launch.impulse + w * launch.sizes.rows,
            record);
  launch.record[w] = record;
}

/// A thread is a world.
template <class Scenario>
__global__ void __launch_bounds__(kThreads)
    step_alike_worlds(const __grid_constant__ WorldsLaunch launch) {
  constexpr kernels::WorldSizes kSizes = FixedSizes<Scenario>::kSizes;
  double reals[kernels::world_reals<Scenario>(kSizes)];
  int ints[kernels::world_ints(kSizes)];
  RowType types[kernels::world_types(kSizes)];
  const std::int64_t w = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (w < launch.worlds) run_world<Scenario>(launch, w, reals, ints, types);
}

/// A thread takes worlds in turn, with scratch in global memory.
template <class Scenario>
__global__ void __launch_bounds__(kThreads)
    step_sized_worlds(const __grid_constant__ WorldsLaunch launch) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  double* reals = launch.reals + thread * kernels::world_reals<Scenario>(launch.sizes);
  int* ints = launch.ints + thread * kernels::world_ints(launch.sizes);
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
    if constexpr (FixedSizes<Scenario>::kSizes.rows > 0) {
      const auto blocks = static_cast<unsigned>((launch.worlds + kThreads - 1) / kThreads);
      step_alike_worlds<Scenario><<<blocks, kThreads, 0, stream_.get()>>>(launch);
    } else {
      const auto reals = static_cast<std::int64_t>(kernels::world_reals<Scenario>(launch.sizes));
      std::int64_t threads = std::min(launch.worlds, kMostThreads);
      threads = std::min(
          threads, std::max<std::int64_t>(
                       kThreads, static_cast<std::int64_t>(kMostScratch / sizeof(double)) / reals));
      const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
      threads = blocks * kThreads;
      launch.reals = reals_.reserve(static_cast<std::size_t>(threads * reals));
      launch.ints =
          ints_.reserve(static_cast<std::size_t>(threads * kernels::world_ints(launch.sizes)));
      launch.types =
          types_.reserve(static_cast<std::size_t>(threads * kernels::world_types(launch.sizes)));
      step_sized_worlds<Scenario>
          <<<static_cast<unsigned>(blocks), kThreads, 0, stream_.get()>>>(launch);
    }
    check_launch("step_worlds");
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
