#include "cuda/impact/sample_store.cuh"
#include "cuda/impact/thread_workers.cuh"
#include "cuda/lanes.cuh"
#include "impact/kernels/release_steps.hpp"

/// Steps (75) of contacts with restitution.
namespace carom::cuda {

namespace {

template <int Dim>
__global__ void __launch_bounds__(kWorkerThreads)
    follow_release_trajectories(const __grid_constant__ SampleLaunch launch, FallbackMemory memory,
                                WorkerSize<Dim> size, long outcomes) {
  const kernels::SingleLane lane;
  const kernels::ImpactScratch<Dim> scratch = thread_scratch<Dim>(launch, memory, size, outcomes);
  const int count = launch.chunk.slots();
  for (int slot = Grid::global_thread(); slot < count; slot += Grid::global_threads()) {
    const SlotAddress address = address_of(launch.chunk, slot);
    const kernels::ImpactProblemView view =
        view_of<Dim>(launch.problems, launch.run.velocities, launch.run.contacts, address.problem);
    const kernels::RestitutionView restitution = restitution_of(launch, address.problem);
    kernels::StoreBooks books;
    kernels::ReleaseTrajectory<Dim, kernels::SingleLane> trajectory(lane, launch.run, view, scratch,
                                                                    restitution, books);
    const kernels::TrajectoryEnd end =
        trajectory.run(launch.run.index_of(address.problem),
                       static_cast<std::uint64_t>(address.sample), path_of(launch, slot));
    store_trajectory<Dim>(lane, launch, slot, end, scratch);
    store_books(launch, slot, end, books);
  }
}

template <int Dim>
void follow(const SampleLaunch& launch, const SamplePolicy& policy, DeviceArray<double>& reals,
            DeviceArray<int>& ints, cudaStream_t stream) {
  const long outcomes = launch.run.selection == Selection::random
                            ? kernels::enumeration_workspace(Dim * launch.run.contacts)
                            : 0;
  launch_threads<Dim>("follow_release_trajectories", follow_release_trajectories<Dim>, outcomes,
                      launch, policy, reals, ints, stream);
}

}  // namespace

void follow_releases(int dimension, const SampleLaunch& launch, const SamplePolicy& policy,
                     DeviceArray<double>& reals, DeviceArray<int>& ints, cudaStream_t stream) {
  dimension == 2 ? follow<2>(launch, policy, reals, ints, stream)
                 : follow<3>(launch, policy, reals, ints, stream);
}

}  // namespace carom::cuda
