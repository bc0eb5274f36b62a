#pragma once

#include <algorithm>

#include "cuda/impact/shared_problem.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"

/// One thread a trajectory: tiny problems, all of whose scratch is a local array.
namespace carom::cuda {

/// A size class and its launch bounds.
template <int Contacts, int Velocities, int Threads, int Blocks>
struct ThreadPolicy {
  static constexpr int kContacts = Contacts;
  static constexpr int kVelocities = Velocities;
  static constexpr int kThreads = Threads;
  static constexpr int kBlocks = Blocks;  ///< resident on a multiprocessor, for the register limit
};

/// What the pass does; the rest is left to finish_by_warps.
struct PathOnly : kernels::AllSteps {
  static constexpr bool kEnumeration = false;
  static constexpr bool kTable = true;
  static constexpr bool kPath = true;
  static constexpr bool kFallback = false;
};

/// `blocks_per_problem` > 0: all threads of a block have samples of one problem, which lies in
/// shared memory. 0: slots, or those of `launch.work`, are dealt out in order.
template <int Dim, class Policy>
__global__ void __launch_bounds__(Policy::kThreads, Policy::kBlocks)
    sample_threads(const __grid_constant__ SampleLaunch launch, int blocks_per_problem,
                   bool with_table) {
  constexpr int kReals = static_cast<int>(
      kernels::ImpactScratch<Dim>::real_count(Policy::kVelocities, Policy::kContacts));
  constexpr int kInts = static_cast<int>(kernels::ImpactScratch<Dim>::int_count(Policy::kContacts));
  const int nv = launch.run.velocities;
  const int m = launch.run.contacts;
  kernels::ImpactProblemView view;
  int turn = Grid::global_thread();
  int count = launch.work.slots != nullptr ? *launch.work.count : launch.chunk.slots();
  if (blocks_per_problem > 0) {
    const int problem = Grid::block() / blocks_per_problem;
    const int sample =
        (Grid::block() - problem * blocks_per_problem) * Grid::threads_per_block() + Grid::thread();
    view = share<Dim>(view_of<Dim>(launch.problems, nv, m, launch.chunk.first_problem + problem),
                      nv, m, with_table, shared_memory());
    turn = problem * launch.chunk.samples + sample;
    count = sample < launch.chunk.samples ? turn + 1 : 0;
  }
  double reals[kReals];
  int ints[kInts];
  const kernels::ImpactScratch<Dim> scratch =
      kernels::ImpactScratch<Dim>::carve(nv, m, reals, ints);
  const kernels::SingleLane lane;
  for (; turn < count; turn += Grid::global_threads()) {
    const int slot = launch.work.slots != nullptr ? launch.work.slots[turn] : turn;
    const SlotAddress address = address_of(launch.chunk, slot);
    if (blocks_per_problem == 0) view = view_of<Dim>(launch.problems, nv, m, address.problem);
    kernels::ImpactTrajectory<Dim, kernels::SingleLane, PathOnly> trajectory(lane, launch.run, view,
                                                                             scratch);
    const kernels::TrajectoryEnd end =
        trajectory.run(launch.run.index_of(address.problem),
                       static_cast<std::uint64_t>(address.sample), path_of(launch, slot));
    if (end.unfinished) {
      leave_unfinished(launch.unfinished, slot);
    } else {
      store_trajectory<Dim>(lane, launch, slot, end, scratch);
    }
  }
}

/// True where the problem fits the class, and was launched.
template <int Dim, class Policy>
bool launch_if_fits(const SampleLaunch& launch, cudaStream_t stream) {
  const int nv = launch.run.velocities;
  const int m = launch.run.contacts;
  if (m > Policy::kContacts || nv > Policy::kVelocities) return false;
  const int threads = Policy::kThreads;
  const bool shared = launch.work.slots == nullptr && launch.chunk.samples >= threads;
  const int blocks_per_problem = shared ? (launch.chunk.samples + threads - 1) / threads : 0;
  int blocks = shared ? launch.chunk.problems * blocks_per_problem
                      : (launch.chunk.slots() + threads - 1) / threads;
  const std::size_t plain = static_cast<std::size_t>(problem_reals(Dim, nv, m)) * sizeof(double);
  const std::size_t tabled = plain + table_bytes(launch.problems);
  const bool with_table = launch.problems.tables != nullptr && tabled <= kSharedWithoutOptIn;
  const std::size_t bytes = !shared ? 0 : (with_table ? tabled : plain);
  if (launch.work.slots != nullptr) {  // a list is short, and its length not known here
    const auto* kernel = reinterpret_cast<const void*>(&sample_threads<Dim, Policy>);
    blocks = std::min(blocks, resident_blocks(kernel, threads, bytes, device_limits()));
  }
  launch_kernel("sample_threads", sample_threads<Dim, Policy>, {blocks, threads, bytes}, stream,
                launch, blocks_per_problem, with_table);
  return true;
}

}  // namespace carom::cuda
