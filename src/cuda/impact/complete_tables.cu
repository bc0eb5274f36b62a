#include "cuda/impact/complete_tables.hpp"

#include <algorithm>
#include <type_traits>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "impact/body/complete_table.hpp"
#include "impact/body/enumerated_pilots.hpp"
#include "impact/body/mode_entries.hpp"
#include "impact/body/one_lane.hpp"
#include "impact/mode_table.hpp"

namespace carom::cuda {

namespace {

constexpr int kThreads = 32;

/// What one thread keeps while it makes a table.
template <int M>
struct Room {
  static constexpr int kRows = 2 * M;
  static constexpr int kColumns = kRows + M;
  static constexpr int kMost = 3 * M;
  static constexpr int kEntries = static_cast<int>(mode_combinations(M, 3));
  static constexpr int kSteps = kOrderingWords * OrderJob::kWord;
  static constexpr long kMaps = static_cast<long>(kEntries) * kRows * kColumns;
  static constexpr long kConditions = static_cast<long>(kEntries) * kMost * kColumns;
  static constexpr long kStepReals = static_cast<long>(kSteps) * kColumns;
  static constexpr long kReals = kMaps + kConditions + 2 * kStepReals + kSteps;
  static constexpr long kWords = static_cast<long>(kMostOutcomes) * outcome_words(M);
  static constexpr long kLongs = kMostOutcomes + kEntries;
  static constexpr long kInts = kEntries + kLargestEnumerated * (1 + kMost);
  static constexpr std::size_t kBytes = kReals * sizeof(double) + kWords * sizeof(std::uint64_t) +
                                        kLongs * sizeof(long) + kInts * sizeof(int) +
                                        kEntries * sizeof(ModeCodes);
};

template <int M>
__device__ void make_table(const CompleteTables& launch, int p, int thread) {
  using R = Room<M>;
  kernels::ImpactProblemView view{};
  view.delassus = launch.delassus + static_cast<long>(p) * R::kRows * R::kRows;
  view.scale = launch.scale + static_cast<long>(p) * M;
  view.friction = launch.friction + static_cast<long>(p) * M;
  view.contact_velocity = launch.contact_velocity + static_cast<long>(p) * R::kRows;
  double* const maps = launch.reals + thread * R::kReals;
  double* const conditions = maps + R::kMaps;
  double* const steps = conditions + R::kConditions;
  double* const arranged = steps + R::kStepReals;
  double* const lowest = arranged + R::kStepReals;
  std::uint64_t* const leading = launch.leading + thread * R::kWords;
  long* const uses = launch.longs + thread * R::kLongs;
  int* const counts = launch.ints + thread * R::kInts;
  int* const chosen = counts + R::kEntries;
  int* const places = chosen + kLargestEnumerated;
  ModeCodes* const codes = launch.codes + static_cast<long>(thread) * R::kEntries;

  const int entries = enumerate_modes(view, M, mode_places(2, launch.run.polygon), codes);
  const EntryJob entry_job{2,        &view, &launch.run, entries, codes,
                           R::kMost, maps,  conditions,  counts};
  ModeEntries<OneLane, 2, M>{entry_job}();
  int count = 0;
  int outcomes = 0;
  bool mixed = false;
  EnumerationJob job{&view,   &launch.run, 0,         kEnumeratedPilots,
                     entries, R::kMost,    maps,      conditions,
                     counts,  R::kSteps,   steps,     &count,
                     leading, uses,        &outcomes, &mixed};
  EnumeratedPilots<OneLane, M>{job}();
  if (mixed) {
    job.first_pilot = kEnumeratedPilots;
    job.pilots = kEnumeratedPilotsOfSeveral;
    EnumeratedPilots<OneLane, M>{job}();
  }
  const ChosenEntries found = cover_outcomes(entries, counts, outcomes, outcome_words(M), leading,
                                             uses, mixed, uses + kMostOutcomes, chosen);
  const int kept = count < R::kSteps ? count : R::kSteps;
  const int words = (kept + OrderJob::kWord - 1) / OrderJob::kWord;
  arrange_pilot_steps(R::kColumns, count, kept, words * OrderJob::kWord, steps, arranged, lowest);
  for (int e = 0; e < found.count; ++e) {
    int* const order = places + e * R::kMost;
    const int own = counts[chosen[e]];
    if (e >= found.used) {  // no pilot came by
      for (int c = 0; c < own; ++c) order[c] = c;
      continue;
    }
    std::uint64_t solved[OrderJob::kWords];
    order_conditions<OneLane::Pack, OneLane::kWidth>(
        {R::kColumns, own, conditions + static_cast<long>(chosen[e]) * R::kMost * R::kColumns,
         words, arranged, lowest, order, solved});
  }
  const TableDraft draft{&view, launch.run.step_size, R::kRows, R::kColumns, R::kMost,
                         maps,  conditions,           counts,   chosen,      found.count,
                         places};
  const std::int64_t at_numbers = p * launch.room.reals;
  const std::int64_t at_first = p * launch.room.ints;
  int* const first = launch.first + at_first;
  write_first(draft, first);
  write_numbers(draft, first, launch.numbers + at_numbers);
  TableSlot slot{};
  slot.table.count = found.count;
  slot.table.mixed = mixed;
  slot.numbers = at_numbers;
  slot.first = at_first;
  launch.slots[p] = slot;
  if (found.count == 0) return;
  launch.sizes[2 * p] = static_cast<int>(
      kernels::ModeTableView::size(R::kRows, R::kColumns, found.count, first[found.count]));
  launch.sizes[2 * p + 1] = found.count + 1;
}

/// A problem a thread.
template <int M>
__global__ void __launch_bounds__(kThreads)
    complete_tables(const __grid_constant__ CompleteTables launch) {
  const int thread = Grid::global_thread();
  for (int p = thread; p < launch.problems; p += Grid::global_threads()) {
    launch.sizes[2 * p] = launch.sizes[2 * p + 1] = 0;
    launch.slots[p] = TableSlot{};
    if (launch.valid[p] != 0) make_table<M>(launch, p, thread);
  }
}

}  // namespace

bool makes_tables(int dimension, int contacts, std::int64_t problems, const SamplePolicy& policy) {
  return dimension == 2 && contacts >= 1 && contacts <= kEnumeratedContacts &&
         problems >= policy.device_tables;
}

TableRoom complete_table_room(int contacts) {
  constexpr int kDirections = 2;  // of a line
  return {largest_mode_table(2, contacts, kDirections), kLargestEnumerated + 1};
}

void CompleteTableMaker::make(CompleteTables launch, std::size_t bytes, cudaStream_t stream) {
  const auto start = [&](auto contacts) {
    using R = Room<decltype(contacts)::value>;
    const auto fitting = static_cast<std::int64_t>(bytes / R::kBytes / kThreads);
    const std::int64_t blocks = std::clamp<std::int64_t>(
        (launch.problems + kThreads - 1) / kThreads, 1, std::max<std::int64_t>(1, fitting));
    const auto threads = static_cast<std::size_t>(blocks * kThreads);
    launch.reals = reals_.reserve(threads * R::kReals);
    launch.leading = leading_.reserve(threads * R::kWords);
    launch.longs = longs_.reserve(threads * R::kLongs);
    launch.ints = ints_.reserve(threads * R::kInts);
    launch.codes = codes_.reserve(threads * R::kEntries);
    launch_kernel("complete_tables", complete_tables<decltype(contacts)::value>, {blocks, kThreads},
                  stream, launch);
  };
  switch (launch.run.contacts) {
    case 1:
      return start(std::integral_constant<int, 1>{});
    case 2:
      return start(std::integral_constant<int, 2>{});
    default:
      return start(std::integral_constant<int, 3>{});
  }
}

}  // namespace carom::cuda
