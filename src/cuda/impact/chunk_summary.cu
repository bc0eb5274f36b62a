#include "cuda/impact/chunk_summary.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"

namespace carom::cuda {

namespace {

/// Samples of one problem that one warp goes through.
constexpr int kSlice = 4096;
constexpr int kSummaryThreads = 256;

enum Count {
  kTerminated,
  kMaxSteps,
  kFailed,
  kSteps,
  kFallback,
  kPivots,
  kNonunique,
  kExamined,
  kDropped,
  kCounts
};

struct SummaryLaunch {
  TrajectoryArrays out;
  Chunk chunk;
  int slices;  ///< of each problem
  int nv;
  int rows;
  double* ranges;  ///< [problems, slices, 2 (nv + rows) + 2]: minima, maxima, residual, energy
  std::int64_t* counts;  ///< [problems, slices, kCounts]
};

struct Range {
  double low;
  double high;
};

CAROM_INLINE double smaller_of(double a, double b) { return b < a ? b : a; }
CAROM_INLINE double larger_of(double a, double b) { return a < b ? b : a; }

/// Smallest and largest value[slot * stride] over the terminated slots.
CAROM_INLINE Range range_of(const WarpLanes& lanes, const TrajectoryStatus* status, int begin,
                            int end, const double* value, int stride) {
  Range range{kernels::kInfinity, -kernels::kInfinity};
  for (int slot = begin + WarpLanes::lane(); slot < end; slot += WarpLanes::kWidth) {
    if (status[slot] != TrajectoryStatus::terminated) continue;
    const double x = value[static_cast<long>(slot) * stride];
    range = {smaller_of(range.low, x), larger_of(range.high, x)};
  }
  range.low = lanes.reduce(range.low, [](double a, double b) { return smaller_of(a, b); });
  range.high = lanes.reduce(range.high, [](double a, double b) { return larger_of(a, b); });
  return range;
}

CAROM_INLINE void count_slots(const WarpLanes& lanes, const SummaryLaunch& launch, int begin,
                              int end, double* worst, std::int64_t* counts) {
  const TrajectoryArrays& out = launch.out;
  double residual = 0.0;
  double energy = 0.0;
  std::int64_t sum[kCounts] = {};
  for (int slot = begin + WarpLanes::lane(); slot < end; slot += WarpLanes::kWidth) {
    const TrajectoryStatus status = out.status[slot];
    sum[kSteps] += out.steps[slot];
    sum[kFallback] += out.fallback[slot];
    sum[kPivots] += out.pivots[slot];
    sum[kNonunique] += out.nonunique[slot];
    sum[kExamined] += out.examined[slot];
    if (status == TrajectoryStatus::failed) {
      ++sum[kFailed];
      continue;
    }
    residual = larger_of(residual, out.residual[slot]);
    energy = larger_of(energy, out.energy_ratio[slot]);
    ++sum[status == TrajectoryStatus::terminated ? kTerminated : kMaxSteps];
    if (out.in_net[slot] == 0) ++sum[kDropped];
  }
  const auto larger = [](double a, double b) { return larger_of(a, b); };
  residual = lanes.reduce(residual, larger);
  energy = lanes.reduce(energy, larger);
  for (int c = 0; c < kCounts; ++c) {
    sum[c] = lanes.reduce(sum[c], [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  lanes.for_each(1, [&](int) {
    worst[0] = residual;
    worst[1] = energy;
    for (int c = 0; c < kCounts; ++c) counts[c] = sum[c];
  });
}

/// A block is one warp; a task is one quantity of one slice, the last one all counts.
__global__ void __launch_bounds__(WarpLanes::kWidth)
    summarise_slices(const __grid_constant__ SummaryLaunch launch, int tasks) {
  const WarpLanes lanes;
  const int quantities = launch.nv + launch.rows;
  for (int task = Grid::block(); task < tasks; task += Grid::blocks()) {
    const int quantity = task % (quantities + 1);
    const int slice = task / (quantities + 1);
    const int problem = slice / launch.slices;
    const int first = problem * launch.chunk.samples;
    const int begin = first + (slice - problem * launch.slices) * kSlice;
    const int past = first + launch.chunk.samples;
    const int end = begin + kSlice < past ? begin + kSlice : past;
    double* ranges = launch.ranges + static_cast<long>(slice) * (2 * quantities + 2);
    if (quantity == quantities) {
      count_slots(lanes, launch, begin, end, ranges + 2 * quantities,
                  launch.counts + static_cast<long>(slice) * kCounts);
      continue;
    }
    const bool velocity = quantity < launch.nv;
    const Range range =
        velocity ? range_of(lanes, launch.out.status, begin, end, launch.out.velocity + quantity,
                            launch.nv)
                 : range_of(lanes, launch.out.status, begin, end,
                            launch.out.contact_velocity + (quantity - launch.nv), launch.rows);
    lanes.for_each(1, [&](int) {
      ranges[quantity] = range.low;
      ranges[quantities + quantity] = range.high;
    });
  }
}

enum BookCount { kBooked, kGuardedCount, kTrimmedCount, kCompression, kFriction, kBookCounts };
/// Quantities of energies, of which slices have a smallest and a largest.
enum BookRange { kEnergyRatio, kLostCompression, kLostFriction, kBookRanges };

struct BookLaunch {
  TrajectoryArrays out;
  Chunk chunk;
  int slices, m;
  const double* energy;  ///< of the chunk's first problem and those after it
  double* ranges;        ///< [problems, slices, kBookRanges, 2]
  std::int64_t* counts;  ///< [problems, slices, kBookCounts]
};

/// std::llround, whatever the device makes of halves.
CAROM_INLINE std::int64_t rounded(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  const double rest = x - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

/// As ImpactAccumulator does on the host. A block is one warp; a task is a slice.
__global__ void __launch_bounds__(WarpLanes::kWidth)
    sum_slices(const __grid_constant__ BookLaunch launch, int tasks) {
  const WarpLanes lanes;
  const TrajectoryArrays& out = launch.out;
  for (int slice = Grid::block(); slice < tasks; slice += Grid::blocks()) {
    const int problem = slice / launch.slices;
    const int first = problem * launch.chunk.samples;
    const int begin = first + (slice - problem * launch.slices) * kSlice;
    const int past = first + launch.chunk.samples;
    const int end = begin + kSlice < past ? begin + kSlice : past;
    const double energy = launch.energy[problem];
    Range range[kBookRanges];
    for (Range& each : range) each = {kernels::kInfinity, -kernels::kInfinity};
    std::int64_t sum[kBookCounts] = {};
    for (int slot = begin + WarpLanes::lane(); slot < end; slot += WarpLanes::kWidth) {
      if (out.status[slot] != TrajectoryStatus::terminated) continue;
      double lost[2] = {};
      for (int i = 0; i < launch.m; ++i) {
        lost[0] += out.lost_compression[static_cast<long>(slot) * launch.m + i];
        lost[1] += out.lost_friction[static_cast<long>(slot) * launch.m + i];
      }
      for (double& share : lost) share = energy > 0.0 ? share / energy : 0.0;
      const double value[kBookRanges] = {out.energy_ratio[slot], lost[0], lost[1]};
      for (int q = 0; q < kBookRanges; ++q) {
        range[q] = {smaller_of(range[q].low, value[q]), larger_of(range[q].high, value[q])};
      }
      ++sum[kBooked];
      if ((out.ended_by[slot] & kGuarded) != 0) ++sum[kGuardedCount];
      if ((out.ended_by[slot] & kTrimmed) != 0) ++sum[kTrimmedCount];
      sum[kCompression] += rounded(lost[0] * SummedBooks::kUnit);
      sum[kFriction] += rounded(lost[1] * SummedBooks::kUnit);
    }
    for (Range& each : range) {
      each.low = lanes.reduce(each.low, [](double a, double b) { return smaller_of(a, b); });
      each.high = lanes.reduce(each.high, [](double a, double b) { return larger_of(a, b); });
    }
    for (std::int64_t& each : sum) {
      each = lanes.reduce(each, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    lanes.for_each(1, [&](int) {
      for (int q = 0; q < kBookRanges; ++q) {
        double* const to = launch.ranges + (static_cast<long>(slice) * kBookRanges + q) * 2;
        to[0] = range[q].low;
        to[1] = range[q].high;
      }
      for (int c = 0; c < kBookCounts; ++c) {
        launch.counts[static_cast<long>(slice) * kBookCounts + c] = sum[c];
      }
    });
  }
}

/// Keys of the mode histogram: problem and modes of a terminated slot, beyond all others elsewhere.
__global__ void __launch_bounds__(kSummaryThreads)
    mode_keys(const __grid_constant__ SummaryLaunch launch, int mode_bits, std::uint64_t* keys) {
  const int slot = Grid::global_thread();
  if (slot >= launch.chunk.slots()) return;
  const bool terminated = launch.out.status[slot] == TrajectoryStatus::terminated;
  const auto problem =
      static_cast<std::uint64_t>(terminated ? slot / launch.chunk.samples : launch.chunk.problems);
  keys[slot] = (problem << mode_bits) | (terminated ? launch.out.modes[slot] : 0);
}

}  // namespace

std::size_t ChunkSummary::bytes_per_problem(int velocities, int contact_rows) {
  return static_cast<std::size_t>(2 * (velocities + contact_rows) + 2) * sizeof(double) +
         kCounts * sizeof(std::int64_t);
}

std::vector<ProblemTotals> ChunkSummary::run(int dimension, const SampleLaunch& launch,
                                             StoreKind stores, cudaStream_t stream) {
  const int nv = launch.run.velocities;
  const int m = launch.run.contacts;
  const int rows = dimension * m;
  const int quantities = nv + rows;
  const int slices = (launch.chunk.samples + kSlice - 1) / kSlice;
  const auto all_slices =
      static_cast<std::size_t>(launch.chunk.problems) * static_cast<std::size_t>(slices);
  const std::size_t width = static_cast<std::size_t>(2 * quantities + 2);
  SummaryLaunch summary{launch.out, launch.chunk, slices, nv, rows, nullptr, nullptr};
  summary.ranges = ranges_.reserve(all_slices * width);
  summary.counts = counts_.reserve(all_slices * kCounts);
  const std::size_t tasks = all_slices * static_cast<std::size_t>(quantities + 1);
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(tasks, 1U << 16));
  launch_kernel("summarise_slices", summarise_slices, {blocks, WarpLanes::kWidth}, stream, summary,
                static_cast<int>(tasks));
  std::vector<double> ranges(all_slices * width);
  std::vector<std::int64_t> counts(all_slices * kCounts);
  download(ranges.data(), summary.ranges, ranges.size(), stream);
  download(counts.data(), summary.counts, counts.size(), stream);

  std::vector<ProblemTotals> totals(static_cast<std::size_t>(launch.chunk.problems));
  count_modes(launch, totals, stream);  // waits for the stream
  for (std::size_t p = 0; p < totals.size(); ++p) {
    ImpactSummary& s = totals[p].summary;
    std::vector<double> low(static_cast<std::size_t>(quantities), kernels::kInfinity);
    std::vector<double> high(low.size(), -kernels::kInfinity);
    s.samples = launch.chunk.samples;
    for (std::size_t slice = p * static_cast<std::size_t>(slices);
         slice < (p + 1) * static_cast<std::size_t>(slices); ++slice) {
      const double* range = ranges.data() + slice * width;
      for (std::size_t q = 0; q < low.size(); ++q) {
        low[q] = std::min(low[q], range[q]);
        high[q] = std::max(high[q], range[low.size() + q]);
      }
      s.max_residual = std::max(s.max_residual, range[2 * low.size()]);
      s.max_energy_ratio = std::max(s.max_energy_ratio, range[2 * low.size() + 1]);
      const std::int64_t* count = counts.data() + slice * kCounts;
      s.terminated += count[kTerminated];
      s.max_steps_reached += count[kMaxSteps];
      s.failed += count[kFailed];
      s.lcp_solves += count[kSteps];
      s.fallback_solves += count[kFallback];
      s.pivots += count[kPivots];
      s.nonunique_solves += count[kNonunique];
      s.nonunique_examined += count[kExamined];
      totals[p].dropped += count[kDropped];
    }
    const auto normals = low.begin() + nv;
    const auto normals_high = high.begin() + nv;
    s.velocity_min.assign(low.begin(), normals);
    s.velocity_max.assign(high.begin(), normals_high);
    s.normal_velocity_min.assign(normals, normals + m);
    s.normal_velocity_max.assign(normals_high, normals_high + m);
    s.tangent_velocity_min.assign(normals + m, low.end());
    s.tangent_velocity_max.assign(normals_high + m, high.end());
  }
  if (stores != StoreKind::none) sum_books(launch, totals, stream);
  return totals;
}

void ChunkSummary::sum_books(const SampleLaunch& launch, std::vector<ProblemTotals>& totals,
                             cudaStream_t stream) {
  const int slices = (launch.chunk.samples + kSlice - 1) / kSlice;
  const std::size_t all = totals.size() * static_cast<std::size_t>(slices);
  BookLaunch books{launch.out, launch.chunk, slices, launch.run.contacts,
                   nullptr,    nullptr,      nullptr};
  books.energy = launch.problems.energy + (launch.chunk.first_problem - launch.problems.first);
  books.ranges = ranges_.reserve(all * kBookRanges * 2);
  books.counts = counts_.reserve(all * kBookCounts);
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(all, 1U << 16));
  launch_kernel("sum_slices", sum_slices, {blocks, WarpLanes::kWidth}, stream, books,
                static_cast<int>(all));
  std::vector<double> ranges(all * kBookRanges * 2);
  std::vector<std::int64_t> counts(all * kBookCounts);
  download(ranges.data(), books.ranges, ranges.size(), stream);
  download(counts.data(), books.counts, counts.size(), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (std::size_t slice = 0; slice < all; ++slice) {
    ProblemTotals& to = totals[slice / static_cast<std::size_t>(slices)];
    const std::int64_t* const count = counts.data() + slice * kBookCounts;
    if (count[kBooked] == 0) continue;
    ImpactSummary& s = to.summary;
    const bool fresh = to.books.samples == 0;
    const auto least = [&](double& value, BookRange q) {
      const double own = ranges[(slice * kBookRanges + q) * 2];
      value = fresh ? own : std::min(value, own);
    };
    const auto most = [&](double& value, BookRange q) {
      const double own = ranges[(slice * kBookRanges + q) * 2 + 1];
      value = fresh ? own : std::max(value, own);
    };
    least(s.min_energy_ratio, kEnergyRatio);
    least(s.lost_compression_min, kLostCompression);
    most(s.lost_compression_max, kLostCompression);
    least(s.lost_friction_min, kLostFriction);
    most(s.lost_friction_max, kLostFriction);
    to.books.samples += count[kBooked];
    to.books.lost_compression += count[kCompression];
    to.books.lost_friction += count[kFriction];
    s.guarded += count[kGuardedCount];
    s.trimmed += count[kTrimmedCount];
  }
}

void ChunkSummary::count_modes(const SampleLaunch& launch, std::vector<ProblemTotals>& totals,
                               cudaStream_t stream) {
  const int slots = launch.chunk.slots();
  const int mode_bits = 2 * launch.run.contacts;
  const auto problems = static_cast<unsigned>(launch.chunk.problems);
  const int key_bits = mode_bits + std::bit_width(problems);
  const auto size = static_cast<std::size_t>(slots);
  SummaryLaunch summary{launch.out, launch.chunk, 0, 0, 0, nullptr, nullptr};
  std::uint64_t* keys = keys_.reserve(size);
  std::uint64_t* sorted = sorted_.reserve(size);
  std::uint64_t* unique = unique_.reserve(size);
  int* lengths = lengths_.reserve(size);
  int* runs = runs_.reserve(1);
  launch_kernel("mode_keys", mode_keys,
                {(slots + kSummaryThreads - 1) / kSummaryThreads, kSummaryThreads}, stream, summary,
                mode_bits, keys);
  std::size_t sort_bytes = 0;
  std::size_t encode_bytes = 0;
  check(
      cub::DeviceRadixSort::SortKeys(nullptr, sort_bytes, keys, sorted, slots, 0, key_bits, stream),
      "cub::DeviceRadixSort");
  check(cub::DeviceRunLengthEncode::Encode(nullptr, encode_bytes, sorted, unique, lengths, runs,
                                           slots, stream),
        "cub::DeviceRunLengthEncode");
  char* temporary = temporary_.reserve(std::max(sort_bytes, encode_bytes));
  check(cub::DeviceRadixSort::SortKeys(temporary, sort_bytes, keys, sorted, slots, 0, key_bits,
                                       stream),
        "cub::DeviceRadixSort");
  check(cub::DeviceRunLengthEncode::Encode(temporary, encode_bytes, sorted, unique, lengths, runs,
                                           slots, stream),
        "cub::DeviceRunLengthEncode");
  int found = 0;
  download(&found, runs, 1, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::vector<std::uint64_t> modes(static_cast<std::size_t>(found));
  std::vector<int> length(modes.size());
  download(modes.data(), unique, modes.size(), stream);
  download(length.data(), lengths, length.size(), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (std::size_t r = 0; r < modes.size(); ++r) {
    const std::uint64_t problem = modes[r] >> mode_bits;
    if (problem >= problems) continue;
    totals[problem].summary.mode_counts.emplace_back(modes[r] - (problem << mode_bits), length[r]);
  }
}

}  // namespace carom::cuda
