#pragma once

#include <type_traits>

#include <carom/certificate.hpp>
#include <carom/certificate_curvature.hpp>
#include <carom/certificate_qp_scales.hpp>
#include <carom/device/qp_problem.hpp>

/// Residuals and proofs for quadratic programs with cones, recomputed from the problem data only.
/// Every row and column is checked in its own units, so that no verdict depends on the units of
/// variables, rows or objective, nor on numbers elsewhere: docs/explanation/certificates.md.
namespace carom::certificate {

/// Whether an answer may depend on data that the rounding of their own equations hides. Such data
/// are either rounding in place of zeros, or what proves that there is no answer.
enum class Leaning : unsigned char {
  refused,         ///< the residual is infinite: an exact method must decide
  by_active_rows,  ///< of a strictly convex problem, rows with a multiplier being independent
  allowed,         ///< such data count as zero
};

template <class V>
struct QpResidual {
  V primal;      ///< largest distance to a row's interval or a cone, over the row's datum
  V dual;        ///< largest |P x + q + A'y|_j or wrong sign of y, over the column's datum
  V complement;  ///< largest relative slack of a row or cone times its relative multiplier
  V gap;         ///< |x'P x + q'x + u'y+ - l'y- + h'z| over its terms' magnitudes, a thousandth
  V objective;   ///< 1/2 x'P x + q'x
  [[nodiscard]] CAROM_INLINE V value() const {
    // NaN wherever one of them is.
    MaxAbs<V> worst;
    worst.add(primal);
    worst.add(dual);
    worst.add(complement);
    worst.add(gap);
    return worst.value;
  }
};

template <class Memory>
struct QpJudgeLayout {
  QpScalesLayout<Memory> scales;
  Memory felt;  ///< [n] the largest share of a datum that a change of x_j by one makes

  CAROM_INLINE constexpr QpJudgeLayout(kernels::Arena<Memory>& arena, long n, long rows)
      : scales(arena, n, rows), felt(arena.take(n)) {}
};
/// Values that a judgement needs for itself.
CAROM_INLINE constexpr long qp_judge_workspace(long n, long rows) {
  return kernels::values_of<QpJudgeLayout>(n, rows);
}

/// Judges answers to one problem, or one pack of problems; the result is on every lane. Cone rows
/// are those of second-order cones; answers are indexed like the problem, x: [n], y: [rows]. A
/// residual that exceeds the rounding of its own sum by nothing is zero.
template <class V, class Lanes, class Data, class Memory>
class QpJudge : QpScales<V, Lanes, Data, Memory> {
  using Base = QpScales<V, Lanes, Data, Memory>;

 public:
  /// memory: qp_judge_workspace.
  CAROM_HOST_DEVICE QpJudge(const Lanes& lanes, const kernels::QpShape& shape,
                            const kernels::QpView<Data>& view, const Memory& memory)
      : QpJudge(lanes, shape, view,
                kernels::placed<QpJudgeLayout>(memory, shape.variables, shape.rows)) {}

  /// Of the optimality conditions at (x, y). sharply: what is then above kHidden is judged again by
  /// sums in twice the precision, as large multipliers of nearly parallel rows need it.
  template <class X, class Y>
  CAROM_CALL QpResidual<V> residual(const X& x, const Y& y, Leaning leaning = Leaning::allowed,
                                    bool sharply = true) const {
    using kernels::larger;
    QpResidual<V> judged = judged_equations(x, y);
    const bool leans = leaning != Leaning::allowed && shape_.cones == 0;
    const V hidden = leans ? hidden_data(y, leaning) : V(0.0);
    if constexpr (std::is_same_v<V, double>) {
      if (sharply && shape_.cones == 0 && !(judged.value() <= kHidden)) {
        QpJudge sharp = *this;
        sharp.column_rounding_ = kSharp;
        sharp.counted_slack_ = row_rounding_;
        Base::sharpen_columns(x, y);
        invert_columns();
        const QpResidual<V> again = sharp.evaluate(x, y);
        if (again.value() < judged.value()) judged = again;
      }
    }
    if (leans) judged.primal = larger(hidden, judged.primal);
    return judged;
  }

 private:
  template <class X, class Y>
  CAROM_CALL QpResidual<V> judged_equations(const X& x, const Y& y) const {
    using kernels::all_of;
    using kernels::select;
    Base::multiply_rows(x);
    Base::multiply_hessian(x);
    Base::multiply_columns(y);
    know_zeros(n_, x, at_.known_x);
    know_zeros(rows_, y, at_.known_y);
    Base::explain({true, true, true}, x, y);
    weigh_multipliers(y);
    const QpResidual<V> strict = evaluate(x, y);
    const auto judged = strict.value() <= V(kClose);
    if (all_of(judged)) return strict;
    widen_single_rows(V(0.0));
    const QpResidual<V> wide = evaluate(x, y);
    return {select(judged, strict.primal, wide.primal), select(judged, strict.dual, wide.dual),
            select(judged, strict.complement, wide.complement), strict.gap, strict.objective};
  }

 public:
  /// Zeros in place of what rounding left there: x_j that no equation feels but rows whose bounds
  /// are zero, y_i that no column feels. Of the (x, y) that `residual` judged last, where `wanted`.
  template <class X, class Y>
  CAROM_CALL void clean(const X& x, const Y& y,
                        kernels::MaskOf<V> wanted = kernels::mask_of<V>(true)) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    weigh_by_other_terms(x);
    lanes_.for_each(rows_, [&](int i) {
      const auto noise = (at_.row_datum[i] * magnitude(y[i]) <= V(kNoise)) & wanted;
      y[i] = select(noise, V(0.0), y[i]);
    });
    feel_columns(V(0.0));
    for (int i = 0; i < rows_; ++i) {
      const V own = larger(finite_size(view_.lower[i]), finite_size(view_.upper[i]));
      const V share = select(own > V(kTiny), V(1.0) / select(own > V(kTiny), own, V(1.0)), V(0.0));
      Base::for_row_of_lanes(
          i, [&](int j) { felt_[j] = larger(magnitude(Base::matrix(i, j)) * share, felt_[j]); });
    }
    lanes_.for_each(n_, [&](int j) {
      const auto noise = (felt_[j] > V(0.0)) & (felt_[j] * magnitude(x[j]) <= V(kNoise)) & wanted;
      x[j] = select(noise, V(0.0), x[j]);
    });
  }

  /// Of the rows and cones only.
  template <class X>
  CAROM_CALL V point_residual(const X& x) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    Base::multiply_rows(x);
    Base::no_hessian();
    know_zeros(n_, x, at_.known_x);
    Base::explain({true, false, false}, x, x);
    lanes_.for_each(n_, [&](int j) { at_.known_x[j] = V(0.0); });
    widen_single_rows(V(0.0));
    MaxAbs<V> worst;
    for_interval_rows([&](int i) {
      const auto side = [&](V bound, V value) {
        const V there = kernels::presence(bound);
        const V limit = select(there > V(0.0), bound, V(0.0));
        const V size = magnitude(limit) + at_.row_size[i];
        const V datum = unit_of(larger(magnitude(limit), at_.row_datum[i]), magnitude(limit), size,
                                row_rounding_);
        worst.add(there * missed(positive_part(value - limit), size, datum, row_rounding_));
      };
      side(view_.upper[i], at_.value[i]);
      side(-view_.lower[i], -at_.value[i]);
      worst.add(crossed(i));
      worst.add(reach_of(i, view_.upper[i] - at_.value[i], at_.value[i] - view_.lower[i]));
    });
    Base::for_cones([&](const kernels::QpConeSpan& cone) {
      worst.add(cone_violation(cone, [&](int i) { return view_.upper[i] - at_.value[i]; }));
    });
    return worst.value;
  }

  /// Farkas' proof that no x meets the rows: A'y = 0 with y of signs that the bounds allow, in the
  /// dual cones, and u'y+ - l'y- + h'z < 0. The negative of that support is the datum that explains
  /// y; infinity where there is none.
  template <class Y>
  CAROM_CALL V farkas_residual(const Y& y) const {
    using kernels::all_of;
    using kernels::select;
    const V plain = farkas_by(y, shape_.cones == 0);
    const auto close = plain <= V(kClose);
    if (shape_.cones == 0 || all_of(close)) return plain;
    // On the boundary of a dual cone a small margin may be that of a face without any proof.
    const V small = select(inside_duals(y) > V(0.0), farkas_by(y, true), V(kernels::kInfinity));
    return select(small < plain, small, plain);
  }

 private:
  /// small: margins far below their terms count as well.
  template <class Y>
  CAROM_CALL V farkas_by(const Y& y, bool small) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    V support(0.0);
    MaxAbs<V> terms;
    const auto bound_of = [&](int i) {
      return select(y[i] > V(0.0), view_.upper[i], view_.lower[i]);
    };
    const auto earn = [&](V bound, V multiplier) {
      const V term = select(magnitude(bound) < V(kernels::kInfinity), bound * multiplier, V(0.0));
      support = support + term;
      terms.add(term);
      return magnitude(term);
    };
    // known_y holds what y_i earns, until the margin is known
    for_interval_rows([&](int i) { keep(at_.known_y, i, earn(bound_of(i), y[i])); });
    Base::for_cones([&](const kernels::QpConeSpan& cone) {
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        keep(at_.known_y, i, earn(view_.upper[i], y[i]));
      }
    });
    const V margin = -support;
    const V explaining = explaining_margin(margin, terms.value, small);
    lanes_.for_each(rows_, [&](int i) {
      const V zero = select(y[i] != V(0.0), V(0.0), V(1.0));
      at_.known_y[i] = larger(reached(at_.known_y[i], explaining), zero);
    });
    Base::no_hessian();
    Base::multiply_columns(y);
    Base::explain({false, false, true, false}, y, y);
    lower_data(at_.column_datum, n_, margin, explaining);
    weigh_multipliers(y);
    MaxAbs<V> worst;
    for (int j = 0; j < n_; ++j) {
      worst.add(missed(at_.pull[j], at_.column_size[j], at_.column_datum[j], column_rounding_));
      worst.add(beyond_reach(at_.column_size[j], at_.column_datum[j], column_rounding_));
    }
    for_interval_rows([&](int i) {
      worst.add(select(magnitude(bound_of(i)) < V(kernels::kInfinity), V(0.0),
                       magnitude(y[i]) * at_.known_y[i]));
    });
    Base::for_cones([&](const kernels::QpConeSpan& cone) { worst.add(outside_dual(cone, y)); });
    worst.add(hidden_margin(terms.value, margin, sum_rounding(rows_), small));
    return select(margin > V(0.0), worst.value, V(kernels::kInfinity));
  }
  /// 1 where what cones have of y is zero or clear of their boundary.
  template <class Y>
  CAROM_CALL V inside_duals(const Y& y) const {
    using kernels::magnitude;
    using kernels::select;
    V inside(1.0);
    Base::for_cones([&](const kernels::QpConeSpan& cone) {
      V whole(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) whole = whole + magnitude(y[i]);
      const V margin = margin_of(cone, [&](int i) { return y[i]; });
      inside = select(margin >= V(kClearOfCone) * whole, inside, V(0.0));
    });
    return inside;
  }

 public:
  /// Proof that the objective has no lower bound along d: P d = 0, q'd < 0, and no row or cone ends
  /// the way. The fall -q'd is the datum that explains d; infinity where it is not positive.
  /// Unbounded only with a point that point_residual accepts.
  template <class X>
  CAROM_CALL V ray_residual(const X& d) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    V slope(0.0);
    MaxAbs<V> terms;
    for (int j = 0; j < n_; ++j) {
      const V term = view_.gradient[j] * d[j];
      slope = slope + term;
      terms.add(term);
    }
    const V fall = -slope;
    const V explaining = explaining_margin(fall, terms.value, shape_.cones == 0);
    Base::multiply_rows(d);
    Base::multiply_hessian(d);
    lanes_.for_each(n_, [&](int j) {
      const V zero = select(d[j] != V(0.0), V(0.0), V(1.0));
      at_.known_x[j] = larger(reached(magnitude(view_.gradient[j] * d[j]), explaining), zero);
    });
    Base::explain({true, true, false, false}, d, d);
    lower_data(at_.column_datum, n_, fall, explaining);
    lower_data(at_.row_datum, rows_, fall, explaining);
    invert_columns();
    widen_single_rows(V(1.0) / select(fall > V(kTiny), fall, V(kTiny)));
    MaxAbs<V> worst;
    for (int j = 0; j < n_; ++j) {
      worst.add(missed(at_.bent[j], at_.column_size[j], at_.column_datum[j], column_rounding_));
      worst.add(beyond_reach(at_.column_size[j], at_.column_datum[j], column_rounding_));
    }
    for_interval_rows([&](int i) {
      const V above = kernels::presence(view_.upper[i]) * positive_part(at_.value[i]);
      const V below = kernels::presence(view_.lower[i]) * positive_part(-at_.value[i]);
      worst.add(missed(above + below, at_.row_size[i], at_.row_datum[i], row_rounding_));
      const V infinity(kernels::kInfinity);
      worst.add(reach_of(i, select(view_.upper[i] < infinity, -at_.value[i], infinity),
                         select(view_.lower[i] > -infinity, at_.value[i], infinity)));
    });
    Base::for_cones([&](const kernels::QpConeSpan& cone) {
      worst.add(cone_violation(cone, [&](int i) { return -at_.value[i]; }));
    });
    worst.add(hidden_margin(terms.value, fall, sum_rounding(n_), shape_.cones == 0));
    return select(fall > V(0.0), worst.value, V(kernels::kInfinity));
  }

 private:
  CAROM_HOST_DEVICE QpJudge(const Lanes& lanes, const kernels::QpShape& shape,
                            const kernels::QpView<Data>& view, const QpJudgeLayout<Memory>& layout)
      : Base(lanes, shape, view, layout.scales),
        felt_(layout.felt),
        row_rounding_(sum_rounding(shape.variables)),
        column_rounding_(sum_rounding(static_cast<long>(shape.variables) + shape.rows)) {}

  static constexpr double kClose = 1e-13;
  static constexpr double kSharp = 0x1p-51;           // rounding of two sums in twice the precision
  static constexpr double kNoise = 1e-11;             // share of a datum
  static constexpr double kGapShare = 1e-3;           // the tolerance is one on equations
  static constexpr double kComputedZero = 8.0;        // roundings of the terms that one may be
  static constexpr double kHiddenDatum = 1e-3;        // share of a datum that rounding may hide
  static constexpr double kSeenMargin = 0x1p-10;      // share of a proof's margin that it may hide
  static constexpr double kSeenConeMargin = 0x1p-25;  // of the terms, with cones
  static constexpr double kClearOfCone = 1e-10;       // share of a vector inside of it

  using Base::at_, Base::lanes_, Base::n_, Base::rows_, Base::shape_, Base::view_;

  /// The residual by the data as they stand, known_x and known_y weighed.
  template <class X, class Y>
  CAROM_CALL QpResidual<V> evaluate(const X& x, const Y& y) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    QpResidual<V> result{V(0.0), V(0.0), V(0.0), V(0.0), V(0.0)};
    V gap(0.0);  // of primal and dual objective
    V terms(0.0);
    V bend(0.0);   // x'P x
    V noise(0.0);  // what its rounding may be, over that of one term
    const auto earn = [&](V term) {
      gap = gap + term;
      terms = terms + magnitude(term);
    };
    MaxAbs<V> dual;
    for (int j = 0; j < n_; ++j) {
      const V q = view_.gradient[j];
      dual.add(missed(at_.bent[j] + q + at_.pull[j], at_.column_size[j],
                      unit_of(at_.column_datum[j], magnitude(q), at_.column_size[j] + magnitude(q),
                              column_rounding_),
                      column_rounding_));
      dual.add(beyond_reach(at_.column_size[j], at_.column_datum[j], column_rounding_));
      result.objective = result.objective + x[j] * (V(0.5) * at_.bent[j] + q);
      bend = bend + x[j] * at_.bent[j];
      noise = noise + magnitude(x[j]) * at_.column_size[j];
      earn(x[j] * q);
    }
    earn(bend);  // as a whole: along a ray its parts are large and cancel
    MaxAbs<V> primal;
    MaxAbs<V> complement;
    for_interval_rows([&](int i) {
      if (adds_nothing(i, y[i])) return;
      // value <= bound with multiplier >= 0
      const auto side = [&](V bound, V value, V multiplier) {
        const V there = kernels::presence(bound);
        const V limit = select(there > V(0.0), bound, V(0.0));
        const V size = magnitude(limit) + at_.row_size[i];
        const V datum = unit_of(larger(magnitude(limit), at_.row_datum[i]), magnitude(limit), size,
                                row_rounding_);
        const V slack = missed(value - limit, size, datum, row_rounding_);
        primal.add(there * select(value <= limit, V(0.0), slack));
        const V counted =
            select(magnitude(value - limit) <= V(counted_slack_) * size, V(0.0), slack);
        complement.add(there * (multiplier * at_.known_y[i]) * counted);
        earn(limit * multiplier);
        dual.add((V(1.0) - there) * (multiplier * at_.known_y[i]));
      };
      side(view_.upper[i], at_.value[i], positive_part(y[i]));
      side(-view_.lower[i], -at_.value[i], positive_part(-y[i]));
      primal.add(reach_of(i, view_.upper[i] - at_.value[i], at_.value[i] - view_.lower[i]));
      primal.add(crossed(i));
    });
    Base::for_cones([&](const kernels::QpConeSpan& cone) {
      const auto slack = [&](int i) { return view_.upper[i] - at_.value[i]; };
      primal.add(cone_violation(cone, slack));
      V product(0.0);
      V whole(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        product = product + slack(i) * y[i];
        whole = whole + magnitude(y[i]);
        earn(view_.upper[i] * y[i]);
      }
      dual.add(outside_dual(cone, y));
      const int i = cone.first;
      const V size = larger(at_.row_size[i], at_.row_datum[i]);
      complement.add(at_.known_y[i] *
                     missed(product, size * whole, at_.row_datum[i], row_rounding_));
    });
    result.primal = primal.value;
    result.dual = dual.value;
    result.complement = complement.value;
    const V beyond = positive_part(magnitude(gap) - V(column_rounding_) * noise);
    result.gap = V(kGapShare) * beyond / select(terms > V(kTiny), terms, V(kTiny));
    return result;
  }

  /// A row of one entry knows no unit of its own where its bound is zero: it takes the change of
  /// its variable that every larger equation would count as one datum, other bounds of it as well,
  /// so that a bound missed by what no equation feels is no violation. Cones take the least of
  /// their rows' units but for those of variables that nothing else feels. known_x: 1 / column
  /// data; objective: 1 / datum of the equation q'x, or 0. Overwrites the columns' sizes.
  CAROM_CALL void widen_single_rows(V objective) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    using kernels::smaller;
    feel_columns(objective);
    for (int i = 0; i < rows_; ++i) {
      const V own = larger(finite_size(view_.lower[i]), finite_size(view_.upper[i]));
      const V datum = select(own > V(0.0), smaller(own, at_.row_datum[i]), at_.row_datum[i]);
      const V share =
          select(is_single(i), V(0.0),
                 select(datum > V(kTiny), V(1.0) / select(datum > V(kTiny), datum, V(1.0)),
                        V(1.0 / kTiny)));
      Base::for_row_of_lanes(
          i, [&](int j) { felt_[j] = larger(magnitude(Base::matrix(i, j)) * share, felt_[j]); });
    }
    for (int i = 0; i < rows_; ++i) {
      const V bound = larger(finite_size(view_.lower[i]), finite_size(view_.upper[i]));
      const V share = select(is_single(i) & (bound > V(kTiny)),
                             V(1.0) / select(bound > V(kTiny), bound, V(1.0)), V(0.0));
      Base::for_row_of_lanes(i, [&](int j) {
        const V cap = magnitude(Base::matrix(i, j)) * share;
        felt_[j] = select(felt_[j] > V(0.0), larger(cap, felt_[j]), V(0.0));
      });
    }
    for_interval_rows([&](int i) { raise_datum(i, single_unit(i)); });
    Base::for_cones([&](const kernels::QpConeSpan& cone) {
      V unit(kernels::kInfinity);
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        const V own = select(is_unfelt(i), V(kernels::kInfinity), single_unit(i));
        unit = smaller(own, unit);
      }
      unit = select(unit < V(kernels::kInfinity), unit, V(0.0));
      for (int i = cone.first; i < cone.first + cone.size; ++i) raise_datum(i, unit);
    });
  }
  /// felt_ by the columns of P and the objective.
  CAROM_INLINE void feel_columns(V objective) const {
    using kernels::larger;
    using kernels::magnitude;
    lanes_.for_each(n_, [&](int j) {
      V felt = magnitude(view_.gradient[j]) * objective;
      Base::for_hessian(
          j, [&](int k, V entry) { felt = larger(magnitude(entry) * at_.known_x[k], felt); });
      felt_[j] = felt;
    });
  }
  /// A proof by a margin far below its terms, as that of a contradiction by 1e-6, explains as much
  /// as a larger one would, and each equation then counts by so much more.
  CAROM_INLINE V explaining_margin(V margin, V terms, bool small) const {
    using kernels::larger;
    return small ? larger(margin, terms * V(1.0 / kExplained)) : margin;
  }
  CAROM_CALL void lower_data(const Memory& data, int count, V margin, V explaining) const {
    using kernels::select;
    const V share = select(explaining > margin, margin / explaining, V(1.0));
    lanes_.for_each(count, [&](int e) { data[e] = data[e] * share; });
  }
  CAROM_INLINE V hidden_margin(V terms, V margin, double rounding, bool small) const {
    using kernels::select;
    if (!small) return beyond_reach(terms, margin, rounding);
    const double hidden = shape_.cones > 0 ? kSeenConeMargin : rounding / kSeenMargin;
    return select(V(hidden) * terms <= margin, V(0.0), V(kernels::kInfinity));
  }
  CAROM_INLINE static V finite_size(V bound) {
    using kernels::magnitude;
    using kernels::select;
    const V size = magnitude(bound);
    return select(size < V(kernels::kInfinity), size, V(0.0));
  }
  CAROM_INLINE auto is_single(int i) const {
    using kernels::select;
    V count(0.0);
    Base::for_row(
        i, [&](int j) { count = count + select(Base::matrix(i, j) != V(0.0), V(1.0), V(0.0)); });
    return count <= V(1.0);
  }
  /// Of a single row; 0 where it is none or nothing feels its variable.
  CAROM_INLINE V single_unit(int i) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    V unit(0.0);
    Base::for_row(i, [&](int j) {
      const V felt = felt_[j];
      unit = larger(select(felt > V(kTiny), magnitude(Base::matrix(i, j)) / felt, V(0.0)), unit);
    });
    return select(is_single(i), unit, V(0.0));
  }
  /// A single row of a variable that no equation feels, as one that bounds a norm from above.
  CAROM_INLINE auto is_unfelt(int i) const {
    using kernels::magnitude;
    V entries(0.0);
    V felt(0.0);
    Base::for_row(i, [&](int j) {
      entries = entries + magnitude(Base::matrix(i, j));
      felt = felt + magnitude(Base::matrix(i, j)) * felt_[j];
    });
    return is_single(i) & (entries > V(0.0)) & !(felt > V(0.0));
  }
  CAROM_INLINE void raise_datum(int i, V unit) const {
    using kernels::larger;
    const V datum = larger(unit, at_.row_datum[i]);
    lanes_.for_each(1, [&](int) { at_.row_datum[i] = datum; });
  }

  /// beyond_reach of a row, unless it lies on the right side of its bounds by more than rounding.
  CAROM_INLINE V reach_of(int i, V to_upper, V to_lower) const {
    using kernels::select;
    const V rounding = V(row_rounding_) * at_.row_size[i];
    return select((to_upper > rounding) & (to_lower > rounding), V(0.0),
                  beyond_reach(at_.row_size[i], at_.row_datum[i], row_rounding_));
  }
  /// Methods for cones come no closer than their tolerance: there the datum itself is the unit.
  /// A bound below the rounding of its terms is a zero that was computed, and no unit.
  CAROM_INLINE V unit_of(V datum, V own, V size, double rounding) const {
    using kernels::select;
    if (shape_.cones > 0) return datum;
    return unit_of_residual(datum, select(own > V(kComputedZero * rounding) * size, own, V(0.0)));
  }
  /// Whether row i is met, its rounding hides nothing, and no answer has a multiplier of it: then
  /// all that a residual has of it is zero.
  CAROM_INLINE bool adds_nothing(int i, V multiplier) const {
    using kernels::all_of;
    const V value = at_.value[i];
    const V hidden = V(row_rounding_) * at_.row_size[i];
    return all_of((value <= view_.upper[i]) & (value >= view_.lower[i]) &
                  (hidden <= V(kHidden) * at_.row_datum[i]) & !(multiplier != V(0.0)));
  }
  /// Infinity where l_i > u_i.
  CAROM_INLINE V crossed(int i) const {
    using kernels::select;
    return select(view_.lower[i] > view_.upper[i], V(kernels::kInfinity), V(0.0));
  }

  /// Infinity where rounding hides the datum of an equation that the answer leans on. After
  /// judged_equations.
  template <class Y>
  CAROM_CALL V hidden_data(const Y& y, Leaning leaning) const {
    using kernels::magnitude;
    using kernels::select;
    const auto hidden = [](V own, V rounding) {
      return (own > V(0.0)) & (V(kHiddenDatum) * own < rounding);
    };
    auto found = kernels::mask_of<V>(false);
    if (leaning == Leaning::refused) {
      for (int j = 0; j < n_; ++j) {
        found =
            found | hidden(magnitude(view_.gradient[j]), V(column_rounding_) * at_.column_size[j]);
      }
    }
    for (int i = 0; i < rows_; ++i) {
      const V rounding = V(row_rounding_) * at_.row_size[i];
      const auto at_upper = !(view_.upper[i] - at_.value[i] > rounding);
      const auto at_lower = !(at_.value[i] - view_.lower[i] > rounding);
      const auto leans = (at_upper & hidden(magnitude(view_.upper[i]), rounding)) |
                         (at_lower & hidden(magnitude(view_.lower[i]), rounding));
      found = found | (leaning == Leaning::refused ? leans : leans & !(y[i] != V(0.0)));
    }
    return select(found, V(kernels::kInfinity), V(0.0));
  }
  CAROM_INLINE void keep(const Memory& to, int i, V value) const {
    lanes_.for_each(1, [&](int) { to[i] = value; });
  }
  template <class F>
  CAROM_INLINE void for_interval_rows(F&& f) const {
    int i = 0;
    for (int c = 0; c <= shape_.cones; ++c) {
      const int end = c < shape_.cones ? shape_.cone[c].first : rows_;
      for (; i < end; ++i) f(i);
      if (c < shape_.cones) i = end + shape_.cone[c].size;
    }
  }
  template <class Values>
  CAROM_INLINE void know_zeros(int count, const Values& values, const Memory& known) const {
    using kernels::select;
    lanes_.for_each(count, [&](int i) { known[i] = select(values[i] != V(0.0), V(0.0), V(1.0)); });
  }

  /// known_x, which has served, = 1 / column data; 0 where there is none.
  CAROM_CALL void invert_columns() const {
    using kernels::select;
    lanes_.for_each(n_, [&](int j) {
      const V datum = at_.column_datum[j];
      at_.known_x[j] =
          select(datum > V(kTiny), V(1.0) / select(datum > V(kTiny), datum, V(1.0)), V(0.0));
    });
  }

  /// row_datum = the same as known_y after weigh_multipliers, over q_j and P x only, where a row
  /// meets a column that has them: in others nothing but noise may hold a multiplier.
  template <class X>
  CAROM_CALL void weigh_by_other_terms(const X& x) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    lanes_.for_each(n_, [&](int j) {
      V size = magnitude(view_.gradient[j]);
      Base::for_hessian(j, [&](int k, V entry) { size = size + magnitude(entry * x[k]); });
      felt_[j] = select(size > V(kTiny), V(1.0) / select(size > V(kTiny), size, V(1.0)), V(0.0));
    });
    lanes_.for_each(rows_, [&](int i) {
      V most(0.0);
      Base::for_row(i,
                    [&](int j) { most = larger(magnitude(Base::matrix(i, j)) * felt_[j], most); });
      at_.row_datum[i] = select(most > V(0.0), most, at_.known_y[i]);
    });
  }

  /// known_y = the largest term that a multiplier of one has in a column, over the column's
  /// datum.
  template <class Y>
  CAROM_CALL void weigh_multipliers(const Y& y) const {
    using kernels::any_of;
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    invert_columns();
    lanes_.for_each(rows_, [&](int i) {
      V most(0.0);
      if (any_of(y[i] != V(0.0))) {
        Base::for_row(
            i, [&](int j) { most = larger(magnitude(Base::matrix(i, j)) * at_.known_x[j], most); });
      }
      at_.known_y[i] = most;
    });
    Base::join_cones(at_.known_y);
  }

  /// How far (t, v) of the rows lies outside of their cone, t < |v|, over the cone's datum.
  template <class F>
  CAROM_INLINE V cone_violation(const kernels::QpConeSpan& cone, F&& value) const {
    using kernels::larger;
    const int i = cone.first;
    MaxAbs<V> worst;
    worst.add(missed(positive_part(-margin_of(cone, value)),
                     larger(at_.row_size[i], at_.row_datum[i]) * V(roots(cone)), at_.row_datum[i],
                     row_rounding_));
    // t - |v| is no larger than the distance to either side
    worst.add(reach_of(i, margin_of(cone, value) / V(roots(cone)), V(kernels::kInfinity)));
    return worst.value;
  }
  template <class Y>
  CAROM_INLINE V outside_dual(const kernels::QpConeSpan& cone, const Y& y) const {
    using kernels::magnitude;
    const auto value = [&](int i) { return y[i]; };
    const V allowed = V(row_rounding_ * roots(cone)) * magnitude(y[cone.first]);
    return positive_part(-margin_of(cone, value) - allowed) * at_.known_y[cone.first];
  }
  /// t - |v|.
  template <class F>
  CAROM_INLINE V margin_of(const kernels::QpConeSpan& cone, F&& value) const {
    using kernels::square_root;
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      sum = sum + value(i) * value(i);
    }
    return value(cone.first) - square_root(sum);
  }
  CAROM_INLINE static double roots(const kernels::QpConeSpan& cone) {
    return 1.0 + kernels::square_root(static_cast<double>(cone.size));
  }

  Memory felt_;
  double row_rounding_, column_rounding_;
  double counted_slack_ = -1.0;  // of a row's terms: less is none
};

}  // namespace carom::certificate
