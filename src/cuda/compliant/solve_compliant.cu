#include <algorithm>

#include <carom/device/memory.hpp>

#include "compliant/backends.hpp"
#include "cuda/compliant/contact_group.cuh"
#include "cuda/compliant/step_threads.cuh"
#include "cuda/device_scratch.hpp"
#include "cuda/group_slots.cuh"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"

namespace carom::cuda {

namespace {

/// Arguments of the kernels for compliant steps.
struct CompliantLaunch {
  kernels::CompliantArrays arrays;
  std::int64_t problems;
  kernels::CompliantOptions options;
  double* reals;
  double* packs;  ///< of all threads, interleaved
  int* ints;
  RowType* types;
  int* open;  ///< problems that groups of lanes leave, in any order; null without groups
  int* open_count;
};

/// A block is one warp, whose groups of lanes take steps of Newton's method for some problems, all
/// of them at once; what is before and behind waits until all groups have something of it to do.
struct ContactGroups {
  using Slots = GroupSlots<ContactGroup::Lanes>;
  static constexpr int kProblems = Slots::kGroups;
  static constexpr int kBlocks = 8;  // for whose registers is compiled: more of them spill
  static constexpr long kSlotStride =
      apart(kernels::values_of<ContactGroup::Layout>(), ContactGroup::kContacts);
  static constexpr long kCallStride =
      apart(kernels::values_of<ContactGroup::CallLayout>(), ContactGroup::kContacts);
  static constexpr long kSlots = kProblems * kCallStride;
  static constexpr std::size_t kBytes =
      static_cast<std::size_t>(kSlots + Slots::kSlots * kSlotStride) * sizeof(double);
};
__global__ void __launch_bounds__(WarpLanes::kWidth, ContactGroups::kBlocks)
    step_contacts(const __grid_constant__ CompliantLaunch launch) {
  using Progress = ContactGroup::Progress;
  using Slots = ContactGroups::Slots;
  const WarpLanes warp;
  const ContactGroup::Lanes lanes;
  double* const memory = shared_memory();
  double* const call_memory = memory + ContactGroups::kCallStride * lanes.group();
  // One number: from more the compiler works out the place of each of the problem's arrays.
  const auto place_of = [](int slot) {
    constexpr int kBegin = static_cast<int>(ContactGroups::kSlots);
    constexpr int kStride = static_cast<int>(ContactGroups::kSlotStride);
    return kept(kBegin + kStride * (slot < 0 ? 0 : slot));
  };
  const auto group_at = [&](int slot) {
    return ContactGroup(lanes, launch.arrays, launch.options, memory + place_of(slot), call_memory,
                        launch.open, launch.open_count);
  };
  Slots slots;
  std::int64_t next =
      static_cast<std::int64_t>(Grid::block()) * ContactGroups::kProblems + lanes.group();
  int slot = Slots::kNone;
  bool running = false;
  bool more = warp.any(next < launch.problems);
  int place = place_of(slot);
  ContactGroup group = group_at(slot);
  do {
    if (warp.any(!running)) {
      if (running) group.pause();
      if (!slots.any_ready() && (more || !warp.any(running))) {
        warp.barrier();  // what ended is there for all lanes
        const int chosen = slots.choose(more);
        ContactGroup behind = group_at(chosen);
        behind.finish(slots.has_ended(chosen));
        warp.barrier();  // what finish reads is overwritten by begin
        const bool takes = chosen != Slots::kNone && next < launch.problems;
        const Progress progress = behind.begin(takes, static_cast<int>(next));
        if (takes) next += static_cast<std::int64_t>(Grid::blocks()) * ContactGroups::kProblems;
        more = warp.any(next < launch.problems);
        slots.conclude(chosen, progress == Progress::running, progress == Progress::arrived);
        warp.barrier();  // what began is there for all lanes
      }
      const int given = slots.take(!running);
      if (given != Slots::kNone) {
        slot = given;
        place = place_of(slot);
        running = true;
      }
      group.look_at(memory + place);
      group.recall(given != Slots::kNone);
      warp.barrier();  // what recall reads, a group without a problem too, is overwritten later
    }
    group.look_at(memory + place);
    const Progress progress = group.advance(running);
    const bool ends = running && progress != Progress::running;
    running = running && !ends;
    slots.end(ends, slot, progress == Progress::arrived);
  } while (warp.any(running) || slots.any_ready() || slots.any_ended() || more);
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
__global__ void __launch_bounds__(kStepThreads, kStepBlocks)
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
  const std::int64_t affordable = static_cast<std::int64_t>(kMostScratch / sizeof(double)) /
                                  (room.reals + packs) / kStepThreads;
  const std::int64_t resident = resident_blocks(reinterpret_cast<const void*>(&solve_steps),
                                                kStepThreads, 0, device_limits());
  const std::int64_t blocks = std::min({(batch.problems + kStepThreads - 1) / kStepThreads,
                                        resident, std::max<std::int64_t>(affordable, 1)});
  const std::int64_t threads = blocks * kStepThreads;
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
    launch_kernel("solve_steps", solve_steps, {blocks, kStepThreads}, stream.get(), launch);
  });
  return result;
}

}  // namespace carom::cuda
