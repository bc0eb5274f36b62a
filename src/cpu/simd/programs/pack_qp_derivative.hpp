#pragma once

#include <carom/certificate.hpp>

#include "cpu/simd/derivative_reports.hpp"
#include "cpu/simd/programs/pack_qp_modes.hpp"

namespace carom::cpu::simd {

/// derivatives::QpDerivative with one problem per lane, from the modes of packs; other lanes are
/// not differentiated.
template <class Isa>
class PackQpDerivative : PackQpModes<Isa> {
  using Modes = PackQpModes<Isa>;
  using Modes::all_;
  using Modes::at_;
  using Modes::each_product;
  using Modes::each_transposed;
  using Modes::factors_;
  using Modes::get;
  using Modes::in_cone;
  using Modes::is_edge;
  using Modes::is_held;
  using Modes::kWidth;
  using Modes::lanes_;
  using Modes::m_;
  using Modes::most_;
  using Modes::n_;
  using Modes::none;
  using Modes::p_;
  using Modes::put;
  using Modes::r_;
  using Modes::share_in_edge;
  using Modes::share_of;
  using Modes::spread_rows;
  using typename Modes::Mask;
  using typename Modes::Pack;

 public:
  explicit PackQpDerivative(const QpDerivativeRange& range) : Modes(range) {}

  /// Problems [p, p + count), count at most kWidth; lanes beyond repeat the first.
  void run(std::int64_t p, int count) {
    p_ = p;
    lanes_ = count;
    reach_ = Pack(derivatives::kNone);
    good_ = this->modes();
    if (any_of(good_)) {
      if (r_.gradient.status != nullptr) {
        adjoint();
      } else {
        tangent();
      }
    }
    const unsigned good = good_.bits();
    for (int lane = 0; lane < count; ++lane) {
      r_.open[p + lane - r_.begin] = (good >> lane & 1U) == 0;
    }
  }

 private:
  /// As certificate::MaxAbs, of numbers that are not negative; NaN stays.
  struct MaxOf {
    Pack value{0.0};
    CAROM_INLINE void add(Pack x) {
      value = select(value != value, value, select(x <= value, value, x));
    }
  };
  /// derivatives::certified; what factors without pivots leave is for those with pivots.
  static constexpr double kPivotsAreFine = 1e-15;
  CAROM_INLINE void certify(Pack residual) {
    residual_ = residual;
    good_ = good_ & (residual <= Pack(kPivotsAreFine)) &
            (this->condition_ * residual <= Pack(r_.rules.error_tolerance));
  }

  void adjoint() {
    const Pack zero(0.0);
    const auto& asked = r_.cotangent;
    objective_ = zero;
    if (asked.objective != nullptr) this->fetch(asked.objective, 1, at_.work);
    if (asked.objective != nullptr) objective_ = get(at_.work, 0);
    if (asked.solution != nullptr) {
      this->fetch(asked.solution, n_, at_.g);
    } else {
      for (int j = 0; j < n_; ++j) put(at_.g, j, zero);
    }
    for (int j = 0; j < n_; ++j) {
      const Pack g = get(at_.g, j) + objective_ * get(at_.slope, j);
      put(at_.g, j, g);
      put(at_.right, j, g);
    }
    this->fetch_rows(asked.dual, asked.cone_dual, at_.wish);
    Mask asks = none();
    for (int i = 0; i < all_; ++i) asks = asks | (is_held(i) & (get(at_.wish, i) != zero));
    good_ = good_ & !(this->dependent_ & asks);
    if (!any_of(good_)) return;
    this->take_curvature(at_.wish);
    this->take_rows(at_.wish);
    this->solve();
    for (int j = 0; j < n_; ++j) put(at_.adjoint, j, get(at_.right, j));
    spread_rows(at_.wish, at_.e);
    certify(residual(at_.adjoint, at_.wish));
    if (!any_of(good_)) return;
    write_all();
    if (r_.rules.reach) reach_down();
    const Mask kinks = r_.wanted.rows() ? this->dependent_ : none();
    report(r_.gradient, Smoothness::smooth, good_ & !kinks);
    report(r_.gradient, Smoothness::kink, good_ & kinks);
  }
  /// P v + A'e = g, and A v = asked in held rows: by the problem's rows and the modes.
  Pack residual(const double* v, const double* asked) {
    const Pack size = factors_.size_in_units(at_.right);
    MaxOf worst;
    each_product(at_.hessian, n_, nullptr, v, [&](int j, Pack sum, Pack terms) {
      put(at_.pull, j, sum - get(at_.g, j));
      put(at_.work, j, terms + magnitude(get(at_.g, j)) + factors_.typical(j) * size);
    });
    each_transposed(at_.pull, at_.e, [&](int j, Pack sum, Pack terms) {
      const Pack before = magnitude(get(at_.pull, j));
      worst.add(share_of(sum, get(at_.work, j) + (terms - before)));
    });
    judge_held(v, asked, size, worst);
    return worst.value;
  }
  /// A v = values in held rows, and edges' equations of them.
  void judge_held(const double* v, const double* values, Pack size, MaxOf& worst) {
    const Pack zero(0.0);
    each_held_product(v, [&](int i, Pack sum, Pack terms, Pack typical) {
      const Pack value = get(values, i);
      const Pack missing = sum - value, all_terms = terms + magnitude(value) + typical * size;
      if (in_cone(i)) {
        put(at_.gap, i, missing);
        put(at_.asked, i, all_terms);
      }
      const Mask own = in_cone(i) ? is_held(i) & !is_edge(i) : is_held(i);
      worst.add(select(own, share_of(missing, all_terms), zero));
    });
    this->each_cone([&](int, int first, int behind) {
      const Mask edge = is_edge(first);
      if (!any_of(edge & good_)) return;
      Pack sum = zero, terms = zero;
      for (int i = first; i < behind; ++i) {
        const Pack share = share_in_edge(i);
        sum = sum + share * get(at_.gap, i);
        terms = terms + magnitude(share) * get(at_.asked, i);
      }
      worst.add(select(edge, share_of(sum, terms), zero));
    });
  }
  /// done(i, sum, size, typical) of rows that some lane holds: A_i v, the magnitudes of its terms
  /// and those of unknowns that are 1 in their units.
  template <class Done>
  CAROM_INLINE void each_held_product(const double* v, Done&& done) const {
    const Pack zero(0.0);
    for (int i = 0; i < all_; ++i) {
      if (!any_of(is_held(i) & good_)) continue;
      const double* row = at_.rows + static_cast<long>(i) * n_ * kWidth;
      Pack sum = zero, size = zero, typical = zero;
      for (int j = 0; j < n_; ++j) {
        const Pack entry = get(row, j), term = entry * get(v, j);
        sum = sum + term;
        size = size + magnitude(term);
        typical = typical + magnitude(entry) * factors_.unit(j);
      }
      done(i, sum, size, typical);
    }
  }

  /// QpDerivative::reach_down.
  void reach_down() {
    const Pack zero(0.0);
    const QpWanted& wanted = r_.wanted;
    Pack square = zero, along = zero;
    for (int j = 0; j < n_; ++j) {
      square = square + get(at_.x, j) * get(at_.x, j);
      along = along + get(at_.adjoint, j) * get(at_.x, j);
    }
    // The gradient in A is -(y a' + e x'): what it does to the stationarity is -(y y) a - (y e) x.
    Pack by_a = zero, by_x = zero;
    for (int i = 0; i < all_; ++i) {
      const bool of_cone = i >= m_;
      const Pack y = get(at_.y, i), e = get(at_.e, i), sign = get(at_.sign, i);
      Pack gain = zero;
      if (of_cone) {
        if (wanted.cone_vector) gain = -e;
      } else {
        const Mask upper = (sign > zero) | (this->is_equation(i) & (y >= zero));
        const Pack moved =
            select(upper, Pack(wanted.upper ? 1.0 : 0.0), Pack(wanted.lower ? 1.0 : 0.0));
        gain = -(moved * e);
      }
      if (of_cone ? wanted.cone_matrix : wanted.matrix) {
        gain = gain - (y * along + e * square);
        by_a = by_a + y * y;
        by_x = by_x + y * e;
      }
      put(at_.gain, i, gain);
    }
    const Pack half(0.5);
    for (int j = 0; j < n_; ++j) {
      const Pack a = get(at_.adjoint, j), x = get(at_.x, j);
      Pack value = zero;
      if (wanted.vector) value = a - objective_ * x;
      if (wanted.hessian) {
        value = value + half * (a * square + x * along) - half * objective_ * x * square;
      }
      put(at_.right, j, -(value + by_a * a + by_x * x));
    }
    this->take_curvature(at_.gain);
    this->take_rows(at_.gain);
    this->solve(false);
    spread_rows(at_.gain, at_.wish);
    reach_along(at_.wish);
    reach_ = select(this->dependent_, zero, reach_);
  }
  /// The largest step along the rates in at_.right that keeps signs and states, to first order;
  /// at_.gain: what each row's slack gains at fixed x; dz: of multipliers.
  void reach_along(const double* dz) {
    const Pack zero(0.0), one(1.0);
    reach_ = Pack(kernels::kInfinity);
    each_product(at_.rows, all_, nullptr, at_.right, [&](int i, Pack sum, Pack) {
      if (in_cone(i)) return;
      const Mask held = is_held(i);
      const Pack sign = get(at_.sign, i);
      const Pack rate = sign * select(held, get(dz, i), get(at_.gain, i) - sum);
      const Pack value = select(held, sign * get(at_.y, i), get(at_.slack, i));
      const Mask falls = (rate < zero) & this->is_bounded(i);
      reach_ = select(falls, smaller(reach_, value / select(falls, -rate, one)), reach_);
    });
    this->each_cone([&](int, int first, int behind) {
      reach_ = smaller(reach_, this->reach_of_cone(first, behind, dz, at_.rate));
    });
  }

  void tangent() {
    const Pack zero(0.0);
    const auto& d = r_.direction;
    // Of rows that depend on each other only the bounds may move.
    if (d.matrix != nullptr || d.cone_matrix != nullptr) good_ = good_ & !this->dependent_;
    if (!any_of(good_)) return;
    fetch_direction();
    for (int j = 0; j < n_; ++j) put(at_.right, j, get(at_.g, j));
    this->take_curvature(at_.gain);
    this->take_rows(at_.gain);
    this->solve();
    spread_rows(at_.gain, at_.e);
    certify(residual(at_.right, at_.gain));
    if (!any_of(good_)) return;
    if (r_.rules.reach) {
      reach_along(at_.e);
      reach_ = select(this->dependent_, zero, reach_);
    }
    for (int i = 0; i < all_; ++i) {  // whose multipliers are not unique
      const Mask unknown = this->dependent_ & is_held(i);
      put(at_.e, i, select(unknown, Pack(derivatives::kNone), get(at_.e, i)));
    }
    Pack objective = objective_;
    for (int j = 0; j < n_; ++j) objective = objective + get(at_.slope, j) * get(at_.right, j);
    put(at_.work, 0, objective);
    bring(at_.right, n_, r_.tangent.solution);
    bring(at_.e, m_, r_.tangent.dual);
    bring(at_.e + static_cast<long>(m_) * kWidth, all_ - m_, r_.tangent.cone_dual);
    bring(at_.work, 1, r_.tangent.objective);
    report(r_.tangent, Smoothness::smooth, good_);
  }
  /// at_.g: -(dP x + dq + dA'y); at_.gain: what each row's slack gains at fixed x.
  void fetch_direction() {
    const Pack zero(0.0), half(0.5);
    const auto& d = r_.direction;
    if (d.vector != nullptr) {
      this->fetch(d.vector, n_, at_.g);
    } else {
      for (int j = 0; j < n_; ++j) put(at_.g, j, zero);
    }
    objective_ = zero;  // dq'x + x'dP x / 2
    for (int j = 0; j < n_; ++j) objective_ = objective_ + get(at_.g, j) * get(at_.x, j);
    this->fetch_rows(d.upper, d.cone_vector, at_.gain);
    this->fetch_rows(d.lower, d.cone_vector, at_.wish);
    for (int i = 0; i < all_; ++i) {
      const Pack up = get(at_.gain, i), low = get(at_.wish, i), y = get(at_.y, i);
      const Pack sign = get(at_.sign, i);
      const Mask equal = this->is_equation(i);
      const Pack named = select(y > zero, up, select(y < zero, low, half * (up + low)));
      const Pack gain = select(equal, named, select(sign < zero, low, up));
      put(at_.gain, i, select(this->is_bounded(i), gain, zero));
    }
    const long stride = static_cast<long>(n_) * kWidth;
    if (d.hessian != nullptr) {
      this->fetch(d.hessian, static_cast<long>(n_) * n_, at_.turned);
      for (int j = 0; j < n_; ++j) {
        const Pack x = half * get(at_.x, j);
        const double* row = at_.turned + j * stride;
        Pack sum = zero;
        for (int k = 0; k < n_; ++k) {
          const Pack entry = get(row, k);
          sum = fused(half * entry, get(at_.x, k), sum);
          put(at_.g, k, fused(entry, x, get(at_.g, k)));
        }
        put(at_.g, j, get(at_.g, j) + sum);
        objective_ = fused(sum, get(at_.x, j), objective_);
      }
    }
    const auto turn = [&](const double* from, int first, int count) {
      if (from == nullptr || count == 0) return;
      this->fetch(from, static_cast<long>(count) * n_, at_.turned);
      for (int i = 0; i < count; ++i) {
        const double* row = at_.turned + i * stride;
        const Pack y = get(at_.y, first + i);
        Pack gain = get(at_.gain, first + i);
        for (int j = 0; j < n_; ++j) {
          const Pack entry = get(row, j);
          gain = fused(-entry, get(at_.x, j), gain);
          put(at_.g, j, fused(entry, y, get(at_.g, j)));
        }
        put(at_.gain, first + i, gain);
      }
    };
    turn(d.matrix, 0, m_);
    turn(d.cone_matrix, m_, all_ - m_);
    for (int j = 0; j < n_; ++j) put(at_.g, j, -get(at_.g, j));
  }
  /// Values of good lanes to their problems, where they are wanted.
  CAROM_INLINE void bring(const double* from, int count, double* to) const {
    if (to != nullptr) Modes::Lanes::template bring<kMostOfQpInPacks>(good_, from, count, to);
  }
  /// QpDerivative::write of good lanes.
  void write_all() {
    const auto& to = r_.gradient;
    for (int j = 0; j < n_; ++j) {
      put(at_.work, j, objective_ * get(at_.x, j) - get(at_.adjoint, j));
    }
    bring(at_.work, n_, to.vector);
    const Pack zero(0.0), one(1.0), half(0.5);
    const long behind = static_cast<long>(m_) * kWidth;
    bring(at_.e + behind, all_ - m_, to.cone_vector);
    for (const bool upper : {true, false}) {
      if ((upper ? to.upper : to.lower) == nullptr) continue;
      for (int i = 0; i < m_; ++i) {
        const Pack y = get(at_.y, i), sign = get(at_.sign, i);
        const Pack named = select(y > zero, one, select(y < zero, zero, half));
        const Pack up = select(this->is_equation(i), named, select(sign > zero, one, zero));
        const Pack share = upper ? up : one - up;
        put(at_.gain, i, select(share > zero, share * get(at_.e, i), zero));
      }
      bring(at_.gain, m_, upper ? to.upper : to.lower);
    }
    const unsigned good = good_.bits();
    for (int lane = 0; lane < lanes_; ++lane) {
      if ((good >> lane & 1U) != 0) write(p_ + lane, lane);
    }
  }
  /// The gradients in matrices, row by row in the lanes of packs.
  CAROM_INLINE void write(std::int64_t p, int lane) const {
    const auto& to = r_.gradient;
    double x[kMostOfQpInPacks + kWidth], a[kMostOfQpInPacks + kWidth];
    double of_p[kMostOfQpInPacks + kWidth], objective[kWidth];
    objective_.store(objective);
    for (int j = 0; j < n_; ++j) {
      x[j] = at_.x[static_cast<long>(j) * kWidth + lane];
      a[j] = at_.adjoint[static_cast<long>(j) * kWidth + lane];
      of_p[j] = a[j] - 0.5 * objective[lane] * x[j];
    }
    // row = by of + by_x x; a row but the last one may write over the next one's place.
    const auto row = [&](double* out, bool last, const double* of, double by, double by_x) {
      if (!last && n_ >= kWidth) {
        const Pack first(by), second(by_x);
        for (int j = 0; j < n_; j += kWidth) {
          (first * Pack::load(of + j) + second * Pack::load(x + j)).store(out + j);
        }
      } else {
        for (int j = 0; j < n_; ++j) out[j] = by * of[j] + by_x * x[j];
      }
    };
    if (to.hessian != nullptr) {
      double* out = to.hessian + p * n_ * n_;
      for (int i = 0; i < n_; ++i) {
        row(out + static_cast<long>(i) * n_, i + 1 == n_, of_p, -0.5 * x[i], -0.5 * of_p[i]);
      }
    }
    const auto rows = [&](double* out, int first, int count) {
      if (out == nullptr) return;
      for (int i = 0; i < count; ++i) {
        const long at = static_cast<long>(first + i) * kWidth + lane;
        row(out + static_cast<long>(i) * n_, i + 1 == count, a, -at_.y[at], -at_.e[at]);
      }
    };
    rows(to.matrix == nullptr ? nullptr : to.matrix + p * m_ * n_, 0, m_);
    rows(to.cone_matrix == nullptr ? nullptr : to.cone_matrix + p * (all_ - m_) * n_, m_,
         all_ - m_);
  }

  template <class Table>
  CAROM_INLINE void report(Table& table, Smoothness status, Mask lanes) const {
    put_reports<Isa>(
        derivatives::ReportOf<Pack>{status, residual_, this->margin_, this->condition_,
                                    this->shift_, reach_, 0},
        lanes.bits(), [&](int lane) { return p_ + lane; }, table);
  }

  Mask good_;
  Pack residual_{0.0}, reach_{0.0}, objective_{0.0};
};

}  // namespace carom::cpu::simd
