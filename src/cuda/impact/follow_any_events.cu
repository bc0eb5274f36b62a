#include "cuda/impact/sample_store.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "impact/kernels/any_events.hpp"

/// Solutions of impacts from event to event that have no table of modes: one thread a trajectory.
namespace carom::cuda {

namespace {

struct Device;  // whose code the bodies' instances are

constexpr int kAnyEventThreads = 64;
constexpr int kFewContacts = 4;  // whose arrays are half as long

template <int Dim, int Most, StoreKind Kind>
__global__ void __launch_bounds__(kAnyEventThreads)
    follow_any_event_trajectories(const __grid_constant__ SampleLaunch launch) {
  double v[kMaxDeviceVelocities], u[Dim * Most], total[Dim * Most];
  kernels::ImpactScratch<Dim> scratch{};
  scratch.v = v;
  scratch.u = u;
  scratch.total = total;
  const kernels::SingleLane lane;
  const int count = launch.chunk.slots();
  for (int slot = Grid::global_thread(); slot < count; slot += Grid::global_threads()) {
    const SlotAddress address = address_of(launch.chunk, slot);
    kernels::ImpactProblemView view =
        view_of<Dim>(launch.problems, launch.run.velocities, launch.run.contacts, address.problem);
    const std::uint32_t index = launch.run.index_of(address.problem);
    const auto sample = static_cast<std::uint64_t>(address.sample);
    if constexpr (Kind == StoreKind::none) {
      kernels::AnyEventTrajectory<Device, Dim, Most> trajectory(launch.run, view, scratch);
      const kernels::TrajectoryEnd end = trajectory.run(index, sample, path_of(launch, slot));
      store_trajectory<Dim>(lane, launch, slot, end, scratch);
    } else {
      using Stores = kernels::ContactStores<Dim>;
      const kernels::RestitutionView restitution = restitution_of(launch, address.problem);
      kernels::StoreBooks books;
      Stores stores(launch.run, view, restitution, books);
      view.friction = stores.friction();
      kernels::AnyEventTrajectory<Device, Dim, Most, Stores> trajectory(launch.run, view, scratch,
                                                                        &stores);
      const kernels::TrajectoryEnd end = trajectory.run(index, sample, path_of(launch, slot));
      store_trajectory<Dim>(lane, launch, slot, end, scratch);
      store_books(launch, slot, end, books);
    }
  }
}

template <int Dim, int Most>
void follow(const SampleLaunch& launch, StoreKind stores, cudaStream_t stream) {
  const std::int64_t blocks = (launch.chunk.slots() + kAnyEventThreads - 1) / kAnyEventThreads;
  launch_kernel("follow_any_event_trajectories",
                stores == StoreKind::none
                    ? follow_any_event_trajectories<Dim, Most, StoreKind::none>
                    : follow_any_event_trajectories<Dim, Most, StoreKind::any>,
                {blocks, kAnyEventThreads}, stream, launch);
}

}  // namespace

void follow_any_events(int dimension, const SampleLaunch& launch, StoreKind stores,
                       cudaStream_t stream) {
  constexpr int kMost = kMaxDeviceFollowedContacts;
  if (dimension == 2) return follow<2, kMost>(launch, stores, stream);
  if (launch.run.contacts <= kFewContacts) return follow<3, kFewContacts>(launch, stores, stream);
  follow<3, kMost>(launch, stores, stream);
}

}  // namespace carom::cuda
