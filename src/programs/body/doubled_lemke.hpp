#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

#include "programs/body/doubled.hpp"

/// Lemke's method in twice the precision of a double, for the few problems that faster methods
/// leave without a certificate. A sum that cancels to less than 2^-58 of its terms is zero: with
/// data of few digits the signs that the method asks for are then those of exact arithmetic,
/// whatever the units of rows and columns, and its lexicographic rule needs no tolerances.
namespace carom::kernels {

CAROM_INLINE constexpr long doubled_lemke_workspace(long order) {
  return 2 * order * (order + 2) + 2 * (order + 2) + 2 * order + 4 * order + 1;
}

enum class LemkeEnd : std::uint8_t { solution, ray, limit, broken };

inline constexpr double kCancelled = 0x1p-58;

/// a + b where what is left of a cancellation by rounding counts as nothing.
CAROM_INLINE Doubled cancelled_sum(const Doubled& a, const Doubled& b) {
  const Doubled sum = a + b;
  return magnitude(sum.hi) <= kCancelled * magnitude(a.hi) ? Doubled(0.0) : sum;
}

/// w = M z + q + d z0, all >= 0, z'w = 0 (Cottle, Pang, Stone 2009, 4.4), as a dictionary of basic
/// variables over nonbasic ones. Variables: z_i is i, w_i is n + i, z0 is 2n.
template <class Lanes, class Memory>
class DoubledLemke {
 public:
  /// memory: doubled_lemke_workspace of the largest order.
  CAROM_HOST_DEVICE DoubledLemke(const Lanes& lanes, const Memory& memory)
      : lanes_(lanes), high_(memory) {}

  /// entry(i, j) -> M_ij, vector(i) -> q_i: Doubled; cover(i) -> d_i > 0.
  template <class Entry, class Vector, class Cover>
  CAROM_HOST_DEVICE LemkeEnd run(int order, Entry&& entry, Vector&& vector, Cover&& cover,
                                 int max_pivots) {
    n_ = order;
    stride_ = order + 2;
    const long cells = static_cast<long>(n_) * stride_;
    low_ = high_ + cells;
    row_high_ = low_ + cells;
    row_low_ = row_high_ + stride_;
    column_high_ = row_low_ + stride_;
    column_low_ = column_high_ + n_;
    basic_ = column_low_ + n_;
    nonbasic_ = basic_ + n_;
    place_ = nonbasic_ + (n_ + 1);
    lanes_.for_each_2d(n_, stride_, [&](int i, int j) {
      put(i, j, j < n_ ? entry(i, j) : (j == n_ ? Doubled(cover(i)) : vector(i)));
    });
    lanes_.for_each(n_, [&](int i) {
      basic_[i] = n_ + i;
      nonbasic_[i] = i;
      place_[i] = i;
      place_[n_ + i] = i;
      if (i == 0) nonbasic_[n_] = 2 * n_;
    });
    pivots_ = 0;
    // z0 enters where q / d is least, in the lexicographic order of [q, I] / d the last of these.
    int row = -1;
    for (int i = 0; i < n_; ++i) {
      if (!is_finite(value(i))) return LemkeEnd::broken;
      if (!(value(i) < Doubled(0.0))) continue;
      if (row < 0 || value(i) * at(row, n_).hi <= value(row) * at(i, n_).hi) row = i;
    }
    if (row < 0) return LemkeEnd::solution;
    int column = n_;
    while (pivots_ < max_pivots) {
      const int leaving = static_cast<int>(basic_[row]);
      if (!pivot(row, column)) return LemkeEnd::broken;
      ++pivots_;
      if (leaving == 2 * n_) return LemkeEnd::solution;
      const int entering = leaving < n_ ? leaving + n_ : leaving - n_;
      column = static_cast<int>(place_[entering]);
      entering_ = column;
      row = leaving_row(column);
      if (row < 0) return LemkeEnd::ray;
    }
    return LemkeEnd::limit;
  }

  [[nodiscard]] CAROM_INLINE int pivots() const { return pivots_; }

  /// z_i of a solution.
  [[nodiscard]] CAROM_INLINE Doubled solution(int i) const {
    const int place = static_cast<int>(place_[i]);
    if (place >= n_ || static_cast<int>(basic_[place]) != i) return Doubled(0.0);
    return value(place);
  }
  /// z_i of the direction in which a ray goes.
  [[nodiscard]] CAROM_INLINE Doubled direction(int i) const {
    if (static_cast<int>(nonbasic_[entering_]) == i) return Doubled(1.0);
    const int place = static_cast<int>(place_[i]);
    if (place >= n_ || static_cast<int>(basic_[place]) != i) return Doubled(0.0);
    return at(place, entering_);
  }

 private:
  CAROM_INLINE Doubled at(int i, int j) const {
    const long e = static_cast<long>(i) * stride_ + j;
    return {high_[e], low_[e]};
  }
  CAROM_INLINE void put(int i, int j, const Doubled& x) const {
    const long e = static_cast<long>(i) * stride_ + j;
    high_[e] = x.hi;
    low_[e] = x.lo;
  }
  CAROM_INLINE Doubled value(int i) const { return at(i, n_ + 1); }

  /// Exchanges basic_[row] and nonbasic_[column].
  CAROM_HOST_DEVICE bool pivot(int row, int column) {
    const Doubled element = at(row, column);
    if (element.hi == 0.0 || !is_finite(element)) return false;
    const Doubled inverse = Doubled(1.0) / element;
    lanes_.for_each(stride_, [&](int j) {
      const Doubled x = j == column ? inverse : -(at(row, j) * inverse);
      row_high_[j] = x.hi;
      row_low_[j] = x.lo;
    });
    lanes_.for_each(n_, [&](int i) {
      const Doubled x = at(i, column);
      column_high_[i] = i == row ? 0.0 : x.hi;
      column_low_[i] = i == row ? 0.0 : x.lo;
    });
    lanes_.for_each_2d(n_, stride_, [&](int i, int j) {
      const Doubled by{row_high_[j], row_low_[j]};
      if (i == row) return put(i, j, by);
      const Doubled factor{column_high_[i], column_low_[i]};
      if (factor.hi == 0.0) return;
      if (j == column) return put(i, j, factor * by);
      if (by.hi != 0.0) put(i, j, cancelled_sum(at(i, j), factor * by));
    });
    const int entering = static_cast<int>(nonbasic_[column]);
    const int leaving = static_cast<int>(basic_[row]);
    lanes_.for_each(1, [&](int) {
      basic_[row] = entering;
      nonbasic_[column] = leaving;
      if (entering < 2 * n_) place_[entering] = row;
      if (leaving < 2 * n_) place_[leaving] = column;
    });
    return true;
  }

  /// The row whose basic variable first reaches zero, or -1.
  CAROM_HOST_DEVICE int leaving_row(int column) const {
    int best = -1;
    for (int i = 0; i < n_; ++i) {
      if (!(at(i, column) < Doubled(0.0))) continue;
      if (best < 0 || precedes_row(i, best, column)) best = i;
    }
    return best;
  }

  /// Whether [value, B^-1]_a / rate_a is lexicographically less; z0 wins a tie of values.
  CAROM_HOST_DEVICE bool precedes_row(int a, int b, int column) const {
    const Doubled rate_a = -at(a, column);
    const Doubled rate_b = -at(b, column);
    const auto difference = [&](const Doubled& x, const Doubled& y) {
      return cancelled_sum(x * rate_b, -(y * rate_a)).hi;
    };
    const double by_value = difference(value(a), value(b));
    if (by_value != 0.0) return by_value < 0.0;
    if (static_cast<int>(basic_[a]) == 2 * n_) return true;
    if (static_cast<int>(basic_[b]) == 2 * n_) return false;
    for (int k = 0; k < n_; ++k) {
      const double by_inverse = difference(inverse_entry(a, k), inverse_entry(b, k));
      if (by_inverse != 0.0) return by_inverse < 0.0;
    }
    return a < b;
  }

  /// B^-1 maps q to the values: its column k is the negative coefficient of w_k, or a unit vector.
  CAROM_INLINE Doubled inverse_entry(int row, int k) const {
    const int place = static_cast<int>(place_[n_ + k]);
    if (place < n_ && static_cast<int>(basic_[place]) == n_ + k) {
      return Doubled(row == place ? 1.0 : 0.0);
    }
    return -at(row, place);
  }

  const Lanes& lanes_;
  int n_ = 0;
  int stride_ = 0;
  Memory high_, low_;                // [n, n + 2]: z and z0's coefficients, values
  Memory row_high_, row_low_;        // [n + 2]
  Memory column_high_, column_low_;  // [n]
  Memory basic_, nonbasic_, place_;  // [n], [n + 1], [2 n]
  int pivots_ = 0;
  int entering_ = 0;
};

}  // namespace carom::kernels
