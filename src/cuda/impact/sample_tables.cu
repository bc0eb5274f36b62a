#include <algorithm>

#include "cuda/impact/shared_problem.cuh"
#include "cuda/launch.cuh"

/// One thread a trajectory of known size whose steps all come from the problem's mode table: its
/// numbers stay in registers, the problem and the table in shared memory.
namespace carom::cuda {

namespace {

struct TableOnly : kernels::AllSteps {
  static constexpr bool kEnumeration = false;
  static constexpr bool kTable = true;
  static constexpr bool kPath = false;
  static constexpr bool kFallback = false;
};

template <int Dim, int Contacts, int Velocities>
struct TableSize {
  static constexpr int kDim = Dim;
  static constexpr int kContacts = Contacts;
  static constexpr int kVelocities = Velocities;
  static constexpr int kRows = Dim * Contacts;
};

constexpr int kTableThreads = 128;
constexpr int kTableBlocks = 4;  // resident ones, for the register limit
/// Lanes of a warp that wait before all of them take new samples: fewer would have the code behind
/// a trajectory run only for them, more would stand idle longer.
constexpr int kWaiting = 8;

/// Each block has a share of one problem's samples, which its threads take one after another.
template <class Size>
__global__ void __launch_bounds__(kTableThreads, kTableBlocks)
    sample_tables(const __grid_constant__ SampleLaunch launch, int blocks_per_problem) {
  constexpr int kDim = Size::kDim;
  constexpr int kNv = Size::kVelocities;
  constexpr int kM = Size::kContacts;
  kernels::ImpactRun run = launch.run;  // what is known of it, so that nothing else is compiled
  run.velocities = kNv;
  run.contacts = kM;
  run.sampler = Sampler::uniform;
  run.selection = Selection::any;
  const int problem = Grid::block() / blocks_per_problem;
  const int part = Grid::block() - problem * blocks_per_problem;
  const int samples = launch.chunk.samples;
  const int share_size = (samples + blocks_per_problem - 1) / blocks_per_problem;
  const int last = (part + 1) * share_size < samples ? (part + 1) * share_size : samples;
  int* const next = reinterpret_cast<int*>(shared_memory());
  if (Grid::thread() == 0) *next = part * share_size;
  kernels::ImpactProblemView view =
      share<kDim>(view_of<kDim>(launch.problems, kNv, kM, launch.chunk.first_problem + problem),
                  kNv, kM, true, shared_memory() + 1);
  if (launch.out.closed_velocity == nullptr) view.closing_impulse = 0.0;

  // Arrays of their own: one that is indexed at run time keeps no other out of registers.
  constexpr int kRows = Size::kRows;
  double v[kNv], next_v[kNv], z[kRows + kM], next_u[kRows], impulse[kRows], total[kRows];
  kernels::ImpactScratch<kDim> scratch{};
  scratch.v = v;
  scratch.next_v = next_v;
  scratch.u = z;
  scratch.limit = z + kRows;
  scratch.next_u = next_u;
  scratch.impulse = impulse;
  scratch.total = total;
  const kernels::SingleLane lane;
  kernels::ImpactTrajectory<kDim, kernels::SingleLane, TableOnly> trajectory(lane, run, view,
                                                                             scratch);
  const std::uint32_t index = run.index_of(launch.chunk.first_problem + problem);
  kernels::TrajectoryEnd end{};
  int sample = last;
  bool running = false;
  bool ended = false;
  while (true) {
    if (WarpLanes::count(running) <= WarpLanes::kWidth - kWaiting) {
      if (ended) {
        const int slot = problem * samples + sample;
        const std::int64_t address = launch.chunk.first_sample + sample;
        trajectory.finish(index, static_cast<std::uint64_t>(address), end);
        if (end.unfinished) {
          leave_unfinished(launch.unfinished, slot);
        } else {
          store_trajectory<kDim>(lane, launch, slot, end, scratch);
        }
        ended = false;
      }
      if (!running) {
        sample = Grid::claim(next);
        running = sample < last;
        if (running) end = trajectory.begin(nullptr);
      }
      if (WarpLanes::count(running) == 0) break;
    }
    if (running) {
      const std::int64_t address = launch.chunk.first_sample + sample;
      running = trajectory.advance(index, static_cast<std::uint64_t>(address), nullptr, end);
      ended = !running;
    }
  }
}

/// True where the problem is of that size, and was launched.
template <class Size>
bool launch_if_sized(int dimension, const SampleLaunch& launch, cudaStream_t stream) {
  if (dimension != Size::kDim || launch.run.contacts != Size::kContacts ||
      launch.run.velocities != Size::kVelocities) {
    return false;
  }
  const std::size_t bytes =
      (static_cast<std::size_t>(problem_reals(Size::kDim, Size::kVelocities, Size::kContacts)) +
       1) *
          sizeof(double) +
      table_bytes(launch.problems);
  if (bytes > kSharedWithoutOptIn) return false;
  const int resident = resident_blocks(reinterpret_cast<const void*>(&sample_tables<Size>),
                                       kTableThreads, bytes, device_limits());
  const int most = (launch.chunk.samples + kTableThreads - 1) / kTableThreads;
  const int each = std::clamp(resident / launch.chunk.problems, 1, most);
  launch_kernel("sample_tables", sample_tables<Size>,
                {static_cast<std::int64_t>(launch.chunk.problems) * each, kTableThreads, bytes},
                stream, launch, each);
  return true;
}

}  // namespace

bool sample_by_tables(int dimension, const SampleLaunch& launch, cudaStream_t stream) {
  const bool plain = launch.problems.tables != nullptr && launch.out.paths == 0 &&
                     launch.run.selection == Selection::any &&
                     launch.run.sampler == Sampler::uniform &&
                     launch.chunk.samples >= kTableThreads;
  if (!plain) return false;
  return launch_if_sized<TableSize<2, 1, 3>>(dimension, launch, stream) ||
         launch_if_sized<TableSize<2, 2, 3>>(dimension, launch, stream) ||
         launch_if_sized<TableSize<2, 2, 4>>(dimension, launch, stream) ||
         launch_if_sized<TableSize<2, 2, 7>>(dimension, launch, stream);
}

}  // namespace carom::cuda
