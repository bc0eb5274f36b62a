#include <algorithm>

#include "cuda/impact/sample_store.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "impact/kernels/events.hpp"

/// Solutions of planar impacts from event to event: all modes of a problem first, then one thread a
/// trajectory.
namespace carom::cuda {

namespace {

struct Device;  // whose code the bodies' instances are

constexpr int kEventThreads = 128;

template <int M>
CAROM_INLINE kernels::EventTable<Device, M> table_of(const SampleLaunch& launch,
                                                     const kernels::ImpactProblemView& view,
                                                     std::int64_t problem) {
  return {view, launch.events.modes + problem * kernels::event_reals(M),
          launch.events.known + problem * kernels::event_modes(M)};
}

template <int M>
__global__ void __launch_bounds__(kEventThreads)
    solve_event_modes(const __grid_constant__ SampleLaunch launch) {
  constexpr int kModes = kernels::event_modes(M);
  const int count = launch.chunk.problems * kModes;
  for (int turn = Grid::global_thread(); turn < count; turn += Grid::global_threads()) {
    const int problem = turn / kModes;
    const kernels::ImpactProblemView view =
        view_of<2>(launch.problems, launch.run.velocities, M, launch.chunk.first_problem + problem);
    table_of<M>(launch, view, problem).solve(turn - problem * kModes);
  }
}

template <int M, StoreKind Kind>
__global__ void __launch_bounds__(kEventThreads)
    follow_event_trajectories(const __grid_constant__ SampleLaunch launch) {
  double v[kMaxDeviceVelocities], u[2 * M], total[2 * M];
  kernels::ImpactScratch<2> scratch{};
  scratch.v = v;
  scratch.u = u;
  scratch.total = total;
  const kernels::SingleLane lane;
  const int count = launch.chunk.slots();
  for (int slot = Grid::global_thread(); slot < count; slot += Grid::global_threads()) {
    const SlotAddress address = address_of(launch.chunk, slot);
    const kernels::ImpactProblemView view =
        view_of<2>(launch.problems, launch.run.velocities, M, address.problem);
    const kernels::EventTable<Device, M> table =
        table_of<M>(launch, view, address.problem - launch.chunk.first_problem);
    const std::uint32_t index = launch.run.index_of(address.problem);
    const auto sample = static_cast<std::uint64_t>(address.sample);
    if constexpr (Kind == StoreKind::none) {
      kernels::EventTrajectory<Device, M> trajectory(launch.run, view, scratch, table);
      const kernels::TrajectoryEnd end = trajectory.run(index, sample, path_of(launch, slot));
      store_trajectory<2>(lane, launch, slot, end, scratch);
    } else {
      using Stores = kernels::OnePlanarStores<M>;
      const kernels::RestitutionView restitution = restitution_of(launch, address.problem);
      kernels::StoreBooks books;
      Stores stores(launch.run, view, restitution, books);
      kernels::EventTrajectory<Device, M, Stores> trajectory(launch.run, view, scratch, table,
                                                             &stores);
      const kernels::TrajectoryEnd end = trajectory.run(index, sample, path_of(launch, slot));
      store_trajectory<2>(lane, launch, slot, end, scratch);
      store_books(launch, slot, end, books);
    }
  }
}

template <int M>
void follow(const SampleLaunch& launch, StoreKind stores, cudaStream_t stream) {
  const auto blocks = [](std::int64_t threads) {
    return (threads + kEventThreads - 1) / kEventThreads;
  };
  const std::int64_t modes =
      static_cast<std::int64_t>(launch.chunk.problems) * kernels::event_modes(M);
  launch_kernel("solve_event_modes", solve_event_modes<M>, {blocks(modes), kEventThreads}, stream,
                launch);
  launch_kernel("follow_event_trajectories",
                stores == StoreKind::none ? follow_event_trajectories<M, StoreKind::none>
                                          : follow_event_trajectories<M, StoreKind::planar>,
                {blocks(launch.chunk.slots()), kEventThreads}, stream, launch);
}

}  // namespace

void follow_events(const SampleLaunch& launch, StoreKind stores, cudaStream_t stream) {
  static_assert(kernels::kMaxEventContacts == 4);
  switch (launch.run.contacts) {
    case 1:
      return follow<1>(launch, stores, stream);
    case 2:
      return follow<2>(launch, stores, stream);
    case 3:
      return follow<3>(launch, stores, stream);
    default:
      return follow<4>(launch, stores, stream);
  }
}

}  // namespace carom::cuda
