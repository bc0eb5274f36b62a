#pragma once

#include <type_traits>

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

#include "programs/kernels/doubled.hpp"
#include "programs/lcp/kernels/box_rule.hpp"
#include "programs/lcp/kernels/lemke.hpp"

/// Lemke's method on a box, with a tableau of order n instead of 2 n: 0 <= x <= u, v = N x + r,
/// v_i >= 0 if x_i = 0, v_i <= 0 if x_i = u_i, v_i = 0 between; free x_i have v_i = 0.
namespace carom::kernels {

enum class BoxEnd {
  solution,
  ray,     ///< a secondary ray
  limit,   ///< too many pivots
  broken,  ///< overflow, or a pivot that vanishes
};

template <class Memory>
struct BoxLemkeLayout {
  Memory tableau;  ///< [n, n + 1]
  Memory value;    ///< of the basic variables
  Memory row;
  Memory column;
  Memory low;  ///< second halves of all these in double-double arithmetic
  Memory basic;
  Memory nonbasic;
  Memory place;
  Memory side;  ///< 1 if x_i is at u_i or left it

  BoxLemkeLayout() = default;
  CAROM_INLINE constexpr BoxLemkeLayout(Arena<Memory>& arena, long n, bool doubled)
      : tableau(arena.take(n * (n + 1))),
        value(arena.take(n)),
        row(arena.take(n + 1)),
        column(arena.take(n)),
        low(arena.take(doubled ? n * (n + 1) + 3 * n + 1 : 0)),
        basic(arena.take(n)),
        nonbasic(arena.take(n + 1)),
        place(arena.take(2 * n)),
        side(arena.take(n)) {}
};
CAROM_HOST_DEVICE constexpr long box_lemke_workspace(int n, bool doubled) {
  return values_of<BoxLemkeLayout>(n, doubled);
}

/// x_i is variable i, v_i is n + i, t is 2 n. The tableau has the derivatives of the basic
/// variables by the nonbasic ones, which are at a bound; `value` has the values of the basic ones.
/// v is replaced by v + d t; t starts where x = 0 is an answer and falls to zero. The ratio test
/// knows both bounds of a basic x_i and the sign of a basic v_i. An entering x_i that meets its
/// other bound first stays there without a pivot. Ties are decided lexicographically by [distance,
/// +-B^-1], t first (Cottle, Pang, Stone 2009, 4.4). In double-double arithmetic the only tolerance
/// is that a sum below 2^-80 of its terms counts as zero.
template <class Lanes, class Number>
class BoxLemke {
  static constexpr bool kDoubled = sizeof(Number) > sizeof(double);

 public:
  /// memory: box_lemke_workspace(n, Number is Doubled).
  CAROM_HOST_DEVICE BoxLemke(const Lanes& lanes, int n, double* memory)
      : lanes_(lanes), n_(n), at_(placed<BoxLemkeLayout>(memory, n, kDoubled)) {}

  /// entry(i, j) -> N_ij, vector(i) -> r_i: Number; width(i) -> u_i > 0, infinite where absent;
  /// is_free(i); cover(i) -> d_i > 0.
  template <class Entry, class Vector, class Width, class Free, class Cover>
  CAROM_CALL BoxEnd run(Entry&& entry, Vector&& vector, Width&& width, Free&& is_free,
                        Cover&& cover, int max_pivots) {
    begin(entry, vector, cover);
    if (!eliminate(is_free)) return BoxEnd::broken;
    int row = -1;
    for (int i = 0; i < n_; ++i) {
      if (!is_finite(value(i))) return BoxEnd::broken;
      if (basic(i) < n_ || !(value(i) < Number(0.0))) continue;
      // t rises until the last v_i is zero; at(i, t) > 0 but for the free rows' answers to t.
      if (!(at(i, cover_) > Number(0.0))) continue;
      if (row < 0 || !(value(row) * at(i, cover_) < value(i) * at(row, cover_))) row = i;
    }
    if (row < 0) {
      for (int i = 0; i < n_; ++i) {
        if (basic(i) >= n_ && value(i) < Number(0.0)) return BoxEnd::broken;
      }
      return BoxEnd::solution;
    }
    scale_ = magnitude(double(value(row)));
    int leaving = basic(row);
    move(cover_, -(value(row) / at(row, cover_)));
    put_value(row, Number(0.0));
    const Number level = level_;
    if (!pivot(row, cover_, level)) return BoxEnd::broken;
    while (pivots_ < max_pivots) {
      const int pair = leaving < n_ ? leaving : leaving - n_;
      const int entering = leaving < n_ ? leaving + n_ : leaving - n_;
      const int column = place(entering);
      const bool falls = side(pair) != 0;
      const double own = entering < n_ ? width(pair) : kInfinity;
      const Block block = ratio_test(column, falls, own, width, is_free);
      if (block.row == kRay) return end_or(BoxEnd::ray);
      if (block.row == kBroken) return end_or(BoxEnd::broken);
      if (block.row == kFlip) {
        move(column, falls ? -Number(own) : Number(own));
        put_side(pair, falls ? 0 : 1);
        leaving = entering;
        ++pivots_;
        continue;
      }
      leaving = basic(block.row);
      const bool up = block.at_upper;
      const Number step = falls ? -block.step : block.step;
      move(column, step);
      const Number from = entering < n_ && falls ? Number(own) : Number(0.0);
      if (leaving < n_) put_side(leaving, up ? 1 : 0);
      if (!pivot(block.row, column, from + step)) return end_or(BoxEnd::broken);
      if (leaving == 2 * n_) return BoxEnd::solution;
    }
    return end_or(BoxEnd::limit);
  }

  [[nodiscard]] CAROM_INLINE int pivots() const { return pivots_; }

  /// x_i at the end; exactly 0 or u_i if it is not basic.
  template <class Width>
  [[nodiscard]] CAROM_INLINE Number solution(int i, Width&& width) const {
    const int p = place(i);
    if (p < n_ && basic(p) == i) return value(p);
    return side(i) != 0 ? Number(width(i)) : Number(0.0);
  }
  [[nodiscard]] CAROM_INLINE bool has_x(int i) const {
    const int p = place(i);
    return p < n_ && basic(p) == i;
  }
  /// Whether v_k is held at zero at the end.
  [[nodiscard]] CAROM_INLINE bool holds(int k) const {
    const int p = place(n_ + k);
    return p <= n_ && nonbasic(p) == n_ + k;
  }
  /// The derivative of a basic x_i by such a v_k.
  [[nodiscard]] CAROM_INLINE Number response(int i, int k) const {
    return at(place(i), place(n_ + k));
  }

 private:
  static constexpr int kRay = -1, kBroken = -2, kFlip = -3;
  struct Block {
    int row;
    bool at_upper;
    Number step;
  };

  CAROM_INLINE Number load(const double* high, long offset, long e) const {
    if constexpr (kDoubled) {
      return {high[e], at_.low[offset + e]};
    } else {
      return high[e];
    }
  }
  CAROM_INLINE void store(double* high, long offset, long e, const Number& x) const {
    if constexpr (kDoubled) {
      high[e] = x.hi;
      at_.low[offset + e] = x.lo;
    } else {
      high[e] = x;
    }
  }
  CAROM_INLINE long values_low() const { return static_cast<long>(n_) * (n_ + 1); }
  CAROM_INLINE long row_low() const { return values_low() + n_; }
  CAROM_INLINE long column_low() const { return row_low() + n_ + 1; }
  CAROM_INLINE Number at(int i, int j) const {
    return load(at_.tableau, 0, static_cast<long>(i) * (n_ + 1) + j);
  }
  CAROM_INLINE void put(int i, int j, const Number& x) const {
    store(at_.tableau, 0, static_cast<long>(i) * (n_ + 1) + j, x);
  }
  CAROM_INLINE Number value(int i) const { return load(at_.value, values_low(), i); }
  CAROM_INLINE void put_value(int i, const Number& x) const {
    store(at_.value, values_low(), i, x);
  }
  CAROM_INLINE int basic(int i) const { return static_cast<int>(at_.basic[i]); }
  CAROM_INLINE int nonbasic(int j) const { return static_cast<int>(at_.nonbasic[j]); }
  CAROM_INLINE int place(int variable) const { return static_cast<int>(at_.place[variable]); }
  CAROM_INLINE int side(int i) const { return static_cast<int>(at_.side[i]); }
  CAROM_INLINE void put_side(int i, int to) const {
    lanes_.for_each(1, [&](int) { at_.side[i] = to; });
  }
  static CAROM_INLINE double size_of(const Number& x) { return magnitude(double(x)); }
  /// a + b; zero if it cancels to rounding in double-double arithmetic.
  static CAROM_INLINE Number sum(const Number& a, const Number& b) {
    const Number s = a + b;
    if constexpr (kDoubled) {
      if (size_of(s) <= 0x1p-80 * larger(size_of(a), size_of(b))) return Number(0.0);
    }
    return s;
  }

  /// a + factor * by; a if `by` is zero.
  template <class V>
  static CAROM_INLINE DoubledOf<V> sum_or(const DoubledOf<V>& a, const DoubledOf<V>& factor,
                                          const DoubledOf<V>& by) {
    const DoubledOf<V> product = factor * by;
    const DoubledOf<V> s = a + product;
    const V size = larger(magnitude(a.hi), magnitude(product.hi));
    const auto cancels = magnitude(s.hi) <= V(0x1p-80) * size;
    const auto there = by.hi != V(0.0);
    const V zero(0.0);
    return {select(there, select(cancels, zero, s.hi), a.hi),
            select(there, select(cancels, zero, s.lo), a.lo)};
  }
  /// Row i of a pivot's update, in the lane's registers where it has some.
  CAROM_INLINE void add_row(int i, int row, int column) const {
    const long first = static_cast<long>(i) * (n_ + 1);
    if (i == row) {
      for (int j = 0; j <= n_; ++j) put(i, j, load(at_.row, row_low(), j));
      return;
    }
    const Number factor = load(at_.column, column_low(), i);
    if (factor.hi == 0.0) return;
    double* const high = at_.tableau + first;
    double* const low = at_.low + first;
    const double* const by = at_.row;
    const double* const by_low = at_.low + row_low();
    int j = 0;
    if constexpr (requires { typename Lanes::Register; }) {
      using Pack = typename Lanes::Register;
      constexpr int kWidth = static_cast<int>(sizeof(Pack) / sizeof(double));
      const DoubledOf<Pack> by_factor{Pack(factor.hi), Pack(factor.lo)};
      for (; j + kWidth <= n_ + 1; j += kWidth) {
        const DoubledOf<Pack> x =
            sum_or(DoubledOf<Pack>{Pack::load(high + j), Pack::load(low + j)}, by_factor,
                   DoubledOf<Pack>{Pack::load(by + j), Pack::load(by_low + j)});
        x.hi.store(high + j);
        x.lo.store(low + j);
      }
    }
    for (; j <= n_; ++j) {
      if (by[j] == 0.0) continue;
      const Number x = sum_or(Number{high[j], low[j]}, factor, Number{by[j], by_low[j]});
      high[j] = x.hi;
      low[j] = x.lo;
    }
    put(i, column, factor * load(at_.row, row_low(), column));
  }

  template <class Entry, class Vector, class Cover>
  CAROM_CALL void begin(Entry&& entry, Vector&& vector, Cover&& cover) {
    lanes_.for_each_2d(n_, n_ + 1,
                       [&](int i, int j) { put(i, j, j < n_ ? entry(i, j) : Number(cover(i))); });
    lanes_.for_each(n_, [&](int i) {
      put_value(i, vector(i));
      at_.basic[i] = n_ + i;
      at_.nonbasic[i] = i;
      at_.place[i] = i;
      at_.place[n_ + i] = i;
      at_.side[i] = 0.0;
      if (i == 0) at_.nonbasic[n_] = 2 * n_;
    });
    cover_ = n_;
    pivots_ = 0;
    level_ = Number(0.0);
  }

  /// Free x_i enter for free v_i, the largest entry of their block first.
  template <class Free>
  CAROM_CALL bool eliminate(Free&& is_free) {
    for (;;) {
      const auto is_open = [&](int i) { return basic(i) >= n_ && is_free(basic(i) - n_); };
      bool open = false;
      for (int i = 0; i < n_; ++i) open = open || is_open(i);
      if (!open) return true;
      const auto largest = lanes_.argmin(n_ * n_, 0.0, [&](int e) {
        const int v = nonbasic(e % n_);
        return is_open(e / n_) && v < n_ && is_free(v) ? -size_of(at(e / n_, e % n_)) : 0.0;
      });
      if (largest.index < 0) return false;
      const int row = largest.index / n_, column = largest.index % n_;
      const Number step = -(value(row) / at(row, column));
      move(column, step);
      if (!pivot(row, column, step)) return false;
      cover_ = n_;
    }
  }

  /// Moves nonbasic[column] by `step` and updates the values of the basic variables.
  CAROM_CALL void move(int column, const Number& step) {
    lanes_.for_each(n_, [&](int i) { put_value(i, sum(value(i), at(i, column) * step)); });
    level_ = step;
  }

  /// Exchanges basic[row] and nonbasic[column], whose value is `level`.
  CAROM_CALL bool pivot(int row, int column, const Number& level) {
    const Number element = at(row, column);
    if (!(size_of(element) > 0.0) || !is_finite(element)) return false;
    const Number inverse = Number(1.0) / element;
    lanes_.for_each(n_ + 1, [&](int j) {
      store(at_.row, row_low(), j, j == column ? inverse : -(at(row, j) * inverse));
    });
    lanes_.for_each(n_, [&](int i) {
      store(at_.column, column_low(), i, i == row ? Number(0.0) : at(i, column));
    });
    if constexpr (kDoubled && std::is_base_of_v<SingleLane, Lanes>) {
      for (int i = 0; i < n_; ++i) add_row(i, row, column);
    } else if constexpr (kDoubled) {
      lanes_.for_each_2d(n_, n_ + 1, [&](int i, int j) {
        const Number by = load(at_.row, row_low(), j);
        if (i == row) return put(i, j, by);
        const Number factor = load(at_.column, column_low(), i);
        if (j == column) return put(i, j, factor * by);
        if (factor.hi != 0.0) put(i, j, sum_or(at(i, j), factor, by));
      });
    } else {
      // Products and sums rounded one by one: this is compiled for any processor, where a fused
      // product is a call.
      if constexpr (std::is_base_of_v<SingleLane, Lanes>) {
        for (int i = 0; i < n_; ++i) {
          double* __restrict to = at_.tableau + static_cast<long>(i) * (n_ + 1);
          const double* __restrict from = at_.row;
          const double factor = at_.column[i];
          if (i == row) {
            for (int j = 0; j <= n_; ++j) to[j] = from[j];
          } else if (factor != 0.0) {
            for (int j = 0; j <= n_; ++j) to[j] += factor * from[j];
            to[column] = factor * from[column];
          }
        }
      } else {
        lanes_.for_each_2d(n_, n_ + 1, [&](int i, int j) {
          const double by = at_.row[j], factor = at_.column[i];
          if (i == row) return put(i, j, by);
          if (factor != 0.0) put(i, j, j == column ? factor * by : at(i, j) + factor * by);
        });
      }
    }
    put_values_of(row, level);
    const int entering = nonbasic(column);
    const int leaving = basic(row);
    lanes_.for_each(1, [&](int) {
      at_.basic[row] = entering;
      at_.nonbasic[column] = leaving;
      if (entering < 2 * n_) at_.place[entering] = row;
      if (leaving < 2 * n_) at_.place[leaving] = column;
    });
    ++pivots_;
    return true;
  }
  CAROM_INLINE void put_values_of(int row, const Number& level) const {
    lanes_.for_each(1, [&](int) { put_value(row, level); });
  }

  /// Distance of basic[i] from the bound that it meets as nonbasic[column] moves, and the rate at
  /// which it approaches it; rate 0 if it meets none.
  struct Approach {
    Number distance, rate;
    bool at_upper;
  };
  template <class Width, class Free>
  CAROM_INLINE Approach approach(int i, int column, bool falls, Width&& width,
                                 Free&& is_free) const {
    const Number slope = falls ? -at(i, column) : at(i, column);
    const bool up = slope > Number(0.0);
    const int b = basic(i);
    if (b == 2 * n_) return {value(i), up ? Number(0.0) : -slope, false};
    if (b >= n_) {
      const bool above = side(b - n_) != 0;  // v_i <= 0
      if (up != above) return {Number(0.0), Number(0.0), false};
      return {above ? -value(i) : value(i), up ? slope : -slope, above};
    }
    if (is_free(b)) return {Number(0.0), Number(0.0), false};
    if (!up) return {value(i), -slope, false};
    const double most = width(b);
    if (!(most < kInfinity)) return {Number(0.0), Number(0.0), false};
    return {Number(most) - value(i), slope, true};
  }

  /// Row whose basic variable first meets a bound as nonbasic[column] moves, or kFlip if its own
  /// other bound, at distance `own`, comes first.
  template <class Width, class Free>
  CAROM_CALL Block ratio_test(int column, bool falls, double own, Width&& width, Free&& is_free) {
    const auto broken = lanes_.argmin(
        n_, kInfinity, [&](int i) { return is_finite(at(i, column)) ? kInfinity : 0.0; });
    if (broken.index >= 0) return {kBroken, false, Number(0.0)};
    const auto steepest = lanes_.argmin(n_, 1.0, [&](int i) { return -size_of(at(i, column)); });
    const double smallest = kDoubled ? 0.0 : LemkeRule::kPivotTolerance * -steepest.key;
    const auto near = [&](int i) { return approach(i, column, falls, width, is_free); };
    const auto counts = [&](const Approach& a) { return double(a.rate) > smallest; };
    const auto left = [](const Approach& a) {
      return a.distance > Number(0.0) ? a.distance : Number(0.0);
    };
    double first = own;
    if constexpr (!kDoubled) {
      const auto nearest = lanes_.argmin(n_, own, [&](int i) {
        const Approach a = near(i);
        return counts(a) ? left(a) / a.rate : kInfinity;
      });
      if (nearest.index >= 0) first = nearest.key;
    }
    int best = kRay;
    Approach chosen{Number(own), Number(1.0), false};
    if (own < kInfinity) best = kFlip;
    if constexpr (!kDoubled) {
      if (best == kFlip && own - first > LemkeRule::kTieTolerance * larger(scale_, own)) {
        best = kRay;
      }
    }
    const auto blocks = [&](int i) {
      const Approach a = near(i);
      if constexpr (kDoubled) {
        return counts(a);
      } else {
        return counts(a) && left(a) - first * a.rate <= LemkeRule::kTieTolerance * scale_;
      }
    };
    visit_where<Lanes>(n_, blocks, [&](int i) {
      const Approach a = near(i);
      if (best != kRay) {
        if constexpr (kDoubled) {
          const double apart = double(sum(left(a) * chosen.rate, -(left(chosen) * a.rate)));
          if (apart > 0.0 || (apart == 0.0 && !wins_tie(i, a, best, chosen))) return true;
        } else if (!wins_tie(i, a, best, chosen)) {
          return true;
        }
      }
      best = i;
      chosen = a;
      return true;
    });
    if (best < 0) return {best, false, Number(own)};
    return {best, chosen.at_upper, left(chosen) / chosen.rate};
  }

  /// Whether row a blocks before row b, or before a flip, which does not depend on r.
  CAROM_CALL bool wins_tie(int a, const Approach& from_a, int b, const Approach& from_b) const {
    if (b >= 0 && basic(b) == 2 * n_) return false;
    if (basic(a) == 2 * n_) return true;
    const auto entry_of = [&](int i, const Approach& from, int k) {
      if (i < 0) return Number(0.0);
      const Number own = inverse_entry(i, k);
      return from.at_upper ? -own : own;
    };
    const auto apart = [&](int k) {
      const Number of_a = entry_of(a, from_a, k), of_b = entry_of(b, from_b, k);
      if constexpr (kDoubled) {
        return double(sum(of_a * from_b.rate, -(of_b * from_a.rate)));
      } else {
        return of_a / from_a.rate - of_b / from_b.rate;
      }
    };
    double size = 0.0;
    if constexpr (!kDoubled) {
      size = -lanes_
                  .argmin(n_, 1.0,
                          [&](int k) {
                            return -larger(magnitude(entry_of(a, from_a, k) / from_a.rate),
                                           magnitude(entry_of(b, from_b, k) / from_b.rate));
                          })
                  .key;
    }
    const double same = kDoubled ? 0.0 : LemkeRule::kSameEntry * size;
    int differs = -1;
    visit_where<Lanes>(
        n_, [&](int k) { return magnitude(apart(k)) > same; },
        [&](int k) {
          differs = k;
          return false;
        });
    if (differs >= 0) return apart(differs) < 0.0;
    return b >= 0 && a < b;
  }

  /// B^-1 maps r to the values: column k is the negative derivative by v_k, or a unit vector.
  CAROM_INLINE Number inverse_entry(int row, int k) const {
    const int p = place(n_ + k);
    if (p < n_ && basic(p) == n_ + k) return Number(row == p ? 1.0 : 0.0);
    return -at(row, p);
  }

  /// If t is zero up to rounding, the tableau has the answer.
  CAROM_CALL BoxEnd end_or(BoxEnd end) const {
    for (int i = 0; i < n_; ++i) {
      if (basic(i) == 2 * n_ && double(value(i)) <= kBoxVanished * scale_) return BoxEnd::solution;
    }
    return end;
  }

  const Lanes& lanes_;
  int n_;
  BoxLemkeLayout<double*> at_;
  int cover_ = 0;  // t's column at the start
  int pivots_ = 0;
  Number level_ = Number(0.0);
  double scale_ = 0.0;  // of the values: the least v at the start, in magnitude
};

/// One path by code that is compiled elsewhere, for more instructions than this.
struct BoxLemkeJob {
  int order;
  const double* matrix;    ///< N, row-major
  const double* constant;  ///< r
  const double* constant_low;
  const double* width;
  const double* cover;  ///< d; 0: free
  int max_pivots;
  bool doubled;
  double* memory;  ///< box_lemke_workspace, where a BoxLemke then finds the end
  BoxEnd end;      ///< out
  int pivots;      ///< out
};

template <class Number, class Lanes>
CAROM_CALL void follow_box_path(const Lanes& lanes, BoxLemkeJob& job) {
  BoxLemke<Lanes, Number> lemke(lanes, job.order, job.memory);
  job.end = lemke.run(
      [&](int i, int j) { return Number(job.matrix[static_cast<long>(i) * job.order + j]); },
      [&](int i) {
        if constexpr (sizeof(Number) > sizeof(double)) {
          return Number(job.constant[i], job.constant_low[i]);
        } else {
          return job.constant[i];
        }
      },
      [&](int i) { return job.width[i]; }, [&](int i) { return job.cover[i] == 0.0; },
      [&](int i) { return job.cover[i]; }, job.max_pivots);
  job.pivots = lemke.pivots();
}
template <class Lanes>
CAROM_CALL void follow_box_path(const Lanes& lanes, BoxLemkeJob& job) {
  if (job.doubled) {
    follow_box_path<Doubled>(lanes, job);
  } else {
    follow_box_path<double>(lanes, job);
  }
}

}  // namespace carom::kernels
