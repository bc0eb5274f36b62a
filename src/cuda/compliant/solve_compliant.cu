#include <algorithm>

#include <carom/device/memory.hpp>

#include "compliant/backends.hpp"
#include "cuda/compliant/compliant_launch.cuh"
#include "cuda/compliant/contact_group.cuh"
#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"

namespace carom::cuda {

namespace {

struct DeviceTarget {};

constexpr int kThreads = 64;
constexpr int kBlocks = 4;  // resident ones: 255 registers, half the spills that 128 would have
constexpr std::size_t kMostScratch = std::size_t{4} << 30;

/// A block is one warp, whose groups of lanes take problems in turn, all of them a step of Newton's
/// method at a time.
struct ContactGroups {
  /// Lanes that go on while the others wait for new problems: fewer would idle along, more would
  /// have what is before and behind Newton's method run for few.
  static constexpr int kRunning = 8;
  static constexpr int kProblems = WarpLanes::kWidth / ContactGroup::kContacts;
  static constexpr int kBlocks = 8;   // resident ones: no spills, of ten 900 bytes
  static constexpr long kBanks = 16;  // of doubles
  /// Between two problems: lanes that all read one number of theirs meet in no bank.
  static constexpr long kStride =
      (kernels::values_of<ContactGroup::Layout>() - ContactGroup::kContacts + kBanks - 1) / kBanks *
          kBanks +
      ContactGroup::kContacts;
  static constexpr std::size_t kBytes =
      static_cast<std::size_t>(kProblems * kStride) * sizeof(double);
};
__global__ void __launch_bounds__(WarpLanes::kWidth, ContactGroups::kBlocks)
    step_contacts(const __grid_constant__ CompliantLaunch launch) {
  const ContactGroup::Lanes lanes;
  ContactGroup group(lanes, launch.arrays, launch.options,
                     shared_memory() + ContactGroups::kStride * lanes.group(), launch.open,
                     launch.open_count);
  std::int64_t next =
      static_cast<std::int64_t>(Grid::block()) * ContactGroups::kProblems + lanes.group();
  bool running = false;
  do {
    if (WarpLanes::count(running) <= ContactGroups::kRunning) {
      group.finish(!running && group.holds());
      const bool takes = !running && next < launch.problems;
      const bool begun = group.begin(takes, static_cast<int>(next));
      running = running || begun;
      if (takes) next += static_cast<std::int64_t>(Grid::blocks()) * ContactGroups::kProblems;
    }
    running = group.advance(running);
  } while (WarpLanes::any(running || group.holds() || next < launch.problems));
}

/// Scratch of a thread, but for what is interleaved.
struct ThreadScratch {
  long reals, ints, types;
};
__host__ __device__ ThreadScratch thread_scratch(int rows, int velocities) {
  return {kernels::array_task_reals(rows) + kernels::array_solver_reals(rows, velocities),
          kernels::array_task_ints(rows) + kernels::array_solver_ints(rows),
          kernels::array_task_types(rows) + kernels::array_solver_types(rows)};
}

/// A thread takes problems in turn, those that are open where groups came first.
__global__ void __launch_bounds__(kThreads, kBlocks)
    solve_steps(const __grid_constant__ CompliantLaunch launch) {
  const std::int64_t thread = Grid::global_thread();
  const std::int64_t threads = Grid::global_threads();
  const int rows = launch.arrays.rows;
  const int nv = launch.arrays.velocities;
  const ThreadScratch scratch = thread_scratch(rows, nv);
  double* reals = launch.reals + thread * scratch.reals;
  int* ints = launch.ints + thread * scratch.ints;
  RowType* types = launch.types + thread * scratch.types;
  kernels::ArrayTask<DeviceTarget> problem(launch.arrays, reals, ints, types);
  kernels::ArraySolver<DeviceTarget> solver(rows, nv, reals + kernels::array_task_reals(rows),
                                            ints + kernels::array_task_ints(rows),
                                            types + kernels::array_task_types(rows));
  const kernels::InterleavedMemory<double> pack{launch.packs + thread, threads};
  const std::int64_t count = launch.open != nullptr ? *launch.open_count : launch.problems;
  for (std::int64_t turn = thread; turn < count; turn += threads) {
    const std::int64_t p = launch.open != nullptr ? launch.open[turn] : turn;
    kernels::StepVerdict verdict{};
    if (!problem.begin(p, launch.options.centripetal) ||
        !kernels::solve_problem(problem, p, solver, launch.options, pack, verdict)) {
      problem.refuse(p, Status::invalid_input);
      continue;
    }
    problem.end(p, verdict, launch.options.tolerance);
  }
}

}  // namespace

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                WorkspaceState* workspace) {
  auto result = allocate<CompliantResult>(batch, batch.mass_matrix.space());
  if (batch.problems == 0) return result;
  const ThreadScratch room = thread_scratch(batch.rows, batch.velocities);
  const long packs = kernels::alone_reals(batch.rows, batch.velocities, false);
  const std::int64_t affordable =
      static_cast<std::int64_t>(kMostScratch / sizeof(double)) / (room.reals + packs) / kThreads;
  const std::int64_t resident =
      resident_blocks(reinterpret_cast<const void*>(&solve_steps), kThreads, 0, device_limits());
  const std::int64_t blocks = std::min({(batch.problems + kThreads - 1) / kThreads, resident,
                                        std::max<std::int64_t>(affordable, 1)});
  const std::int64_t threads = blocks * kThreads;
  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  Staging staging(stream, batch.problems, &scratch->staging);
  CompliantLaunch launch{};
  launch.arrays = compliant_arrays(batch, result);
  launch.options = compliant_options(batch, settings);
  staging.memory(launch.reals, threads * room.reals);
  staging.memory(launch.packs, threads * packs);
  staging.memory(launch.ints, threads * room.ints);
  staging.memory(launch.types, threads * room.types);
  const bool groups =
      batch.dimension == 3 && batch.velocities == 6 && batch.rows == 3 * ContactGroup::kContacts;
  std::int64_t group_blocks = 0;
  if (groups) {
    group_blocks = resident_blocks(reinterpret_cast<const void*>(&step_contacts), WarpLanes::kWidth,
                                   ContactGroups::kBytes, device_limits());
    staging.scratch(launch.open, 1);
    staging.memory(launch.open_count, 1);
  }
  staging.inputs(launch.arrays, batch, batch);
  staging.results(launch.arrays.result, result, batch);
  staging.alternate([&](std::int64_t, std::int64_t count) {
    launch.problems = count;
    if (groups) {
      check(cudaMemsetAsync(launch.open_count, 0, sizeof(int), stream.get()), "cudaMemsetAsync");
      const std::int64_t wanted = (count + ContactGroups::kProblems - 1) / ContactGroups::kProblems;
      launch_kernel("step_contacts", step_contacts,
                    {std::min(group_blocks, wanted), WarpLanes::kWidth, ContactGroups::kBytes},
                    stream.get(), launch);
    }
    launch_kernel("solve_steps", solve_steps, {blocks, kThreads}, stream.get(), launch);
  });
  return result;
}

}  // namespace carom::cuda
