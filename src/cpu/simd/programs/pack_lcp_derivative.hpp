#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <carom/certificate.hpp>
#include <carom/certificate_derivative.hpp>
#include <carom/device/numeric.hpp>

#include "cpu/simd/derivative_reports.hpp"
#include "cpu/simd/pack_number.hpp"
#include "cpu/simd/programs/lcp_derivatives.hpp"
#include "cpu/simd/programs/pack_problems.hpp"
#include "programs/derivatives/kernels/long_sum.hpp"

namespace carom::cpu::simd {

/// derivatives::LcpDerivative with one problem per lane, for smooth answers whose modes do not
/// change while they are polished: the same operations in the same order. Other lanes are not
/// differentiated.
template <class Isa>
class PackLcpDerivative : PackProblems<Isa> {
  using Lanes = PackProblems<Isa>;
  using typename Lanes::Mask;
  using typename Lanes::Pack;
  using Number = BodyNumber<Isa>;
  using LongSum = derivatives::LongSum<Number>;
  using Single = typename SingleOf<Isa>::type;
  using Lanes::each_four;
  using Lanes::fetch;
  using Lanes::get;
  using Lanes::kWidth;
  using Lanes::lanes_;
  using Lanes::p_;
  using Lanes::put;
  using Lanes::share_of;

 public:
  explicit PackLcpDerivative(const LcpDerivativeRange& range)
      : r_(range), n_(range.order), factors_(numbers(range.reals), range.order) {
    double* at = range.reals + lcp_pack_factor_reals(n_, kWidth);
    const auto take = [&](long count) {
      double* taken = at;
      at += count * kWidth;
      return taken;
    };
    matrix_ = take(static_cast<long>(n_) * n_);
    turn_ = take(8L * n_);
    for (double** vector : {&vector_, &z_, &w_, &unit_, &share_, &feel_, &root_, &mode_, &g_, &y_,
                            &r_all_, &dz_, &dw_, &part_, &slack_, &low_, &rest_, &left_}) {
      *vector = take(n_ + 1);
      put(*vector, n_, Pack(0.0));
    }
  }

  /// Problems [p, p + count), count at most kWidth; lanes beyond repeat the first.
  void run(std::int64_t p, int count) {
    p_ = p;
    lanes_ = count;
    reach_ = Pack(derivatives::kNone);
    good_ = modes();
    if (any_of(good_)) {
      if (r_.gradient.status != nullptr) {
        adjoint();
      } else {
        tangent();
      }
    }
    const unsigned good = good_.bits();
    for (int lane = 0; lane < count; ++lane)
      r_.open[p + lane - r_.begin] = (good >> lane & 1U) == 0;
  }

 private:
  [[nodiscard]] CAROM_INLINE Pack entry(int i, int j) const {
    return get(matrix_, static_cast<long>(i) * n_ + j);
  }
  static CAROM_INLINE Number* numbers(double* array) { return reinterpret_cast<Number*>(array); }
  /// Of M.
  template <class Done>
  CAROM_INLINE void each_product(const double* add, const double* x, Done&& done) const {
    Lanes::each_product(matrix_, n_, n_, add, x, done);
  }
  /// The same without magnitudes.
  template <class Done>
  CAROM_INLINE void each_sum(const double* add, const double* x, Done&& done) const {
    each_product(add, x, [&](int i, Pack sum, Pack) { done(i, sum); });
  }
  /// done(j, sum, size): sum = add_j + sum_i M_ij y_i and the magnitudes of its terms.
  template <class Done>
  CAROM_INLINE void each_transposed(const double* add, const double* y, Done&& done) const {
    Lanes::each_transposed(
        matrix_, n_, n_, [](int i) { return i; }, add, y, done);
  }
  [[nodiscard]] CAROM_INLINE Mask is_held(int i) const { return get(mode_, i) > Pack(0.0); }
  /// Values of good lanes to their problems.
  CAROM_INLINE void bring(const double* from, double* to) const {
    Lanes::template bring<kMostDifferentiatedInPacks>(good_, from, n_, to);
  }

  Mask modes() {
    fetch(r_.matrix, static_cast<long>(n_) * n_, matrix_);
    fetch(r_.vector, n_, vector_);
    fetch(r_.solution, n_, z_);
    unsigned solved = 0;
    for (int lane = 0; lane < lanes_; ++lane) {
      solved |= static_cast<unsigned>(r_.status[p_ + lane] == Status::solved) << lane;
    }
    Mask good = Mask::from_bits(solved);
    if (!any_of(good)) return good;
    const Pack zero(0.0), most(derivatives::kLargestShift), infinity(kernels::kInfinity);
    for (int i = 0; i < n_; ++i) {
      const Pack z = get(z_, i);
      good = good & (z >= zero) & (z < infinity);
    }
    measure();
    for (int i = 0; i < n_; ++i) {
      const Pack unit = get(unit_, i);
      const Pack per_unit = select(unit > zero, get(share_, i), Pack(1.0));
      good = good & !(get(w_, i) < -most * unit) &
             !(smaller(get(feel_, i) * get(z_, i), per_unit * get(w_, i)) > most);
    }
    Pack tolerance(r_.rules.margin_tolerance);
    Mask changed = split(tolerance);
    gather();
    good = good & factors_.factor(most_, Number(count_), in_place() ? numbers(mode_) : nullptr);
    for (int k = 0; k < most_; ++k) put(part_, k, -get(part_, k));
    factors_.solve(numbers(part_));
    for (int i = 0; i < n_; ++i) put(r_all_, i, get(z_, i));
    scatter(part_, z_);
    if (any_of(good)) condition_ = factors_.condition().pack();
    steep_ = good & (condition_ > Pack(derivatives::kSteep));
    for (int i = 0; i < n_; ++i) put(low_, i, zero);
    correct(z_, low_, feel_, false, [&](int i, LongSum& sum) {
      sum.add(-get(vector_, i));
      for (int j = 0; j < n_; ++j) subtract(entry(i, j), get(z_, j), get(low_, j), sum);
    });
    Pack moved = zero;
    for (int i = 0; i < n_; ++i) {
      moved = larger(moved, get(feel_, i) * magnitude(get(z_, i) - get(r_all_, i)));
    }
    shift_ = larger(zero, moved);
    slacks();
    tolerance = larger(tolerance, Pack(10.0) * moved);
    changed = split(tolerance);
    good = good & !changed & !doubtful_ & (shift_ <= most);
    for (int i = 0; i < n_; ++i) {
      const Pack z = get(z_, i);
      good = good & !(get(feel_, i) * z < -tolerance) & !(get(w_, i) < -tolerance * get(unit_, i));
      put(z_, i, select(z > zero, z, zero));
    }
    return good;
  }

  void adjoint() {
    const Pack zero(0.0);
    const bool slack = r_.cotangent.w != nullptr;
    if (slack) fetch(r_.cotangent.w, n_, slack_);
    if (r_.cotangent.solution != nullptr) {
      fetch(r_.cotangent.solution, n_, g_);
    } else {
      for (int j = 0; j < n_; ++j) put(g_, j, zero);
    }
    if (slack) each_transposed(g_, slack_, [&](int j, Pack sum, Pack) { put(g_, j, sum); });
    take_held(g_, part_);
    factors_.solve_transposed(numbers(part_));
    scatter(part_, y_);
    const bool given = r_.cotangent.solution != nullptr;
    if (given && any_of(steep_)) fetch(r_.cotangent.solution, n_, dz_);
    const Pack moved = correct(y_, rest_, unit_, true, [&](int j, LongSum& sum) {
      if (given) sum.add(get(dz_, j));
      for (int i = 0; i < n_ && slack; ++i) sum.add_product(entry(i, j), get(slack_, i));
      for (int i = 0; i < n_; ++i) subtract(entry(i, j), get(y_, i), get(rest_, i), sum);
    });
    certify(adjoint_residual(), moved);
    reach_down(slack);
    if (!any_of(good_)) return;
    bring(y_, r_.gradient.adjoint);
    bring(z_, r_.gradient.solution);
    report(r_.gradient);
    if (n_ < kWidth) return write_together(slack);
    const unsigned good = good_.bits();
    for (int lane = 0; lane < lanes_; ++lane) {
      if ((good >> lane & 1U) != 0) write(p_ + lane);
    }
  }
  /// Gradients in M and q of the good lanes, where a row of M is shorter than a pack.
  CAROM_INLINE void write_together(bool slack) {
    for (int i = 0; i < n_; ++i) {
      const Pack value = (slack ? get(slack_, i) : Pack(0.0)) - get(y_, i);
      put(part_, i, value);
      for (int j = 0; j < n_; ++j) put(turn_, static_cast<long>(i) * n_ + j, value * get(z_, j));
    }
    if (r_.gradient.vector != nullptr) bring(part_, r_.gradient.vector);
    if (r_.gradient.matrix == nullptr) return;
    Lanes::template bring<kWidth * kWidth>(good_, turn_, n_ * n_, r_.gradient.matrix);
  }
  /// The same from adjoint and answer, row by row.
  CAROM_INLINE void write(std::int64_t p) const {
    const double* y = r_.gradient.adjoint + p * n_;
    const double* h = r_.cotangent.w != nullptr ? r_.cotangent.w + p * n_ : nullptr;
    const double* z = r_.gradient.solution + p * n_;
    double* vector = r_.gradient.vector != nullptr ? r_.gradient.vector + p * n_ : nullptr;
    double* row = r_.gradient.matrix != nullptr ? r_.gradient.matrix + p * n_ * n_ : nullptr;
    for (int i = 0; i < n_; ++i) {
      const double value = (h != nullptr ? h[i] : 0.0) - y[i];
      if (vector != nullptr) vector[i] = value;
      if (row == nullptr) continue;
      const typename Single::Pack by(value);
      const auto put_at = [&](int j) { (by * Single::Pack::load(z + j)).store(row + j); };
      int j = 0;
      for (; j + Single::kWidth <= n_; j += Single::kWidth) put_at(j);
      if (j < n_) put_at(n_ - Single::kWidth);
      row += n_;
    }
  }

  void tangent() {
    const Pack zero(0.0);
    if (r_.direction.vector != nullptr) {
      fetch(r_.direction.vector, n_, r_all_);
    } else {
      for (int i = 0; i < n_; ++i) put(r_all_, i, zero);
    }
    if (r_.direction.matrix != nullptr) add_products();
    solve_tangent();
    const bool given = r_.direction.vector != nullptr;
    if (given && any_of(steep_)) fetch(r_.direction.vector, n_, y_);
    const Pack moved = correct(dz_, rest_, feel_, false, [&](int i, LongSum& sum) {
      if (given) sum.add(-get(y_, i));
      if (r_.direction.matrix != nullptr) {
        fetch_rows(i, 1);
        for (int j = 0; j < n_; ++j) subtract(get(turn_, j), get(z_, j), get(low_, j), sum);
      }
      for (int j = 0; j < n_; ++j) subtract(entry(i, j), get(dz_, j), get(rest_, j), sum);
    });
    MaxOf worst;
    each_product(r_all_, dz_, [&](int i, Pack sum, Pack size) {
      const Mask held = is_held(i);
      worst.add(select(held, share_of(sum, size), zero));
      put(dw_, i, select(held, zero, sum));
    });
    certify(worst.value, moved);
    reach(dw_);
    if (!any_of(good_)) return;
    bring(dz_, r_.tangent.solution);
    bring(dw_, r_.tangent.w);
    report(r_.tangent);
  }
  /// Rows of dM.
  CAROM_INLINE void fetch_rows(int i, int count) {
    const double* at[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      const std::int64_t row = (p_ + (lane < lanes_ ? lane : 0)) * n_ + i;
      at[lane] = r_.direction.matrix + row * n_;
    }
    spread_lanes<Isa>(at, count * n_, turn_);
  }
  /// r += dM z.
  void add_products() {
    each_four(n_, [&](int i, auto rows) {
      constexpr int kRows = decltype(rows)::value;
      fetch_rows(i, kRows);
      Pack sum[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = get(r_all_, i + r);
      for (int j = 0; j < n_; ++j) {
        const Pack by = get(z_, j);
        for (int r = 0; r < kRows; ++r) {
          sum[r] = sum[r] + get(turn_, static_cast<long>(r) * n_ + j) * by;
        }
      }
      for (int r = 0; r < kRows; ++r) put(r_all_, i + r, sum[r]);
    });
  }

  /// As certificate::MaxAbs, of numbers that are not negative; NaN stays.
  struct MaxOf {
    Pack value{0.0};
    CAROM_INLINE void add(Pack x) {
      value = select(value != value, value, select(x <= value, value, x));
    }
  };

  /// w of the polished answer; the rows' units are those of before.
  void slacks() {
    each_sum(vector_, z_, [&](int i, Pack sum) { put(w_, i, sum); });
  }
  /// LcpDerivative::measure.
  void measure() {
    const Pack zero(0.0), one(1.0);
    Pack energy = zero;
    each_product(vector_, z_, [&](int i, Pack sum, Pack size) {
      put(w_, i, sum);
      put(unit_, i, size);
      Pack largest = zero;
      for (int j = 0; j < n_; ++j) largest = larger(largest, magnitude(entry(i, j)));
      const Pack diagonal = entry(i, i);
      const Pack root = square_root(select(diagonal > zero, diagonal, zero));
      put(root_, i, root);
      const Mask counts = diagonal > Pack(1e-8) * largest;
      energy = select(counts, larger(energy, size / select(counts, root, one)), energy);
    });
    for (int i = 0; i < n_; ++i) {
      const Pack root = get(root_, i);
      Pack unit = get(unit_, i);
      unit = select(root > zero, larger(unit, root * energy), unit);
      put(unit_, i, unit);
      const Mask there = unit > zero;
      put(share_, i, select(there, one / select(there, unit, one), zero));
    }
    each_four(n_, [&](int j, auto columns) {
      constexpr int kColumns = decltype(columns)::value;
      Pack feel[kColumns];
      for (Pack& one_feel : feel) one_feel = zero;
      for (int i = 0; i < n_; ++i) {
        const Pack by = get(share_, i);
        for (int c = 0; c < kColumns; ++c) {
          feel[c] = larger(feel[c], magnitude(entry(i, j + c)) * by);
        }
      }
      for (int c = 0; c < kColumns; ++c) put(feel_, j + c, feel[c]);
    });
  }

  /// Modes from z and w: 1 held, -1 free, 0 doubtful. Lanes where one is another than before.
  Mask split(Pack tolerance) {
    const Pack zero(0.0), one(1.0);
    Mask changed = Mask::from_bits(0);
    doubtful_ = Mask::from_bits(0);
    margin_ = Pack(kernels::kInfinity);
    for (int i = 0; i < n_; ++i) {
      const Pack closed = get(feel_, i) * get(z_, i);
      const Pack open = get(share_, i) * get(w_, i);
      const Pack gap = larger(closed, open);
      margin_ = smaller(margin_, select(gap > zero, gap, zero));
      const Mask doubtful = !(gap > tolerance);
      doubtful_ = doubtful_ | doubtful;
      const Pack mode = select(doubtful, zero, select(closed >= open, one, -one));
      changed = changed | (get(mode_, i) != mode);
      put(mode_, i, mode);
    }
    return changed;
  }

  [[nodiscard]] CAROM_INLINE bool in_place() const { return n_ <= kMostInPlace; }
  /// Where the held rows of each lane are, and M_aa and q_a, with unit rows behind or between them.
  void gather() {
    if (in_place()) {
      count_ = Pack(0.0);
      for (int i = 0; i < n_; ++i) count_ = select(is_held(i), count_ + Pack(1.0), count_);
      most_ = n_;
      auto* to = reinterpret_cast<double*>(factors_.matrix());
      for (int i = 0; i < n_; ++i) {
        const Mask held = is_held(i);
        for (int j = 0; j < n_; ++j) {
          put(to, static_cast<long>(i) * n_ + j,
              select(held & is_held(j), entry(i, j), Pack(i == j ? 1.0 : 0.0)));
        }
      }
      take_held(vector_, part_);
      return;
    }
    int counts[kWidth] = {};
    for (int i = 0; i < n_; ++i) {
      const unsigned held = is_held(i).bits();
      int* rank = rank_[i];
      for (int lane = 0; lane < kWidth; ++lane) {  // the next held row overwrites what is not one
        const int is = static_cast<int>(held >> lane & 1U);
        row_[counts[lane]][lane] = i;
        rank[lane] = is != 0 ? counts[lane] : n_;
        counts[lane] += is;
      }
    }
    double held[kWidth];
    most_ = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      held[lane] = counts[lane];
      most_ = counts[lane] > most_ ? counts[lane] : most_;
    }
    count_ = Pack::load(held);
    for (int k = 0; k < most_; ++k) {
      int* row = row_[k];
      for (int lane = 0; lane < kWidth; ++lane) row[lane] = k < counts[lane] ? row[lane] : n_;
    }
    auto* a = reinterpret_cast<double*>(factors_.matrix());
    for (int k = 0; k < most_; ++k) {
      for (int l = 0; l < most_; ++l) {
        put(a, static_cast<long>(k) * most_ + l, Pack(k == l ? 1.0 : 0.0));
      }
    }
    for (int lane = 0; lane < kWidth; ++lane) {
      const int count = counts[lane];
      const double* matrix = r_.matrix + (p_ + (lane < lanes_ ? lane : 0)) * n_ * n_;
      int row[kMostDifferentiatedInPacks];
      for (int k = 0; k < count; ++k) row[k] = row_[k][lane];
      for (int k = 0; k < count; ++k) {
        const double* from = matrix + static_cast<long>(row[k]) * n_;
        double* to = a + static_cast<long>(k) * most_ * kWidth + lane;
        for (int l = 0; l < count; ++l) to[static_cast<long>(l) * kWidth] = from[row[l]];
      }
    }
    take_held(vector_, part_);
  }
  CAROM_INLINE void keep_held(const double* from, double* to) const {
    for (int i = 0; i < n_; ++i) put(to, i, select(is_held(i), get(from, i), Pack(0.0)));
  }
  /// Entries of the held rows, zeros behind or between them; from: zero behind its end.
  CAROM_INLINE void take_held(const double* from, double* to) const {
    if (in_place()) return keep_held(from, to);
    for (int k = 0; k < most_; ++k) put(to, k, gather_lanes<Isa>(from, row_[k]));
  }
  /// To the held rows, zeros elsewhere; from: zero at place n.
  CAROM_INLINE void scatter(const double* from, double* to) const {
    if (in_place()) return keep_held(from, to);
    for (int i = 0; i < n_; ++i) put(to, i, gather_lanes<Isa>(from, rank_[i]));
  }

  static CAROM_INLINE void subtract(Pack by, Pack value, Pack low, LongSum& sum) {
    sum.add_product(-by, value);
    sum.add_rest(-(by * low));
  }
  /// LcpDerivative::correct, of the steep lanes.
  template <class Missing>
  CAROM_INLINE Pack correct(double* x, double* low, const double* unit, bool transposed,
                            Missing&& missing) {
    const Pack zero(0.0), infinity(kernels::kInfinity);
    if (!any_of(steep_)) return infinity;
    Pack moved = zero, size = zero;
    for (int i = 0; i < n_; ++i) put(low, i, zero);
    for (int round = 0; round < derivatives::kSteepCorrections; ++round) {
      for (int i = 0; i < n_; ++i) {
        LongSum sum;
        missing(i, sum);
        put(left_, i, sum.value().pack());
      }
      take_held(left_, part_);
      if (transposed) {
        factors_.solve_transposed_once(numbers(part_));
      } else {
        factors_.solve_once(numbers(part_));
      }
      scatter(part_, left_);
      moved = size = zero;
      for (int i = 0; i < n_; ++i) {
        const Mask changes = steep_ & is_held(i);
        const Pack before = get(x, i), part = get(left_, i), by = get(low, i) + part;
        const Pack after = before + by;
        put(low, i, select(changes, by - (after - before), zero));
        put(x, i, select(changes, after, before));
        moved = select(changes, larger(moved, get(unit, i) * magnitude(part)), moved);
        size = select(changes, larger(size, get(unit, i) * magnitude(after)), size);
      }
    }
    const Mask there = size > zero;
    const Pack share = select(there, moved / select(there, size, Pack(1.0)), zero);
    return select(steep_, share, infinity);
  }

  /// dz_a = -M_aa^-1 r_a.
  void solve_tangent(bool refined = true) {
    take_held(r_all_, part_);
    for (int k = 0; k < most_; ++k) put(part_, k, -get(part_, k));
    if (refined) {
      factors_.solve(numbers(part_));
    } else {
      factors_.solve_once(numbers(part_));
    }
    scatter(part_, dz_);
  }

  Pack adjoint_residual() {
    MaxOf worst;
    for (int j = 0; j < n_; ++j) put(part_, j, -get(g_, j));
    each_transposed(part_, y_, [&](int j, Pack sum, Pack size) {
      worst.add(select(is_held(j), share_of(sum, size), Pack(0.0)));
    });
    return worst.value;
  }

  /// derivatives::certified.
  CAROM_INLINE void certify(Pack residual, Pack corrected) {
    const Pack most(r_.rules.error_tolerance);
    residual_ = residual;
    good_ = good_ & (residual <= Pack(derivatives::kLargestResidual)) &
            ((condition_ * residual <= most) | (corrected <= most));
  }

  void reach_down(bool slack) {
    if (!r_.rules.reach) return;
    const Pack zero(0.0);
    Pack weight(r_.wanted.vector ? 1.0 : 0.0);
    for (int i = 0; i < n_ && r_.wanted.matrix; ++i) weight = weight + get(z_, i) * get(z_, i);
    for (int i = 0; i < n_; ++i) {
      put(r_all_, i, weight * (get(y_, i) - (slack ? get(slack_, i) : zero)));
    }
    solve_tangent(false);
    each_sum(r_all_, dz_, [&](int i, Pack sum) { put(dw_, i, sum); });
    reach(dw_);
  }
  CAROM_INLINE void reach(const double* dw) {
    if (!r_.rules.reach) return;
    const Pack zero(0.0), one(1.0);
    reach_ = Pack(kernels::kInfinity);
    for (int i = 0; i < n_; ++i) {
      const Mask held = is_held(i);
      const Pack slope = select(held, get(dz_, i), get(dw, i));
      const Pack value = select(held, get(z_, i), get(w_, i));
      const Mask falls = slope < zero;
      const Pack step = value / select(falls, -slope, one);
      reach_ = select(falls, smaller(reach_, step), reach_);
    }
  }

  template <class Table>
  CAROM_INLINE void report(Table& table) const {
    put_reports<Isa>(
        derivatives::ReportOf<Pack>{Smoothness::smooth, residual_, margin_, condition_, shift_,
                                    reach_, 0},
        good_.bits(), [&](int lane) { return p_ + lane; }, table);
  }

  const LcpDerivativeRange& r_;
  int n_;
  derivatives::FactorsOf<Number> factors_;
  int most_ = 0;                                     // held rows of the lane that has most
  int row_[kMostDifferentiatedInPacks + 1][kWidth];  // the k-th held row of a lane; n: none
  int rank_[kMostDifferentiatedInPacks][kWidth];     // of a row among the held ones; n: not one
  Mask good_, doubtful_, steep_;
  Pack count_{0.0}, shift_{0.0}, margin_{0.0}, condition_{0.0}, residual_{0.0}, reach_{0.0};
  double *matrix_, *turn_, *vector_, *z_, *w_, *unit_, *share_, *feel_, *root_, *mode_, *g_, *y_,
      *r_all_, *dz_, *dw_, *part_, *slack_, *low_, *rest_, *left_;
};

}  // namespace carom::cpu::simd
