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

constexpr std::int64_t kMostWarps = 8192;  // more than any device runs at once

/// What a warp keeps while it makes a table.
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

/// A warp whose lanes share the combinations of a problem.
struct TableWarp : WarpLanes {
  /// As TableLane::each_where; the lanes test together, then act one index after the other.
  template <class Test, class Act>
  __device__ __forceinline__ void each_where(int count, Test&& test, Act&& act) const {
    for (int base = 0; base < count; base += kWidth) {
      const unsigned value = base + lane() < count ? test(base + lane()) : 0U;
      for (unsigned hits = where(value != 0U); hits != 0U; hits &= hits - 1U) {
        const int hit = lowest(hits);
        act(base + hit, from(value, hit));
      }
    }
  }
  template <class Test>
  __device__ __forceinline__ int first_where(int count, Test&& test) const {
    for (int base = 0; base < count; base += kWidth) {
      const unsigned hits = where(base + lane() < count && test(base + lane()));
      if (hits != 0U) return base + lowest(hits);
    }
    return count;
  }
};

template <int M>
__device__ void make_table(const TableWarp& lanes, const CompleteTables& launch, int p, int warp) {
  using R = Room<M>;
  kernels::ImpactProblemView view{};
  view.delassus = launch.delassus + static_cast<long>(p) * R::kRows * R::kRows;
  view.scale = launch.scale + static_cast<long>(p) * M;
  view.friction = launch.friction + static_cast<long>(p) * M;
  view.step_size = launch.step_size[p];
  view.contact_velocity = launch.contact_velocity + static_cast<long>(p) * R::kRows;
  double* const maps = launch.reals + warp * R::kReals;
  double* const conditions = maps + R::kMaps;
  double* const steps = conditions + R::kConditions;
  double* const arranged = steps + R::kStepReals;
  double* const lowest = arranged + R::kStepReals;
  std::uint64_t* const leading = launch.leading + warp * R::kWords;
  long* const uses = launch.longs + warp * R::kLongs;
  int* const counts = launch.ints + warp * R::kInts;
  int* const chosen = counts + R::kEntries;
  int* const places = chosen + kLargestEnumerated;
  ModeCodes* const codes = launch.codes + static_cast<long>(warp) * R::kEntries;

  const int entries = enumerate_modes(lanes, view, M, mode_places(2, launch.run.polygon), codes);
  const EntryJob entry_job{2,        &view, &launch.run, entries, codes,
                           R::kMost, maps,  conditions,  counts};
  lanes.for_each(entries, [&](int e) { ModeEntries<OneLane, 2, M>{entry_job}.make(e); });
  int count = 0;
  int outcomes = 0;
  bool mixed = false;
  EnumerationJob job{&view,   &launch.run, 0,         kEnumeratedPilots,
                     entries, R::kMost,    maps,      conditions,
                     counts,  R::kSteps,   steps,     &count,
                     leading, uses,        &outcomes, &mixed};
  EnumeratedPilots<OneLane, M, TableWarp>{job, lanes}();
  if (mixed) {
    job.first_pilot = kEnumeratedPilots;
    job.pilots = kEnumeratedPilotsOfSeveral;
    EnumeratedPilots<OneLane, M, TableWarp>{job, lanes}();
  }
  const ChosenEntries found = cover_outcomes(lanes, entries, counts, outcomes, outcome_words(M),
                                             leading, uses, mixed, uses + kMostOutcomes, chosen);
  const int kept = count < R::kSteps ? count : R::kSteps;
  const int words = (kept + OrderJob::kWord - 1) / OrderJob::kWord;
  arrange_pilot_steps(lanes, R::kColumns, count, kept, words * OrderJob::kWord, steps, arranged,
                      lowest);
  lanes.for_each(found.count, [&](int e) {
    int* const order = places + e * R::kMost;
    const int own = counts[chosen[e]];
    if (e >= found.used) {  // no pilot came by
      for (int c = 0; c < own; ++c) order[c] = c;
      return;
    }
    std::uint64_t solved[OrderJob::kWords];
    order_conditions<OneLane::Pack, OneLane::kWidth>(
        {R::kColumns, own, conditions + static_cast<long>(chosen[e]) * R::kMost * R::kColumns,
         words, arranged, lowest, order, solved});
  });
  const TableDraft draft{&view,      R::kRows, R::kColumns, R::kMost,    maps,
                         conditions, counts,   chosen,      found.count, places};
  const std::int64_t at_numbers = p * launch.room.reals;
  const std::int64_t at_first = p * launch.room.ints;
  int* const first = launch.first + at_first;
  write_first(lanes, draft, first);
  write_numbers(lanes, draft, first, launch.numbers + at_numbers);
  lanes.for_each(1, [&](int) {
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
  });
}

/// A problem a warp.
template <int M>
__global__ void __launch_bounds__(TableWarp::kWidth)
    complete_tables(const __grid_constant__ CompleteTables launch) {
  const TableWarp lanes;
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    lanes.for_each(1, [&](int) {
      launch.sizes[2 * p] = launch.sizes[2 * p + 1] = 0;
      launch.slots[p] = TableSlot{};
    });
    if (launch.valid[p] != 0) make_table<M>(lanes, launch, p, Grid::block());
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
    const auto fitting = static_cast<std::int64_t>(bytes / R::kBytes);
    const std::int64_t blocks =
        std::clamp<std::int64_t>(std::min(fitting, kMostWarps), 1, launch.problems);
    const auto warps = static_cast<std::size_t>(blocks);
    launch.reals = reals_.reserve(warps * R::kReals);
    launch.leading = leading_.reserve(warps * R::kWords);
    launch.longs = longs_.reserve(warps * R::kLongs);
    launch.ints = ints_.reserve(warps * R::kInts);
    launch.codes = codes_.reserve(warps * R::kEntries);
    launch_kernel("complete_tables", complete_tables<decltype(contacts)::value>,
                  {blocks, TableWarp::kWidth}, stream, launch);
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
