#pragma once

#include "cuda/impact/sample_store.cuh"
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
struct PathOnly {
  static constexpr bool kEnumeration = false;
  static constexpr bool kPath = true;
  static constexpr bool kFallback = false;
};

/// Doubles of one problem's data without its mode table.
CAROM_HOST_DEVICE constexpr int problem_reals(int dimension, int nv, int m) {
  const int rows = dimension * m;
  return nv * nv + 2 * rows * nv + rows * rows + 2 * m + nv + rows;
}

/// Copies a problem's arrays to the block's shared memory; its table where that has room.
template <int Dim>
__device__ __forceinline__ kernels::ImpactProblemView share(const kernels::ImpactProblemView& from,
                                                            int nv, int m, bool with_table) {
  const BlockLanes block;
  const int rows = Dim * m;
  double* next = shared_memory();
  kernels::ImpactProblemView view = from;
  const auto take = [&](const double* source, int count) {
    double* begin = next;
    next += count;
    block.for_each(count, [&](int i) { begin[i] = source[i]; });
    return begin;
  };
  view.mass = take(from.mass, nv * nv);
  view.jacobian = take(from.jacobian, rows * nv);
  view.response = take(from.response, nv * rows);
  view.delassus = take(from.delassus, rows * rows);
  view.scale = take(from.scale, m);
  view.friction = take(from.friction, m);
  view.velocity = take(from.velocity, nv);
  view.contact_velocity = take(from.contact_velocity, rows);
  if (with_table && from.table.count > 0) {
    const int count = from.table.count;
    const int others = from.table.first[count];
    view.table.numbers =
        take(from.table.numbers,
             static_cast<int>(kernels::ModeTableView::size(rows, rows + m, count, others)));
    int* first = reinterpret_cast<int*>(next);
    block.for_each(count + 1, [&](int i) { first[i] = from.table.first[i]; });
    view.table.first = first;
  }
  return view;
}

/// `blocks_per_problem` > 0: all threads of a block have samples of one problem, which lies in
/// shared memory. 0: slots are dealt out in order.
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
  int slot = Grid::global_thread();
  SlotAddress address{};
  if (blocks_per_problem > 0) {
    const int problem = Grid::block() / blocks_per_problem;
    const int sample =
        (Grid::block() - problem * blocks_per_problem) * Grid::threads_per_block() + Grid::thread();
    view = share<Dim>(view_of<Dim>(launch.problems, nv, m, launch.chunk.first_problem + problem),
                      nv, m, with_table);
    if (sample >= launch.chunk.samples) return;
    slot = problem * launch.chunk.samples + sample;
    address = address_of(launch.chunk, slot);
  } else {
    if (slot >= launch.chunk.slots()) return;
    address = address_of(launch.chunk, slot);
    view = view_of<Dim>(launch.problems, nv, m, address.problem);
  }
  double reals[kReals];
  int ints[kInts];
  const kernels::ImpactScratch<Dim> scratch =
      kernels::ImpactScratch<Dim>::carve(nv, m, reals, ints);
  const kernels::SingleLane lane;
  kernels::ImpactTrajectory<Dim, kernels::SingleLane, PathOnly> trajectory(lane, launch.run, view,
                                                                           scratch);
  const kernels::TrajectoryEnd end =
      trajectory.run(static_cast<std::uint32_t>(address.problem),
                     static_cast<std::uint64_t>(address.sample), path_of(launch, slot));
  if (end.unfinished) {
    leave_unfinished(launch.unfinished, slot);
  } else {
    store_trajectory<Dim>(lane, launch, slot, end, scratch);
  }
}

/// True where the problem fits the class, and was launched.
template <int Dim, class Policy>
bool launch_if_fits(const SampleLaunch& launch, cudaStream_t stream) {
  const int nv = launch.run.velocities;
  const int m = launch.run.contacts;
  if (m > Policy::kContacts || nv > Policy::kVelocities) return false;
  const int threads = Policy::kThreads;
  const bool shared = launch.chunk.samples >= threads;
  const int blocks_per_problem = shared ? (launch.chunk.samples + threads - 1) / threads : 0;
  const int blocks = shared ? launch.chunk.problems * blocks_per_problem
                            : (launch.chunk.slots() + threads - 1) / threads;
  const std::size_t plain = static_cast<std::size_t>(problem_reals(Dim, nv, m)) * sizeof(double);
  const std::size_t tabled =
      plain + static_cast<std::size_t>(launch.problems.table_reals) * sizeof(double) +
      static_cast<std::size_t>(launch.problems.table_ints) * sizeof(int);
  const bool with_table = launch.problems.tables != nullptr && tabled <= kSharedWithoutOptIn;
  const std::size_t bytes = !shared ? 0 : (with_table ? tabled : plain);
  launch_kernel("sample_threads", sample_threads<Dim, Policy>, {blocks, threads, bytes}, stream,
                launch, blocks_per_problem, with_table);
  return true;
}

}  // namespace carom::cuda
