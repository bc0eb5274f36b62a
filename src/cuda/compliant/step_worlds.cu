#include <algorithm>
#include <memory>
#include <vector>

#include <carom/device/memory.hpp>

#include "compliant/backends.hpp"
#include "compliant/scenarios/kinds.hpp"
#include "cuda/compliant/step_threads.cuh"
#include "cuda/device_scratch.hpp"
#include "cuda/devices.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"

namespace carom::cuda {

namespace {

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

/// Threads with scratch in global memory.
constexpr std::int64_t kMostThreads = 1 << 15;

template <class Scenario>
constexpr __host__ __device__ long thread_reals(const kernels::WorldSizes& s) {
  return kernels::world_reals(s) + kernels::world_solver_reals<Scenario::kMany>(s) +
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
  kernels::WorldSolver<Scenario::kMany, DeviceTarget> solver(sizes, solver_reals,
                                                             ints + kernels::world_ints(sizes));
  const kernels::PlainMemory<double> pack{solver_reals +
                                          kernels::world_solver_reals<Scenario::kMany>(sizes)};
  const double* parameters = launch.parameters + w * launch.parameter_stride;
  const kernels::CompliantOptions options = kernels::world_options<Scenario>(launch.settings);
  double* q = launch.position + w * sizes.positions;
  double* v = launch.velocity + w * sizes.velocities;
  double* kept = launch.impulse + w * sizes.rows;
  for (std::int64_t step = launch.first; step < launch.first + launch.count; ++step) {
    if (record.finished || record.broken) break;
    if (!world.begin(parameters, launch.settings, step, q, v, kept, record)) continue;
    const kernels::StepVerdict verdict =
        kernels::solve_world<Scenario::kContacts>(solver, options, world.task(), pack);
    world.end(parameters, launch.settings, verdict, q, v, kept, record);
  }
  launch.record[w] = record;
}

/// A thread is a world, whose scratch is the thread's local memory, which the hardware interleaves.
template <class Scenario>
__global__ void __launch_bounds__(kStepThreads, kStepBlocks)
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
__global__ void __launch_bounds__(kStepThreads, kStepBlocks)
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

/// Worlds on the device and scratch of its threads.
struct WorldsBlock : ScratchBlock {
  explicit WorldsBlock(int device_index) : device(device_index) {}

  int device;
  Stream stream;
  DeviceArray<double> parameters, position, velocity, impulse, reals;
  DeviceArray<kernels::WorldRecord> record;
  DeviceArray<int> ints;
  DeviceArray<RowType> types;
};

/// Keeps worlds [begin, end) on the current device between chunks; what a chunk leaves is copied
/// out after it.
class DeviceWorlds {
 public:
  DeviceWorlds(std::int64_t begin, std::int64_t end, WorkspaceState* workspace)
      : begin_(begin), worlds_(end - begin), on_(workspace) {}

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) {
    cudaStream_t stream = on_->stream.get();
    if (!uploaded_) {
      each_state(states, [&](auto& to, auto& from, std::int64_t offset, std::size_t size) {
        to.upload(from.data() + offset, size, stream);
      });
      const std::int64_t stride = states.parameter_stride;
      on_->parameters.upload(
          states.parameters.data() + begin_ * stride,
          stride > 0 ? static_cast<std::size_t>(worlds_ * stride) : states.parameters.size(),
          stream);
      uploaded_ = true;
    }
    WorldsLaunch launch{worlds_,
                        states.sizes,
                        states.settings,
                        first,
                        count,
                        on_->parameters.data(),
                        states.parameter_stride,
                        on_->position.data(),
                        on_->velocity.data(),
                        on_->impulse.data(),
                        on_->record.data(),
                        nullptr,
                        nullptr,
                        nullptr};
    models::detail::visit_scenario(states.scenario->kind,
                                   [&](auto body) { start<decltype(body)>(launch); });
    each_state(states, [&](auto& from, auto& to, std::int64_t offset, std::size_t size) {
      download(to.data() + offset, from.data(), size, stream);
    });
    on_->stream.synchronize();
  }

 private:
  /// visit(device array, host array, offset of these worlds there, their size) of what steps
  /// change.
  template <class Visit>
  void each_state(WorldStates& states, Visit&& visit) {
    const auto part = [&](auto& device, auto& host, std::int64_t width) {
      visit(device, host, begin_ * width, static_cast<std::size_t>(worlds_ * width));
    };
    part(on_->position, states.position, states.sizes.positions);
    part(on_->velocity, states.velocity, states.sizes.velocities);
    part(on_->impulse, states.impulse, states.sizes.rows);
    part(on_->record, states.record, 1);
  }

  template <class Scenario>
  void start(WorldsLaunch& launch) {
    if constexpr (kernels::SizedAlike<Scenario>) {
      const std::int64_t blocks = (launch.worlds + kStepThreads - 1) / kStepThreads;
      launch_kernel("step_alike_worlds", step_alike_worlds<Scenario>, {blocks, kStepThreads},
                    on_->stream.get(), launch);
    } else {
      const auto reals = static_cast<std::int64_t>(thread_reals<Scenario>(launch.sizes));
      std::int64_t threads = std::min(launch.worlds, kMostThreads);
      threads = std::min(
          threads,
          std::max<std::int64_t>(kStepThreads,
                                 static_cast<std::int64_t>(kMostScratch / sizeof(double)) / reals));
      const std::int64_t blocks = (threads + kStepThreads - 1) / kStepThreads;
      threads = blocks * kStepThreads;
      launch.reals = on_->reals.reserve(static_cast<std::size_t>(threads * reals));
      launch.ints =
          on_->ints.reserve(static_cast<std::size_t>(threads * thread_ints(launch.sizes)));
      launch.types = on_->types.reserve(
          static_cast<std::size_t>(threads * kernels::world_types(launch.sizes)));
      launch_kernel("step_sized_worlds", step_sized_worlds<Scenario>, {blocks, kStepThreads},
                    on_->stream.get(), launch);
    }
  }

  std::int64_t begin_;
  std::int64_t worlds_;
  DeviceScratch<WorldsBlock> on_;
  bool uploaded_ = false;
};

/// Worlds of one call, divided among the chosen devices.
class Stepper : public WorldStepper {
 public:
  explicit Stepper(WorkspaceState* workspace) : workspace_(workspace) {}
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;
  ~Stepper() override {
    for (std::size_t d = 0; d < shares_.size(); ++d) {
      if (shares_[d] == nullptr) continue;
      if (chosen_devices().empty()) {
        shares_[d].reset();
      } else {
        const OnDevice there(chosen_devices()[d]);
        shares_[d].reset();
      }
    }
  }

  void advance(WorldStates& states, std::int64_t first, std::int64_t count) override {
    const std::size_t devices = chosen_devices().size();
    if (devices < 2 || states.worlds < 2) {
      shares_.resize(1);
      return on_first([&] {
        advance_share({0, states.worlds, 0}, workspace_, states, first, count);
      });
    }
    shares_.resize(devices);
    on_each_device(states.worlds, workspace_, [&](const Share& share, WorkspaceState* own) {
      advance_share(share, own, states, first, count);
    });
  }

 private:
  void advance_share(const Share& share, WorkspaceState* workspace, WorldStates& states,
                     std::int64_t first, std::int64_t count) {
    std::unique_ptr<DeviceWorlds>& worlds = shares_[share.place];
    if (worlds == nullptr) {
      worlds = std::make_unique<DeviceWorlds>(share.begin, share.end, workspace);
    }
    worlds->advance(states, first, count);
  }

  WorkspaceState* workspace_;
  std::vector<std::unique_ptr<DeviceWorlds>> shares_;
};

}  // namespace

std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings&, WorkspaceState* workspace) {
  return std::make_unique<Stepper>(workspace);
}

}  // namespace carom::cuda
