#include <algorithm>

#include "cuda/impact/sample_store.cuh"
#include "cuda/impact/thread_workers.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"

/// One warp a trajectory, and the passes that have a fallback.
namespace carom::cuda {

namespace {

struct PathAndFallback : kernels::AllSteps {
  static constexpr bool kEnumeration = false;
  static constexpr bool kTable = true;
  static constexpr bool kPath = true;
  static constexpr bool kCalls = true;
  static constexpr bool kFallback = true;
};

struct EnumerationAndFallback : kernels::AllSteps {
  static constexpr bool kEnumeration = true;
  static constexpr bool kTable = false;
  static constexpr bool kPath = false;
  static constexpr bool kCalls = true;  // of the fallback's other paths
  static constexpr bool kFallback = true;
};

/// A block is one warp; its dynamic shared memory holds the trajectory's scratch. Without
/// `fallback` unfinished slots are listed.
template <int Dim>
__global__ void __launch_bounds__(WarpLanes::kWidth, 12)
    sample_warps(const __grid_constant__ SampleLaunch launch, FallbackMemory fallback,
                 long fallback_reals, long fallback_ints) {
  const WarpLanes lanes;
  const SlotList& work = launch.work;
  const int nv = launch.run.velocities;
  const int m = launch.run.contacts;
  double* reals = shared_memory();
  int* ints = reinterpret_cast<int*>(reals + kernels::ImpactScratch<Dim>::real_count(nv, m));
  kernels::ImpactScratch<Dim> scratch = kernels::ImpactScratch<Dim>::carve(nv, m, reals, ints);
  if (fallback.reals != nullptr) {
    scratch.fallback_reals = fallback.reals + Grid::block() * fallback_reals;
    scratch.fallback_ints = fallback.ints + Grid::block() * fallback_ints;
  }
  const int count = work.slots != nullptr ? *work.count : launch.chunk.slots();
  for (int turn = Grid::block(); turn < count; turn += Grid::blocks()) {
    const int slot = work.slots != nullptr ? work.slots[turn] : turn;
    const SlotAddress address = address_of(launch.chunk, slot);
    const kernels::ImpactProblemView view = view_of<Dim>(launch.problems, nv, m, address.problem);
    kernels::ImpactTrajectory<Dim, WarpLanes, PathAndFallback> trajectory(lanes, launch.run, view,
                                                                          scratch);
    const kernels::TrajectoryEnd end =
        trajectory.run(launch.run.index_of(address.problem),
                       static_cast<std::uint64_t>(address.sample), path_of(launch, slot));
    if (end.unfinished) {
      lanes.for_each(1, [&](int) { leave_unfinished(launch.unfinished, slot); });
    } else {
      store_trajectory<Dim>(lanes, launch, slot, end, scratch);
    }
  }
}

/// One thread a trajectory, each thread with its own piece of global memory.
template <int Dim>
__global__ void __launch_bounds__(kWorkerThreads)
    enumerate_samples(const __grid_constant__ SampleLaunch launch, FallbackMemory memory,
                      WorkerSize<Dim> size, long outcomes) {
  const kernels::SingleLane lane;
  const int nv = launch.run.velocities;
  const int m = launch.run.contacts;
  const kernels::ImpactScratch<Dim> scratch = thread_scratch<Dim>(launch, memory, size, outcomes);
  for (int slot = Grid::global_thread(); slot < launch.chunk.slots();
       slot += Grid::global_threads()) {
    const SlotAddress address = address_of(launch.chunk, slot);
    const kernels::ImpactProblemView view = view_of<Dim>(launch.problems, nv, m, address.problem);
    kernels::ImpactTrajectory<Dim, kernels::SingleLane, EnumerationAndFallback> trajectory(
        lane, launch.run, view, scratch);
    const kernels::TrajectoryEnd end =
        trajectory.run(launch.run.index_of(address.problem),
                       static_cast<std::uint64_t>(address.sample), path_of(launch, slot));
    store_trajectory<Dim>(lane, launch, slot, end, scratch);
  }
}

template <int Dim>
void sample(const SampleLaunch& launch, cudaStream_t stream) {
  const WorkerSize<Dim> size = WorkerSize<Dim>::of(launch.run);
  resident_blocks(reinterpret_cast<const void*>(&sample_warps<Dim>), WarpLanes::kWidth,
                  size.bytes(), device_limits());
  launch_kernel("sample_warps", sample_warps<Dim>,
                {launch.chunk.slots(), WarpLanes::kWidth, size.bytes()}, stream, launch,
                FallbackMemory{}, 0L, 0L);
}

template <int Dim>
void finish(const SampleLaunch& launch, const SamplePolicy& policy, DeviceArray<double>& reals,
            DeviceArray<int>& ints, cudaStream_t stream) {
  const WorkerSize<Dim> size = WorkerSize<Dim>::of(launch.run);
  const int resident = resident_blocks(reinterpret_cast<const void*>(&sample_warps<Dim>),
                                       WarpLanes::kWidth, size.bytes(), device_limits());
  const int blocks =
      workers(resident, launch.chunk.slots(), std::max<std::size_t>(1, size.fallback_bytes()),
              policy.fallback_bytes);
  FallbackMemory memory{};
  memory.reals =
      reals.reserve(static_cast<std::size_t>(blocks * std::max(1L, size.fallback_reals)));
  memory.ints = ints.reserve(static_cast<std::size_t>(blocks * size.fallback_ints));
  launch_kernel("sample_warps with fallback", sample_warps<Dim>,
                {blocks, WarpLanes::kWidth, size.bytes()}, stream, launch, memory,
                size.fallback_reals, size.fallback_ints);
}

template <int Dim>
void enumerate(const SampleLaunch& launch, const SamplePolicy& policy, DeviceArray<double>& reals,
               DeviceArray<int>& ints, cudaStream_t stream) {
  launch_threads<Dim>("enumerate_samples", enumerate_samples<Dim>,
                      kernels::enumeration_workspace(Dim * launch.run.contacts), launch, policy,
                      reals, ints, stream);
}

}  // namespace

void sample_by_warps(int dimension, const SampleLaunch& launch, cudaStream_t stream) {
  dimension == 2 ? sample<2>(launch, stream) : sample<3>(launch, stream);
}

void finish_by_warps(int dimension, const SampleLaunch& launch, const SamplePolicy& policy,
                     DeviceArray<double>& reals, DeviceArray<int>& ints, cudaStream_t stream) {
  dimension == 2 ? finish<2>(launch, policy, reals, ints, stream)
                 : finish<3>(launch, policy, reals, ints, stream);
}

void sample_by_enumeration(int dimension, const SampleLaunch& launch, const SamplePolicy& policy,
                           DeviceArray<double>& reals, DeviceArray<int>& ints,
                           cudaStream_t stream) {
  dimension == 2 ? enumerate<2>(launch, policy, reals, ints, stream)
                 : enumerate<3>(launch, policy, reals, ints, stream);
}

}  // namespace carom::cuda
