#pragma once

#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>

#include "cpu/simd/packed_lane.hpp"
#include "programs/lp/kernels/simplex.hpp"

namespace carom::cpu::simd {

/// Rows of problems that run in packs.
inline constexpr int kMostPackedRows = kernels::kPackPadding;

/// What a pack of problems holds of its basic variables, and kernels::SimplexRatio's tests on them.
/// M: rows where they are known when this is compiled, 0 otherwise; at most kMostPackedRows.
template <class Isa, int M>
class SimplexPackRatio {
 protected:
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  using Simplex = kernels::Simplex<PackedLane<Isa>, kMostPackedRows>;
  using Rule = typename Simplex::Rule;

  explicit SimplexPackRatio(int rows) : rows_(rows) {}

  [[nodiscard]] CAROM_INLINE int m() const { return M > 0 ? M : rows_; }
  static CAROM_INLINE Pack at(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store_doubles(array + i * kWidth);
  }
  static CAROM_INLINE void put_where(Mask on, double* array, long i, Pack value) {
    put(array, i, select(on, value, at(array, i)));
  }
  /// on ? a : b, of masks.
  static CAROM_INLINE Mask either(Mask on, Mask a, Mask b) { return (on & a) | ((!on) & b); }
  static CAROM_INLINE Mask mask(unsigned bits) { return Mask::from_bits(bits); }
  /// As kernels::largest_packed.
  static CAROM_INLINE Pack largest(Pack x, Pack most) {
    return select(x <= most, most, select(x != x, Pack(kernels::kInfinity), x));
  }
  /// Eight partial sums as kernels::accumulate_packed joins them.
  static CAROM_INLINE Pack joined(const Pack* s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }

  /// Lanes of two questions: how far, and which row stops it.
  struct Blocking {
    Pack length;
    Pack row;       ///< -1: the entering variable goes to its other bound
    Mask to_upper;  ///< bound at which the row's variable leaves
  };

  /// Simplex::block_feasible.
  Blocking block_feasible(Pack steepest, Pack range) {
    const Pack smallest = Pack(Rule::kPivot) * steepest;
    Pack first(kernels::kInfinity);
    Pack first_row(-1.0);
    Mask first_upper = mask(0);
    for (int i = 0; i < m(); ++i) {
      const Pack rate = at(rate_, i);
      const Pack size = magnitude(rate);
      const Pack x = at(basic_value_, i);
      const Mask up = rate > Pack(0.0);
      const Pack room =
          larger(select(up, at(basic_upper_, i) - x, x - at(basic_lower_, i)), Pack(0.0));
      const Pack length = select(size > smallest, room / size, Pack(kernels::kInfinity));
      put(work_, i, room);
      put(event_, i, length);
      const Mask better = length < first;
      first = select(better, length, first);
      first_row = select(better, Pack(static_cast<double>(i)), first_row);
      first_upper = either(better, up, first_upper);
    }
    const Pack tie = Pack(Rule::kTie) * Pack::load(values_size_);
    Pack best(0.0);
    Blocking chosen{first, first_row, first_upper};
    for (int i = 0; i < m(); ++i) {
      const Pack rate = at(rate_, i);
      const Pack size = magnitude(rate);
      const Pack rest = at(work_, i) - first * size;
      const Mask better = (size > smallest) & (rest <= tie) & (size > best);
      best = select(better, size, best);
      chosen.length = select(better, at(event_, i), chosen.length);
      chosen.row = select(better, Pack(static_cast<double>(i)), chosen.row);
      chosen.to_upper = either(better, rate > Pack(0.0), chosen.to_upper);
    }
    // The entering variable's own bound, before the first row or before the chosen one.
    const Mask none = first_row < Pack(0.0);
    const Mask own = none | (range <= first) | ((best > Pack(0.0)) & (range <= chosen.length));
    return {select(own, range, chosen.length), select(own, Pack(-1.0), chosen.row),
            chosen.to_upper};
  }

  /// Simplex::block_infeasible.
  Blocking block_infeasible(unsigned open, Pack steepest, Pack range, Pack slope) {
    const Pack smallest = Pack(Rule::kPivot) * steepest;
    const Pack zero(0.0);
    const Pack none(kernels::kInfinity);
    for (int i = 0; i < m(); ++i) {
      const Pack rate = at(rate_, i);
      const Pack size = magnitude(rate);
      const Pack x = at(basic_value_, i);
      const Pack lower = at(basic_lower_, i);
      const Pack upper = at(basic_upper_, i);
      const Pack sign = at(sign_, i);
      const Mask rising = rate > zero;
      const Pack to_lower = select(rising, lower - x, x - lower);
      const Pack to_upper = select(rising, upper - x, x - upper);
      const Pack ahead = select(rising, to_upper, to_lower);
      const Pack behind = select(rising, to_lower, to_upper);
      const Mask moves = size > smallest;
      const Mask outside = sign != zero;
      const Mask returning = select(rising, -sign, sign) > zero;
      const Pack near = select(outside, behind, larger(ahead, zero));
      const Pack inverse = Pack(1.0) / size;
      const Mask stays = !returning;
      const Mask away = outside & stays;
      const Mask meets = !away;
      const Mask apart = lower < upper;
      put(event_, i, select(moves & meets, near * inverse, none));
      put(event_, m() + i, select(moves & outside & apart & meets, ahead * inverse, none));
      const Mask equation = (lower <= upper) & (lower >= upper) & outside;
      put(drop_, i, select(equation, Pack(2.0) * size, size));
    }
    Blocking chosen{none, Pack(-1.0), mask(0)};
    Mask has = mask(0);
    Mask on = mask(open);
    Mask over = mask(0);  // the sum of violations would rise after the chosen event
    for (int round = 0; round < 2 * m() && any_of(on); ++round) {
      Pack next(kernels::kInfinity);
      Pack next_event(-1.0);
      for (int e = 0; e < 2 * m(); ++e) {
        const Pack key = at(event_, e);
        const Mask better = key < next;
        next = select(better, key, next);
        next_event = select(better, Pack(static_cast<double>(e)), next_event);
      }
      on = on & (next < range);
      if (!any_of(on)) break;
      const Pack rows(static_cast<double>(m()));
      const Mask first = next_event < rows;
      const Pack row = select(first, next_event, next_event - rows);
      Pack rate = zero;
      Pack drop = zero;
      Pack sign = zero;
      for (int i = 0; i < m(); ++i) {
        const Mask others = row != Pack(static_cast<double>(i));
        rate = select(others, rate, at(rate_, i));
        drop = select(others, drop, at(drop_, i));
        sign = select(others, sign, at(sign_, i));
        // Passed once; the first of equal events was found.
        put(event_, i, select(others | !first, at(event_, i), none));
        put(event_, m() + i, select(others | first, at(event_, m() + i), none));
      }
      // Who comes back from outside meets the bound behind first.
      const Mask up = rate > zero;
      const Mask turned = first & (sign != zero);
      const Mask upper = either(turned, !up, up);
      const Pack size = magnitude(rate);
      const Mask fresh = !has;
      const Mask take = on & (fresh | (size >= Pack(Rule::kWeakPivot) * steepest));
      has = has | take;
      chosen.length = select(take, next, chosen.length);
      chosen.row = select(take, row, chosen.row);
      chosen.to_upper = either(take, upper, chosen.to_upper);
      slope = select(on, slope - drop, slope);
      const Mask ends = on & (slope <= zero);
      over = over | ends;
      on = on & (!ends);
    }
    const Mask own = (!over) & (range < none) & (slope > zero);
    return {select(own, range, chosen.length), select(own, Pack(-1.0), chosen.row),
            chosen.to_upper};
  }

  int rows_;
  double *basic_value_, *basic_lower_, *basic_upper_, *sign_, *rate_, *work_, *drop_, *event_;
  double values_size_[kWidth];
};

}  // namespace carom::cpu::simd
