#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

/// Solves the step (75) by look-up: for each combination of contact modes the impulse is a linear
/// function of z = [u; lambda_max], and the combination is valid if some other linear functions
/// of z are not negative. All samples of a problem share these functions. If no entry solves a
/// step, the contact path does.
namespace carom::kernels {

/// Most contacts of a problem that gets a table.
inline constexpr int kMaxPlanarTableContacts = 6;
inline constexpr int kMaxSpatialTableContacts = 4;

/// How far below zero a condition may be, relative to max|z|.
inline constexpr double kModeTolerance = 1e-13;

/// Conditions of an entry that are tried before any branch: most entries fail one of them.
CAROM_HOST_DEVICE constexpr int mode_screens(int columns) { return columns <= 6 ? 4 : 2; }
/// Entries screened, and further conditions tried, between two branches.
CAROM_HOST_DEVICE constexpr int mode_block(int columns) { return columns <= 9 ? 4 : 8; }
CAROM_HOST_DEVICE constexpr int mode_group(int columns) { return columns <= 9 ? 2 : 4; }

struct ModeTableView {
  int count = 0;                    ///< entries
  bool mixed = false;               ///< some steps have several v': draw among the entries
  double path_share = 0.0;          ///< share of such a problem's steps that is left to the path
  const int* first = nullptr;       ///< [count + 1]: entry e has rest[first[e]..first[e + 1]]
  const double* numbers = nullptr;  ///< the arrays below, one after the other

  /// Weights of z in the number that draws, [rows + m].
  [[nodiscard]] CAROM_INLINE const double* mix() const { return numbers; }
  /// Of each entry, [count]: makes a number of its own out of the step's.
  [[nodiscard]] CAROM_INLINE const double* weights(int columns) const { return numbers + columns; }
  /// Conditions that mostly decide, [count, mode_screens, rows + m]; zero where there is none.
  [[nodiscard]] CAROM_INLINE const double* screens(int columns) const {
    return weights(columns) + count;
  }
  /// impulse = map z, [count, rows, rows + m].
  [[nodiscard]] CAROM_INLINE const double* maps(int columns) const {
    return screens(columns) + static_cast<long>(count) * mode_screens(columns) * columns;
  }
  /// The other conditions, [first[count], rows + m], filled up with zero to groups.
  [[nodiscard]] CAROM_INLINE const double* rest(int rows, int columns) const {
    return maps(columns) + static_cast<long>(count) * rows * columns;
  }
  /// Length of `numbers` with `rest` rows of that name.
  CAROM_HOST_DEVICE static constexpr long size(int rows, int columns, long count, long rest) {
    return columns + count + (count * (rows + mode_screens(columns)) + rest) * columns;
  }
};

/// row . z in two chains of multiply-adds.
template <class V>
CAROM_INLINE V mode_row(const double* row, int columns, const V* z) {
  V even = V(row[0]) * z[0];
  V odd = V(row[1]) * z[1];
  for (int j = 2; j + 1 < columns; j += 2) {
    even = fused(V(row[j]), z[j], even);
    odd = fused(V(row[j + 1]), z[j + 1], odd);
  }
  if (columns % 2 != 0) even = fused(V(row[columns - 1]), z[columns - 1], even);
  return even + odd;
}

/// A number in [0, 1) that every bit of the step's data decides.
template <class V>
CAROM_INLINE V mode_number(const double* mix, int columns, const V* z) {
  return fraction(V(1048583.618) * fraction(mode_row(mix, columns, z)));
}

/// What the entry is ordered by among those that solve a step: the table's order, or a draw.
template <class V>
CAROM_INLINE V mode_key(const ModeTableView& table, const double* weights, int entry, V number) {
  return table.mixed ? fraction(V(weights[entry]) * number) : V(static_cast<double>(entry));
}

template <class V>
CAROM_INLINE V mode_floor(int columns, const V* z) {
  V scale = magnitude(z[0]);
  for (int i = 1; i < columns; ++i) scale = larger(scale, magnitude(z[i]));
  return V(-kModeTolerance) * scale;
}

/// Whether the entry's screens hold.
template <class V>
CAROM_INLINE auto mode_passes(const double* screens, int columns, const V* z, V lowest) {
  auto passes = mode_row(screens, columns, z) >= lowest;
  for (int c = 1; c < mode_screens(columns); ++c) {
    passes = passes & (mode_row(screens + c * columns, columns, z) >= lowest);
  }
  return passes;
}

/// Fills impulse [rows] with the answer of the entry of smallest key that solves the step
/// z [rows + m]; true (per lane of a pack) where there is one. V: double or a pack.
template <class V>
CAROM_INLINE auto find_mode(const ModeTableView& table, int rows, int m, const V* z, V* impulse) {
  const int columns = rows + m;
  const V lowest = mode_floor(columns, z);
  const V none(kInfinity);
  const V number = table.mixed ? mode_number(table.mix(), columns, z) : V(0.0);
  const double* weights = table.weights(columns);
  const double* screens = table.screens(columns);
  const double* maps = table.maps(columns);
  const double* rest = table.rest(rows, columns);
  using Mask = decltype(lowest < none);
  // Below every key: no entry is asked.
  V best = table.mixed ? select(number < V(table.path_share), V(-1.0), none) : none;
  for (int i = 0; i < rows; ++i) impulse[i] = V(0.0);
  const int block = mode_block(columns);
  const int group = mode_group(columns);
  for (int begin = 0; begin < table.count; begin += block) {
    const int end = begin + block < table.count ? begin + block : table.count;
    Mask passes[8];
    unsigned live = 0;
    for (int entry = begin; entry < end; ++entry) {
      const V key = mode_key(table, weights, entry, number);
      const Mask some = (key < best) & mode_passes(screens + static_cast<long>(entry) *
                                                                 mode_screens(columns) * columns,
                                                   columns, z, lowest);
      passes[entry - begin] = some;
      live |= static_cast<unsigned>(any_of(some)) << (entry - begin);
    }
    for (; live != 0U; live &= live - 1U) {
      const int at = lowest_bit(live);
      const int entry = begin + at;
      const V key = mode_key(table, weights, entry, number);
      Mask solves = passes[at] & (key < best);
      const double* row = rest + static_cast<long>(table.first[entry]) * columns;
      const double* const last = rest + static_cast<long>(table.first[entry + 1]) * columns;
      for (; any_of(solves) && row < last; row += group * columns) {
        for (int c = 0; c < group; ++c) {
          solves = solves & (mode_row(row + c * columns, columns, z) >= lowest);
        }
      }
      if (!any_of(solves)) continue;
      best = select(solves, key, best);
      const double* map = maps + static_cast<long>(entry) * rows * columns;
      for (int i = 0; i < rows; ++i) {
        impulse[i] = select(solves, mode_row(map + i * columns, columns, z), impulse[i]);
      }
    }
    if (!table.mixed && all_of(best < none)) break;
  }
  return (best < none) & (best >= V(0.0));
}

/// The same answer by lanes that share the entries out.
template <class Lanes>
CAROM_INLINE bool find_mode_by(const Lanes& lanes, const ModeTableView& table, int rows, int m,
                               const double* z, double* impulse) {
  const int columns = rows + m;
  const double lowest = mode_floor(columns, z);
  const double number = table.mixed ? mode_number(table.mix(), columns, z) : 0.0;
  if (table.mixed && number < table.path_share) return false;
  const double* screens = table.screens(columns);
  const double* rest = table.rest(rows, columns);
  const ArgMin<double> best = lanes.argmin(table.count, kInfinity, [&](int entry) {
    bool solves = mode_passes(screens + static_cast<long>(entry) * mode_screens(columns) * columns,
                              columns, z, lowest);
    for (int c = table.first[entry]; solves && c < table.first[entry + 1]; ++c) {
      solves = mode_row(rest + static_cast<long>(c) * columns, columns, z) >= lowest;
    }
    return solves ? mode_key(table, table.weights(columns), entry, number) : kInfinity;
  });
  if (best.index < 0) return false;
  const double* map = table.maps(columns) + static_cast<long>(best.index) * rows * columns;
  lanes.for_each(rows, [&](int i) { impulse[i] = mode_row(map + i * columns, columns, z); });
  return true;
}

}  // namespace carom::kernels
