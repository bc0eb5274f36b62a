#pragma once

#include <carom/certificate.hpp>
#include <carom/kernels/qp_problem.hpp>

/// Residuals and proofs for quadratic programs with cones, recomputed from the problem data alone.
///
/// All of them are measured in units that do not depend on how variables and rows are scaled:
/// D_j = 1 / sqrt(P_jj) is the unit of variable j (where P_jj = 0 or below 1e-12 of the largest:
/// of the largest, or of column j of A), 1 / R_i = max_j |A_ij| D_j the unit of row i, one for all
/// rows of a cone.
namespace carom::certificate {

/// Units of the variables and rows. Memory: as the body's, writable.
template <class Memory>
struct QpUnits {
  Memory column;  ///< D, [n]
  Memory row;     ///< 1 / R, [rows]
};

template <class V>
struct QpResidual {
  V primal;      ///< largest distance to a row's interval or a cone, R_i times, over the length
  V dual;        ///< largest D_j |P x + q + A'y|_j or wrong sign of y, over the force
  V complement;  ///< sum of |y_i| times the distance to its bound, s'z, over length times force
  V objective;   ///< 1/2 x'P x + q'x
  [[nodiscard]] CAROM_INLINE V value() const {
    using kernels::select;
    // NaN wherever one of them is.
    MaxAbs<V> worst;
    worst.add(primal);
    worst.add(dual);
    worst.add(complement);
    return worst.value;
  }
};

/// Fills `units`. Reads the rows' nonzero columns only.
template <class V, class Data, class Memory>
CAROM_HOST_DEVICE void qp_units(const kernels::QpShape& shape, const kernels::QpView<Data>& view,
                                const QpUnits<Memory>& units) {
  using kernels::larger;
  using kernels::magnitude;
  using kernels::select;
  using kernels::square_root;
  const long n = shape.variables;
  V largest(0.0);
  for (long j = 0; j < n; ++j) {
    largest = larger(view.hessian[j * n + j], largest);
    units.column[j] = V(0.0);
  }
  for (int i = 0; i < shape.rows; ++i) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      units.column[j] = larger(magnitude(view.matrix[i * n + j]), units.column[j]);
    }
  }
  for (long j = 0; j < n; ++j) {
    const V diagonal = view.hessian[j * n + j];
    const V floor = larger(diagonal, V(1e-12) * largest);
    const V column = units.column[j];
    units.column[j] = V(1.0) / select(diagonal > V(0.0), square_root(larger(floor, V(kTiny))),
                                      select(column > V(0.0), column, V(1.0)));
  }
  for (int i = 0; i < shape.rows; ++i) {
    V size(0.0);
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      size = larger(magnitude(view.matrix[i * n + j]) * units.column[j], size);
    }
    units.row[i] = size;
  }
  for (int c = 0; c < shape.cones; ++c) {
    const kernels::QpConeSpan& cone = shape.cone[c];
    V size(0.0);
    for (int i = cone.first; i < cone.first + cone.size; ++i) size = larger(units.row[i], size);
    for (int i = cone.first; i < cone.first + cone.size; ++i) units.row[i] = size;
  }
  for (int i = 0; i < shape.rows; ++i) {
    units.row[i] = select(units.row[i] > V(0.0), units.row[i], V(1.0));
  }
}

namespace detail {

template <class V, class Data, class Memory>
CAROM_INLINE V row_value(const kernels::QpShape& shape, const Data& matrix, const Memory& x,
                         int i) {
  const long n = shape.variables;
  V sum(0.0);
  for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
    const int j = shape.column[t];
    sum = sum + matrix[i * n + j] * x[j];
  }
  return sum;
}

template <class V, class Data, class Memory>
CAROM_INLINE V hessian_value(int variables, const Data& hessian, const Memory& x, int j) {
  const long n = variables;
  V sum(0.0);
  for (int k = 0; k < variables; ++k) {
    sum = sum + (k <= j ? hessian[j * n + k] : hessian[k * n + j]) * x[k];
  }
  return sum;
}

/// Row j of P x and of |P| |x|.
template <class V>
struct ProductAndSize {
  V product, size;
};
template <class V, class Data, class Memory>
CAROM_INLINE ProductAndSize<V> hessian_product(int variables, const Data& hessian, const Memory& x,
                                               int j) {
  using kernels::magnitude;
  const long n = variables;
  ProductAndSize<V> sum{V(0.0), V(0.0)};
  const auto add = [&sum](V term) {
    sum.product = sum.product + term;
    sum.size = sum.size + magnitude(term);
  };
  for (int k = 0; k <= j; ++k) add(hessian[j * n + k] * x[k]);
  for (int k = j + 1; k < variables; ++k) add(hessian[k * n + j] * x[k]);
  return sum;
}

/// (t, v) -> t - |v| of the rows of one cone, of `value(i)`.
template <class V, class F>
CAROM_INLINE V cone_margin(const kernels::QpConeSpan& cone, F&& value) {
  using kernels::square_root;
  V sum(0.0);
  for (int i = cone.first + 1; i < cone.first + cone.size; ++i) sum = sum + value(i) * value(i);
  return value(cone.first) - square_root(sum);
}

}  // namespace detail

/// Residual of the optimality conditions at (x, y). Lengths are max(|x / D|, |D q|) - the second is
/// that of the unconstrained minimum - or R_i times a row's own bound where that is larger; the
/// force is max D_j max(|P| |x|, |q|, |A'y|). work: [n]. Cone rows are those of second-order cones.
template <class V, class Data, class Memory, class Answer>
CAROM_HOST_DEVICE QpResidual<V> qp_residual(const kernels::QpShape& shape,
                                            const kernels::QpView<Data>& view,
                                            const QpUnits<Memory>& units, const Answer& x,
                                            const Answer& y, const Memory& work) {
  using kernels::any_of;
  using kernels::larger;
  using kernels::magnitude;
  using kernels::select;
  const int variables = shape.variables;
  const V zero(0.0);
  const auto positive = [&](V v) { return select(v <= zero, zero, v); };  // keeps NaN
  for (int j = 0; j < variables; ++j) work[j] = zero;
  for (int i = 0; i < shape.rows; ++i) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      work[j] = work[j] + view.matrix[static_cast<long>(i) * variables + j] * y[i];
    }
  }
  MaxAbs<V> length;
  MaxAbs<V> force;
  MaxAbs<V> stationarity;
  QpResidual<V> residual{zero, zero, zero, zero};
  V largest(0.0);
  for (int j = 0; j < variables; ++j) {
    const V d = units.column[j];
    const auto bent = detail::hessian_product<V>(variables, view.hessian, x, j);
    const V curved = bent.product;
    const V q = view.gradient[j];
    length.add(x[j] / d);
    force.add(d * bent.size);
    force.add(d * q);
    force.add(d * work[j]);
    stationarity.add(d * (curved + q + work[j]));
    residual.objective = residual.objective + x[j] * (V(0.5) * curved + q);
    largest = larger(view.hessian[static_cast<long>(j) * variables + j], largest);
  }
  V pull(0.0);
  for (int j = 0; j < variables; ++j) {
    pull = larger(magnitude(view.gradient[j] * units.column[j]), pull);
  }
  const V whole = larger(length.value, select(largest > zero, pull, zero));
  MaxAbs<V> primal;
  MaxAbs<V> sign;
  V gap(0.0);
  const auto one_side = [&](int i, V bound, V value, V multiplier) {
    // value <= bound with multiplier >= 0
    const V on = kernels::presence(bound);
    if (!any_of(on > zero)) return sign.add(multiplier * units.row[i]);
    const V limit = select(on > zero, bound, zero);
    const V beyond = select(on > zero, positive(value - limit), zero);
    const V unit = units.row[i];
    const V size = larger(whole, magnitude(limit) / unit);
    primal.add(beyond / unit / select(size > zero, size, V(kTiny)));
    sign.add(select(on > zero, zero, multiplier * unit));
    gap = gap + select(on > zero, magnitude(multiplier * (limit - value)), zero);
  };
  int next_cone = 0;
  for (int i = 0; i < shape.rows; ++i) {
    if (next_cone < shape.cones && shape.cone[next_cone].first == i) {
      const kernels::QpConeSpan& cone = shape.cone[next_cone];
      ++next_cone;
      V size = whole;
      V product(0.0);
      const auto slack = [&](int r) {
        return view.upper[r] - detail::row_value<V>(shape, view.matrix, x, r);
      };
      for (int r = i; r < i + cone.size; ++r) {
        size = larger(size, magnitude(view.upper[r]) / units.row[r]);
        product = product + slack(r) * y[r];
      }
      const V outside = positive(-detail::cone_margin<V>(cone, slack));
      primal.add(outside / units.row[i] / select(size > zero, size, V(kTiny)));
      const auto multiplier = [&](int r) { return y[r]; };
      sign.add(positive(-detail::cone_margin<V>(cone, multiplier)) * units.row[i]);
      gap = gap + magnitude(product);
      i += cone.size - 1;
      continue;
    }
    const V value = detail::row_value<V>(shape, view.matrix, x, i);
    one_side(i, view.upper[i], value, positive(y[i]));
    one_side(i, -view.lower[i], -value, positive(-y[i]));
  }
  const V pushing = select(force.value > zero, force.value, V(kTiny));
  residual.primal = primal.value;
  stationarity.add(sign.value);
  residual.dual = stationarity.value / pushing;
  const V work_unit = pushing * whole;
  residual.complement = gap / select(work_unit > zero, work_unit, V(kTiny));
  return residual;
}

/// Farkas' proof that no x meets the rows: r = max D_j |A'y|_j and every wrong sign of y, times the
/// length L = max_i R_i |bound_i|, over -(u'y+ - l'y- + h'z). No point with |x / D|_1 < L / r is
/// feasible. Infinity where the support is not negative.
template <class Data, class Memory, class Answer>
CAROM_HOST_DEVICE double farkas_residual(const kernels::QpShape& shape,
                                         const kernels::QpView<Data>& view,
                                         const QpUnits<Memory>& units, const Answer& y,
                                         const Memory& work) {
  using kernels::magnitude;
  const int variables = shape.variables;
  for (int j = 0; j < variables; ++j) work[j] = 0.0;
  for (int i = 0; i < shape.rows; ++i) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      work[j] += view.matrix[static_cast<long>(i) * variables + j] * y[i];
    }
  }
  MaxAbs<> worst;
  for (int j = 0; j < variables; ++j) worst.add(work[j] * units.column[j]);
  double support = 0.0;
  double length = 0.0;
  const auto add_bound = [&](int i, double bound) {
    const double size = magnitude(bound) / units.row[i];
    if (size < kernels::kInfinity && size > length) length = size;
  };
  int next_cone = 0;
  for (int i = 0; i < shape.rows; ++i) {
    if (next_cone < shape.cones && shape.cone[next_cone].first == i) {
      const kernels::QpConeSpan& cone = shape.cone[next_cone];
      ++next_cone;
      for (int r = i; r < i + cone.size; ++r) {
        add_bound(r, view.upper[r]);
        support += view.upper[r] * y[r];
      }
      const double margin = detail::cone_margin<double>(cone, [&](int r) { return y[r]; });
      if (!(margin >= 0.0)) worst.add(margin * units.row[i]);
      i += cone.size - 1;
      continue;
    }
    add_bound(i, view.lower[i]);
    add_bound(i, view.upper[i]);
    const double bound = y[i] > 0.0 ? view.upper[i] : view.lower[i];
    if (magnitude(bound) < kernels::kInfinity) {
      support += bound * y[i];
    } else if (y[i] != 0.0) {
      worst.add(y[i] * units.row[i]);
    }
  }
  return support < 0.0 ? worst.value * length / -support : kernels::kInfinity;
}

/// Proof that the objective has no lower bound on the rows' recession cone: r = the largest of
/// D_j |P d|_j / |D q| and R_i times what the row or cone forbids of d, over -q'd / |D q|.
/// Infinity where q'd is not negative. Unbounded only if the rows can be met at all.
template <class Data, class Memory, class Answer>
CAROM_HOST_DEVICE double ray_residual(const kernels::QpShape& shape,
                                      const kernels::QpView<Data>& view,
                                      const QpUnits<Memory>& units, const Answer& d) {
  using kernels::magnitude;
  const int variables = shape.variables;
  double slope = 0.0;
  double pull = 0.0;
  MaxAbs<> bent;
  for (int j = 0; j < variables; ++j) {
    bent.add(detail::hessian_value<double>(variables, view.hessian, d, j) * units.column[j]);
    slope += view.gradient[j] * d[j];
    pull = kernels::larger(magnitude(view.gradient[j] * units.column[j]), pull);
  }
  MaxAbs<> ends;
  int next_cone = 0;
  for (int i = 0; i < shape.rows; ++i) {
    const auto value = [&](int r) { return detail::row_value<double>(shape, view.matrix, d, r); };
    if (next_cone < shape.cones && shape.cone[next_cone].first == i) {
      const kernels::QpConeSpan& cone = shape.cone[next_cone];
      ++next_cone;
      const double margin = detail::cone_margin<double>(cone, [&](int r) { return -value(r); });
      if (!(margin >= 0.0)) ends.add(margin / units.row[i]);
      i += cone.size - 1;
      continue;
    }
    const double along = value(i);
    if (!(along <= 0.0) && view.upper[i] < kernels::kInfinity) ends.add(along / units.row[i]);
    if (!(along >= 0.0) && view.lower[i] > -kernels::kInfinity) ends.add(along / units.row[i]);
  }
  MaxAbs<> worst;
  worst.add(bent.value);
  worst.add(ends.value * pull);
  return slope < 0.0 ? worst.value / -slope : kernels::kInfinity;
}

/// d'P d over sum |d_i P_ij d_j|: negative beyond rounding proves that P is not convex.
template <class Data, class Answer>
CAROM_HOST_DEVICE double relative_curvature(int variables, const Data& hessian, const Answer& d) {
  double value = 0.0;
  double size = 0.0;
  for (int i = 0; i < variables; ++i) {
    for (int j = 0; j < variables; ++j) {
      const long entry =
          i >= j ? static_cast<long>(i) * variables + j : static_cast<long>(j) * variables + i;
      const double term = d[i] * hessian[entry] * d[j];
      value += term;
      size += kernels::magnitude(term);
    }
  }
  return value / (size > kTiny ? size : kTiny);
}

}  // namespace carom::certificate
