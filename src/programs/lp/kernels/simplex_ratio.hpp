#pragma once

#include "programs/lp/kernels/simplex_basis.hpp"

/// The ratio tests of the simplex method: how far a variable goes, and which one it replaces.
namespace carom::kernels {

template <class Lanes, int PaddedRows, int PaddedColumns>
class SimplexRatio : protected SimplexBasis<Lanes, PaddedRows, PaddedColumns> {
  using Base = SimplexBasis<Lanes, PaddedRows, PaddedColumns>;

 protected:
  using Base::at, Base::basic_, Base::direction_, Base::lanes_, Base::m_, Base::mp,
      Base::values_size_;
  using Base::Base;

  static constexpr double kTie = 1e-13;       // of values, relative to their size
  static constexpr double kPivot = 1e-9;      // relative to the column's largest entry
  static constexpr double kWeakPivot = 1e-5;  // passed over in phase 1 where there is a better one

  double pivot_ = kPivot;

  struct Blocking {
    double length;  ///< of the step
    int row;        ///< whose basic variable leaves; -1: q goes to its other bound
    bool to_upper;  ///< bound at which it leaves
  };

  /// Every value stays between its bounds. Among the rows that block at (nearly) the same length
  /// the largest entry pivots; with Bland's rule the variable of lowest index leaves.
  CAROM_HOST_DEVICE Blocking block_feasible(double steepest, double range, bool bland) {
    const double smallest = pivot_ * steepest;
    const ArgMin<double> first = argmin_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V rate = V(-direction_) * kernels::load<V>(at().column + i);
      const V size = magnitude(rate);
      const V x = kernels::load<V>(at().basic_value + i);
      const V room = select(rate > V(0.0), kernels::load<V>(at().basic_upper + i) - x,
                            x - kernels::load<V>(at().basic_lower + i));
      store(at().rate + i, rate);
      store(at().work + i, larger(room, V(0.0)));
      const V length = select(size > V(smallest), larger(room, V(0.0)) / size, V(kInfinity));
      store(at().event + i, length);
      return length;
    });
    if (first.index < 0 || range <= first.key) return {range, -1, false};
    const double tie = kTie * values_size_;
    const ArgMin<double> best = argmin_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V size = magnitude(kernels::load<V>(at().rate + i));
      const V rest = kernels::load<V>(at().work + i) - V(first.key) * size;
      const V key = -size;
      return select((size > V(smallest)) & (rest <= V(tie)), key, V(kInfinity));
    });
    const int row = bland ? lowest_within(first.key) : best.index;
    if (row < 0) return {first.key, first.index, at().rate[first.index] > 0.0};
    if (range <= at().event[row]) return {range, -1, false};
    return {at().event[row], row, at().rate[row] > 0.0};
  }

  /// Row of the lowest variable among events at `length`.
  CAROM_HOST_DEVICE int lowest_within(double length) {
    return lanes_
        .argmin(m_, kInfinity,
                [&](int i) {
                  return at().event[i] <= length ? static_cast<double>(basic_[i]) : kInfinity;
                })
        .index;
  }

  /// Phase 1: the sum of violations falls at the rate `slope` and less so after each bound that is
  /// met; the step ends where it would rise again.
  CAROM_HOST_DEVICE Blocking block_infeasible(double steepest, double range, double slope,
                                              bool bland) {
    const double smallest = pivot_ * steepest;
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V rate = V(-direction_) * kernels::load<V>(at().column + i);
      const V size = magnitude(rate);
      const V x = kernels::load<V>(at().basic_value + i);
      const V sign = kernels::load<V>(at().sign + i);
      const auto rising = rate > V(0.0);
      // The distances to the bound that is met first and to the one after it.
      const V to_lower = select(rising, kernels::load<V>(at().basic_lower + i) - x,
                                x - kernels::load<V>(at().basic_lower + i));
      const V to_upper = select(rising, kernels::load<V>(at().basic_upper + i) - x,
                                x - kernels::load<V>(at().basic_upper + i));
      const V ahead = select(rising, to_upper, to_lower);
      const V behind = select(rising, to_lower, to_upper);
      const auto moves = size > V(smallest);
      // A variable within its bounds meets one; one outside meets both or, moving away, none.
      const auto outside = sign != V(0.0);
      const auto returning = select(rising, -sign, sign) > V(0.0);
      const V near = select(outside, behind, larger(ahead, V(0.0)));
      const V inverse = V(1.0) / size;
      store(at().rate + i, rate);
      const auto none = select(outside, select(returning, V(0.0), V(1.0)), V(0.0)) > V(0.0);
      const V first = select(moves, near * inverse, V(kInfinity));
      // Both bounds of an equation are one event that counts twice.
      const auto two = outside & (kernels::load<V>(at().basic_lower + i) <
                                  kernels::load<V>(at().basic_upper + i));
      const V second = select(moves & two, ahead * inverse, V(kInfinity));
      store(at().event + i, select(none, V(kInfinity), first));
      store(at().event + mp() + i, select(none, V(kInfinity), second));
    });
    int chosen = -1;
    double length = kInfinity;
    ArgMin<double> last{-1.0, -1};
    for (int round = 0; round < 2 * m_; ++round) {
      // The event after the last one, in the order of lengths and rows.
      const ArgMin<double> next = argmin_packed(lanes_, 2 * mp(), [&](auto number, int e) {
        using V = decltype(number);
        const V key = kernels::load<V>(at().event + e);
        const auto later = indices<V>(e) > V(static_cast<double>(last.index));
        return select((key > V(last.key)) | ((key >= V(last.key)) & later), key, V(kInfinity));
      });
      if (next.index < 0 || next.key >= range) break;
      last = next;
      const int row = next.index % mp();
      const double size = magnitude(at().rate[row]);
      if (chosen < 0 || size >= kWeakPivot * steepest) {
        chosen = next.index;
        length = next.key;
      }
      const bool equation = at().basic_lower[row] == at().basic_upper[row] && at().sign[row] != 0.0;
      slope -= equation ? 2.0 * size : size;
      if (bland || slope <= 0.0) {
        if (bland && length <= 0.0) chosen = lowest_within(0.0);
        return {length, chosen % mp(), leaves_at_upper(chosen)};
      }
    }
    if (range < kInfinity && slope > 0.0) return {range, -1, false};
    if (chosen < 0) return {kInfinity, -1, false};
    return {length, chosen % mp(), leaves_at_upper(chosen)};
  }

  /// The bound that event e stands for.
  CAROM_HOST_DEVICE bool leaves_at_upper(int e) const {
    const int row = e % mp();
    const bool rising = at().rate[row] > 0.0;
    const bool near_of_outside = e < mp() && at().sign[row] != 0.0;
    return near_of_outside ? !rising : rising;
  }
};

}  // namespace carom::kernels
