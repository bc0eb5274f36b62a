#pragma once

#include <cstdint>

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

#include "programs/kernels/doubled.hpp"

/// Lemke's method in twice the precision of a double, for the few problems that faster methods
/// leave without a certificate. A sum that cancels to less than 2^-80 of its terms is zero: with
/// data of few digits the signs that the method asks for are then those of exact arithmetic,
/// whatever the units of rows and columns, and its lexicographic rule needs no tolerances.
namespace carom::kernels {

template <class Memory>
struct DoubledLemkeLayout {
  Memory high;  ///< z and z0's coefficients, values
  Memory low;
  Memory row_high;
  Memory row_low;
  Memory column_high;
  Memory column_low;
  Memory basic;
  Memory nonbasic;
  Memory place;

  DoubledLemkeLayout() = default;
  CAROM_INLINE constexpr DoubledLemkeLayout(Arena<Memory>& arena, long order)
      : high(arena.take(order * (order + 2))),
        low(arena.take(order * (order + 2))),
        row_high(arena.take(order + 2)),
        row_low(arena.take(order + 2)),
        column_high(arena.take(order)),
        column_low(arena.take(order)),
        basic(arena.take(order)),
        nonbasic(arena.take(order + 1)),
        place(arena.take(2 * order)) {}
};
CAROM_INLINE constexpr long doubled_lemke_workspace(long order) {
  return values_of<DoubledLemkeLayout>(order);
}

enum class LemkeEnd : std::uint8_t { solution, ray, limit, broken };

inline constexpr double kCancelled = 0x1p-80;
/// What several cancellations may leave in place of zero, of the largest of a row or a column.
inline constexpr double kLeftOver = 0x1p-64;

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
      : lanes_(lanes), memory_(memory) {}

  /// entry(i, j) -> M_ij, vector(i) -> q_i: Doubled; cover(i) -> d_i > 0.
  template <class Entry, class Vector, class Cover>
  CAROM_CALL LemkeEnd run(int order, Entry&& entry, Vector&& vector, Cover&& cover,
                          int max_pivots) {
    const LemkeEnd begun = begin(order, entry, vector, cover);
    if (begun != LemkeEnd::limit) return begun;
    while (pivots_ < max_pivots) {
      if (leaving_ == 2 * n_) return LemkeEnd::solution;
      const int entering = leaving_ < n_ ? leaving_ + n_ : leaving_ - n_;
      const int column = static_cast<int>(at_.place[entering]);
      entering_ = column;
      const int row = leaving_row(column);
      if (row < 0) return LemkeEnd::ray;
      leaving_ = static_cast<int>(at_.basic[row]);
      if (!pivot(row, column)) return LemkeEnd::broken;
    }
    return leaving_ == 2 * n_ ? LemkeEnd::solution : LemkeEnd::limit;
  }

  /// From where `run` left z0 in the basis, or where `begin` put it, on to the least z0 that any
  /// z >= 0 needs for w >= 0: phase 1 of the simplex method, whose lexicographic rule ends it. True
  /// where that is positive: there is no such z, and `multiplier` is Farkas' vector.
  CAROM_CALL bool excludes_all(int max_pivots) {
    base_ = -1;
    for (int i = 0; i < n_; ++i) {
      if (static_cast<int>(at_.basic[i]) == 2 * n_) base_ = i;
    }
    if (base_ < 0) return false;
    for (; max_pivots > 0; --max_pivots) {
      int column = -1;
      double steepest = 0.0, most = 0.0;
      for (int j = 0; j <= n_; ++j) {
        const double slope = at(base_, j).hi;
        most = larger(most, magnitude(slope));
        if (slope < steepest) {
          steepest = slope;
          column = j;
        }
      }
      largest_slope_ = most;
      if (column < 0 || -steepest <= kLeftOver * most) return value(base_) > Doubled(0.0);
      const int row = leaving_row(column);
      if (row < 0 || row == base_ || !pivot(row, column)) return false;
    }
    return false;
  }
  /// y_i >= 0 of the row w_i after `excludes_all`: M'y <= 0, q'y < 0, d'y = 1.
  [[nodiscard]] CAROM_INLINE Doubled multiplier(int i) const {
    const int place = static_cast<int>(at_.place[n_ + i]);
    if (place > n_ || static_cast<int>(at_.nonbasic[place]) != n_ + i) return Doubled(0.0);
    const Doubled found = at(base_, place);
    return found.hi > kLeftOver * largest_slope_ ? found : Doubled(0.0);
  }

  /// Sets up the dictionary and lets z0 enter; `limit` where something is left to do.
  template <class Entry, class Vector, class Cover>
  CAROM_CALL LemkeEnd begin(int order, Entry&& entry, Vector&& vector, Cover&& cover) {
    n_ = order;
    stride_ = order + 2;
    at_ = placed<DoubledLemkeLayout>(memory_, n_);
    lanes_.for_each_2d(n_, stride_, [&](int i, int j) {
      put(i, j, j < n_ ? entry(i, j) : (j == n_ ? Doubled(cover(i)) : vector(i)));
    });
    lanes_.for_each(n_, [&](int i) {
      at_.basic[i] = n_ + i;
      at_.nonbasic[i] = i;
      at_.place[i] = i;
      at_.place[n_ + i] = i;
      if (i == 0) at_.nonbasic[n_] = 2 * n_;
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
    leaving_ = static_cast<int>(at_.basic[row]);
    return pivot(row, n_) ? LemkeEnd::limit : LemkeEnd::broken;
  }

  [[nodiscard]] CAROM_INLINE int pivots() const { return pivots_; }

  /// z_i of a solution.
  [[nodiscard]] CAROM_INLINE Doubled solution(int i) const {
    const int place = static_cast<int>(at_.place[i]);
    if (place >= n_ || static_cast<int>(at_.basic[place]) != i) return Doubled(0.0);
    return value(place);
  }
  /// Whether w_k is held at zero at a solution.
  [[nodiscard]] CAROM_INLINE bool holds(int k) const {
    const int place = static_cast<int>(at_.place[n_ + k]);
    return place <= n_ && static_cast<int>(at_.nonbasic[place]) == n_ + k;
  }
  /// By how much z_i answers to such a w_k.
  [[nodiscard]] CAROM_INLINE Doubled response(int i, int k) const {
    const int place = static_cast<int>(at_.place[i]);
    if (place >= n_ || static_cast<int>(at_.basic[place]) != i) return Doubled(0.0);
    return at(place, static_cast<int>(at_.place[n_ + k]));
  }
  // Row i of a solution's dictionary, basic in which is one of the pair z_k, w_k, k = pair(i).
  [[nodiscard]] CAROM_INLINE int pair(int i) const {
    const int basic = static_cast<int>(at_.basic[i]);
    return basic < n_ ? basic : basic - n_;
  }
  [[nodiscard]] CAROM_INLINE bool has_z(int i) const { return static_cast<int>(at_.basic[i]) < n_; }
  [[nodiscard]] CAROM_INLINE double level(int i) const { return value(i).hi; }
  /// Its coefficient of the nonbasic one of pair k.
  [[nodiscard]] CAROM_INLINE Doubled slope(int i, int k) const {
    const int z = static_cast<int>(at_.place[k]);
    const bool nonbasic = z <= n_ && static_cast<int>(at_.nonbasic[z]) == k;
    return at(i, nonbasic ? z : static_cast<int>(at_.place[n_ + k]));
  }
  /// Its value for other q.
  template <class Vector>
  [[nodiscard]] CAROM_INLINE Doubled value_for(int i, Vector&& vector) const {
    Doubled sum(0.0);
    for (int k = 0; k < n_; ++k) sum = sum + inverse_entry(i, k) * vector(k);
    return sum;
  }

  /// z_i of the direction in which a ray goes.
  [[nodiscard]] CAROM_INLINE Doubled direction(int i) const {
    if (static_cast<int>(at_.nonbasic[entering_]) == i) return Doubled(1.0);
    const int place = static_cast<int>(at_.place[i]);
    if (place >= n_ || static_cast<int>(at_.basic[place]) != i) return Doubled(0.0);
    return at(place, entering_);
  }

 private:
  CAROM_INLINE Doubled at(int i, int j) const {
    const long e = static_cast<long>(i) * stride_ + j;
    return {at_.high[e], at_.low[e]};
  }
  CAROM_INLINE void put(int i, int j, const Doubled& x) const {
    const long e = static_cast<long>(i) * stride_ + j;
    at_.high[e] = x.hi;
    at_.low[e] = x.lo;
  }
  CAROM_INLINE Doubled value(int i) const { return at(i, n_ + 1); }

  /// Exchanges basic[row] and nonbasic[column].
  CAROM_CALL bool pivot(int row, int column) {
    const Doubled element = at(row, column);
    if (element.hi == 0.0 || !is_finite(element)) return false;
    const Doubled inverse = Doubled(1.0) / element;
    lanes_.for_each(stride_, [&](int j) {
      const Doubled x = j == column ? inverse : -(at(row, j) * inverse);
      at_.row_high[j] = x.hi;
      at_.row_low[j] = x.lo;
    });
    lanes_.for_each(n_, [&](int i) {
      const Doubled x = at(i, column);
      at_.column_high[i] = i == row ? 0.0 : x.hi;
      at_.column_low[i] = i == row ? 0.0 : x.lo;
    });
    lanes_.for_each_2d(n_, stride_, [&](int i, int j) {
      const Doubled by{at_.row_high[j], at_.row_low[j]};
      if (i == row) return put(i, j, by);
      const Doubled factor{at_.column_high[i], at_.column_low[i]};
      if (factor.hi == 0.0) return;
      if (j == column) return put(i, j, factor * by);
      if (by.hi != 0.0) put(i, j, cancelled_sum(at(i, j), factor * by));
    });
    const int entering = static_cast<int>(at_.nonbasic[column]);
    const int leaving = static_cast<int>(at_.basic[row]);
    lanes_.for_each(1, [&](int) {
      at_.basic[row] = entering;
      at_.nonbasic[column] = leaving;
      if (entering < 2 * n_) at_.place[entering] = row;
      if (leaving < 2 * n_) at_.place[leaving] = column;
    });
    ++pivots_;
    return true;
  }

  /// The row whose basic variable first reaches zero, or -1.
  CAROM_CALL int leaving_row(int column) const {
    double steepest = 0.0;
    for (int i = 0; i < n_; ++i) steepest = larger(steepest, magnitude(at(i, column).hi));
    int best = -1;
    for (int i = 0; i < n_; ++i) {
      if (!(at(i, column).hi < -kCancelled * steepest)) continue;
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
    if (static_cast<int>(at_.basic[a]) == 2 * n_) return true;
    if (static_cast<int>(at_.basic[b]) == 2 * n_) return false;
    for (int k = 0; k < n_; ++k) {
      const double by_inverse = difference(inverse_entry(a, k), inverse_entry(b, k));
      if (by_inverse != 0.0) return by_inverse < 0.0;
    }
    return a < b;
  }

  /// B^-1 maps q to the values: its column k is the negative coefficient of w_k, or a unit vector.
  CAROM_INLINE Doubled inverse_entry(int row, int k) const {
    const int place = static_cast<int>(at_.place[n_ + k]);
    if (place < n_ && static_cast<int>(at_.basic[place]) == n_ + k) {
      return Doubled(row == place ? 1.0 : 0.0);
    }
    return -at(row, place);
  }

  const Lanes& lanes_;
  int n_ = 0;
  int stride_ = 0;
  Memory memory_;
  DoubledLemkeLayout<Memory> at_;
  int pivots_ = 0;
  int entering_ = 0;
  int leaving_ = 0;
  int base_ = 0;  // z0's row, for `multiplier`
  double largest_slope_ = 0.0;
};

}  // namespace carom::kernels
