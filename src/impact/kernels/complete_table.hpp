#pragma once

#include <bit>
#include <cstdint>

#include "impact/kernels/mode_table.hpp"
#include "impact/mode_pilots.hpp"

/// Builds a mode table from its entries and from pilot trajectories.
namespace carom {

inline constexpr int kLargestEnumerated = 64;
// Pilots of a table; more of them where they met steps with several v', whose outcomes all count.
inline constexpr int kEnumeratedPilots = 24;
inline constexpr int kEnumeratedPilotsOfSeveral = 128;
/// Words of 64 steps that conditions are ordered by: one serves the order, two the count of steps
/// with several v'.
inline constexpr int kOrderingWords = 2;

CAROM_INLINE double largest_of(const double* z, int count) {
  double size = 0.0;
  for (int j = 0; j < count; ++j) size = kernels::larger(kernels::magnitude(z[j]), size);
  return size;
}

/// Contacts without friction know one place.
CAROM_INLINE ModeCodes canonical_modes(ModeCodes codes, const kernels::ImpactProblemView& problem,
                                       int m, int places) {
  for (int i = 0; i < m; ++i) {
    auto& code = codes[static_cast<std::size_t>(i)];
    if (code > 0 && !(problem.friction[i] > 0.0)) {
      code = static_cast<std::uint8_t>(code > places ? 1 + places : 1);
    }
  }
  return codes;
}

/// Combinations of m contacts at most.
CAROM_HOST_DEVICE constexpr long mode_combinations(int m, int places) {
  long combinations = 1;
  for (int i = 0; i < m; ++i) combinations *= 1 + 2 * places;
  return combinations;
}

/// Fills codes [mode_combinations]; their number.
template <class Lanes>
CAROM_HOST_DEVICE int enumerate_modes(const Lanes& lanes, const kernels::ImpactProblemView& problem,
                                      int m, int places, ModeCodes* codes) {
  const int options = 1 + 2 * places;
  const auto combination = [=](int number) {
    ModeCodes some{};
    for (int i = 0; i < m; ++i) {
      some[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number % options);
      number /= options;
    }
    return some;
  };
  const auto is_canonical = [&](int number) {
    const ModeCodes some = combination(number);
    const ModeCodes same = canonical_modes(some, problem, m, places);
    bool own = true;
    for (int i = 0; i < m; ++i) {
      own = own && same[static_cast<std::size_t>(i)] == some[static_cast<std::size_t>(i)];
    }
    return own ? 1U : 0U;
  };
  int count = 0;
  lanes.each_where(static_cast<int>(mode_combinations(m, places)), is_canonical,
                   [&](int number, unsigned) {
                     lanes.for_each(1, [&](int) { codes[count] = combination(number); });
                     ++count;
                   });
  return count;
}

/// Entries of a table: `chosen`, of which pilots met the first `used`.
struct ChosenEntries {
  int count = 0;
  int used = 0;
};

/// Greedy cover: each place goes to the entry that gives most of the pilots' outcomes still open.
/// Where modes overlap (the impulse of a step need not be unique) this leaves few to try.
/// leading [outcomes, words] is used up; open [entries]; chosen [kLargestEnumerated].
template <class Lanes>
CAROM_HOST_DEVICE ChosenEntries cover_outcomes(const Lanes& lanes, int entries, const int* counts,
                                               int outcomes, int words, std::uint64_t* leading,
                                               const long* uses, bool mixed, long* open,
                                               int* chosen) {
  const auto add = [&](int o, long by) {
    for (int w = 0; w < words; ++w) {
      for (std::uint64_t bits = leading[static_cast<long>(o) * words + w]; bits != 0;
           bits &= bits - 1) {
        open[w * 64 + std::countr_zero(bits)] += by;
      }
    }
  };
  ChosenEntries result;
  lanes.for_each(entries, [&](int e) { open[e] = 0; });
  lanes.for_each(1, [&](int) {
    for (int o = 0; o < outcomes; ++o) add(o, uses[o]);
  });
  while (result.count < kLargestEnumerated) {
    const int best = lanes
                         .argmin(entries, kernels::kInfinity,
                                 [&](int e) {
                                   return counts[e] > 0 && open[e] >= 0
                                              ? -static_cast<double>(open[e])
                                              : kernels::kInfinity;
                                 })
                         .index;
    if (best < 0 || open[best] == 0) break;
    const auto gives = [&](int o) {
      const std::uint64_t word = leading[static_cast<long>(o) * words + best / 64];
      return static_cast<unsigned>(word >> (best % 64) & 1U);
    };
    lanes.each_where(outcomes, gives, [&](int o, unsigned) {
      lanes.for_each(1, [&](int) {
        add(o, -uses[o]);
        for (int w = 0; w < words; ++w) leading[static_cast<long>(o) * words + w] = 0;
      });
    });
    lanes.for_each(1, [&](int) {
      open[best] = -1;  // taken
      chosen[result.count] = best;
    });
    ++result.count;
  }
  result.used = result.count;
  if (mixed) return result;  // a second entry of one outcome would weigh double
  const auto is_left = [&](int e) { return counts[e] > 0 && open[e] == 0 ? 1U : 0U; };
  lanes.each_where(entries, is_left, [&](int e, unsigned) {
    if (result.count == kLargestEnumerated) return;
    lanes.for_each(1, [&](int) { chosen[result.count] = e; });
    ++result.count;
  });
  return result;
}

/// Steps of all pilots, not only the first pilots', as OrderJob reads them: `kept` of `count`
/// steps; arranged [columns, stride], lowest [stride].
template <class Lanes>
CAROM_HOST_DEVICE void arrange_pilot_steps(const Lanes& lanes, int columns, int count, int kept,
                                           int stride, const double* steps, double* arranged,
                                           double* lowest) {
  lanes.for_each(stride, [&](int s) {
    if (s >= kept) {
      for (int j = 0; j < columns; ++j) arranged[j * stride + s] = 0.0;
      lowest[s] = 1.0;  // what fills the last word fails all
      return;
    }
    const long at = static_cast<long>(s) * count / kept;
    const double* z = steps + at * columns;
    for (int j = 0; j < columns; ++j) arranged[j * stride + s] = z[j];
    lowest[s] = -kernels::kModeTolerance * largest_of(z, columns);
  });
}

/// What a table is written from.
struct TableParts {
  const kernels::ImpactProblemView* problem;
  int rows, columns, most;
  const double *maps, *conditions;  ///< as in EntryJob
  const int* counts;
  const int* chosen;
  int entries;        ///< chosen ones
  const int* places;  ///< [entries, most]: order of the conditions of each
};

/// Fills first [entries + 1].
template <class Lanes>
CAROM_HOST_DEVICE void write_first(const Lanes& lanes, const TableParts& parts, int* first) {
  lanes.for_each(1, [&](int) {
    first[0] = 0;
    for (int e = 0; e < parts.entries; ++e) {
      const int others = parts.counts[parts.chosen[e]] - kernels::mode_screens(parts.columns);
      first[e + 1] =
          first[e] + kernels::padded(others > 0 ? others : 0, kernels::mode_group(parts.columns));
    }
  });
}

/// Fills numbers [ModeTableView::size]: what draws, the entries' screens, their maps, their other
/// conditions.
template <class Lanes>
CAROM_HOST_DEVICE void write_numbers(const Lanes& lanes, const TableParts& parts, const int* first,
                                     double* numbers) {
  const int columns = parts.columns;
  double largest = parts.problem->step_size;
  for (int i = 0; i < parts.rows; ++i) {
    largest = kernels::larger(kernels::magnitude(parts.problem->contact_velocity[i]), largest);
  }
  // Irregular weights: a change in the last bits of any component changes the fraction of the sum.
  lanes.for_each(columns, [&](int j) {
    numbers[j] = (67108859.0 + 1234567.891 * (j + 1) * kernels::square_root(2.0 + j)) / largest;
  });
  double* const marks = numbers + columns;
  double* const screens = marks + parts.entries;
  const int screened = kernels::mode_screens(columns);
  double* const maps = screens + static_cast<long>(parts.entries) * screened * columns;
  const int size = parts.rows * columns;
  double* const others = maps + static_cast<long>(parts.entries) * size;
  lanes.for_each(parts.entries, [&](int e) {
    const int entry = parts.chosen[e];
    const double golden = 0.6180339887498949 * static_cast<double>(e + 1);
    marks[e] = 524287.0 + 524287.0 * kernels::fraction(golden);
    // Conditions [begin, end) in their order, zero where there are none.
    const auto write = [&](int begin, int end, double* to) {
      for (int c = begin; c < end; ++c) {
        const bool none = c >= parts.counts[entry];
        const long at = none ? 0 : parts.places[static_cast<long>(e) * parts.most + c];
        const double* row =
            parts.conditions + (static_cast<long>(entry) * parts.most + at) * columns;
        for (int j = 0; j < columns; ++j) *to++ = none ? 0.0 : row[j];
      }
    };
    write(0, screened, screens + static_cast<long>(e) * screened * columns);
    const double* map = parts.maps + static_cast<long>(entry) * size;
    for (int j = 0; j < size; ++j) maps[static_cast<long>(e) * size + j] = map[j];
    write(screened, screened + first[e + 1] - first[e],
          others + static_cast<long>(first[e]) * columns);
  });
}

}  // namespace carom
