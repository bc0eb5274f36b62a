#pragma once

#include <carom/certificate.hpp>
#include <carom/certificate_qp_products.hpp>
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
template <class V, class Lanes, class Data, class Memory>
CAROM_HOST_DEVICE void qp_units(const Lanes& lanes, const kernels::QpShape& shape,
                                const kernels::QpView<Data>& view, const QpUnits<Memory>& units) {
  using kernels::larger;
  using kernels::magnitude;
  using kernels::select;
  using kernels::square_root;
  const long n = shape.variables;
  V largest(0.0);
  for (long j = 0; j < n; ++j) largest = larger(view.hessian[j * n + j], largest);
  lanes.for_each(shape.variables, [&](int j) { units.column[j] = V(0.0); });
  for (int i = 0; i < shape.rows; ++i) {
    const int first = shape.row_first[i];
    lanes.for_each(shape.row_first[i + 1] - first, [&](int t) {
      const int j = shape.column[first + t];
      units.column[j] = larger(magnitude(view.matrix[i * n + j]), units.column[j]);
    });
  }
  lanes.for_each(shape.variables, [&](int j) {
    const V diagonal = view.hessian[j * n + j];
    const V floor = larger(diagonal, V(1e-12) * largest);
    const V column = units.column[j];
    units.column[j] = V(1.0) / select(diagonal > V(0.0), square_root(larger(floor, V(kTiny))),
                                      select(column > V(0.0), column, V(1.0)));
  });
  lanes.for_each(shape.rows, [&](int i) {
    V size(0.0);
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      size = larger(magnitude(view.matrix[i * n + j]) * units.column[j], size);
    }
    units.row[i] = size;
  });
  for (int c = 0; c < shape.cones; ++c) {
    const kernels::QpConeSpan& cone = shape.cone[c];
    V size(0.0);
    for (int i = cone.first; i < cone.first + cone.size; ++i) size = larger(units.row[i], size);
    lanes.for_each(cone.size, [&](int t) { units.row[cone.first + t] = size; });
  }
  lanes.for_each(shape.rows, [&](int i) {
    units.row[i] = select(units.row[i] > V(0.0), units.row[i], V(1.0));
  });
}

template <class V, class Data, class Memory>
CAROM_HOST_DEVICE void qp_units(const kernels::QpShape& shape, const kernels::QpView<Data>& view,
                                const QpUnits<Memory>& units) {
  qp_units<V>(kernels::SingleLane{}, shape, view, units);
}

namespace detail {

/// (t, v) -> t - |v| of the rows of one cone, of `value(i)`.
template <class V, class F>
CAROM_INLINE V cone_margin(const kernels::QpConeSpan& cone, F&& value) {
  using kernels::square_root;
  V sum(0.0);
  for (int i = cone.first + 1; i < cone.first + cone.size; ++i) sum = sum + value(i) * value(i);
  return value(cone.first) - square_root(sum);
}

template <class V, class Data, class Memory, class Answer, class Products>
CAROM_HOST_DEVICE QpResidual<V> qp_residual_of(const kernels::QpShape& shape,
                                               const kernels::QpView<Data>& view,
                                               const QpUnits<Memory>& units, const Answer& x,
                                               const Answer& y, const Products& products) {
  using kernels::any_of;
  using kernels::larger;
  using kernels::magnitude;
  using kernels::select;
  const int variables = shape.variables;
  const V zero(0.0);
  const auto positive = [&](V v) { return select(v <= zero, zero, v); };  // keeps NaN
  MaxAbs<V> length;
  MaxAbs<V> force;
  MaxAbs<V> stationarity;
  QpResidual<V> residual{zero, zero, zero, zero};
  V largest(0.0);
  for (int j = 0; j < variables; ++j) {
    const V d = units.column[j];
    const ProductAndSize<V> bent = products.bent(j);
    const V curved = bent.product;
    const V q = view.gradient[j];
    length.add(x[j] / d);
    force.add(d * bent.size);
    force.add(d * q);
    const V push = products.pull(j);
    force.add(d * push);
    stationarity.add(d * (curved + q + push));
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
      const auto slack = [&](int r) { return view.upper[r] - products.row(r); };
      for (int r = i; r < i + cone.size; ++r) {
        size = larger(size, magnitude(view.upper[r]) / units.row[r]);
        product = product + slack(r) * y[r];
      }
      const V outside = positive(-cone_margin<V>(cone, slack));
      primal.add(outside / units.row[i] / select(size > zero, size, V(kTiny)));
      const auto multiplier = [&](int r) { return y[r]; };
      sign.add(positive(-cone_margin<V>(cone, multiplier)) * units.row[i]);
      gap = gap + magnitude(product);
      i += cone.size - 1;
      continue;
    }
    const V value = products.row(i);
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

}  // namespace detail

/// Values that the judgements by lanes need for themselves.
CAROM_INLINE constexpr long qp_judge_workspace(long n, long rows) { return 3 * n + rows + 4; }

/// Residual of the optimality conditions at (x, y). Lengths are max(|x / D|, |D q|) - the second is
/// that of the unconstrained minimum - or R_i times a row's own bound where that is larger; the
/// force is max D_j max(|P| |x|, |q|, |A'y|). work: [n]. Cone rows are those of second-order cones.
template <class V, class Data, class Memory, class Answer>
CAROM_HOST_DEVICE QpResidual<V> qp_residual(const kernels::QpShape& shape,
                                            const kernels::QpView<Data>& view,
                                            const QpUnits<Memory>& units, const Answer& x,
                                            const Answer& y, const Memory& work) {
  detail::pull_of<V>(kernels::SingleLane{}, shape, view.matrix, y, work);
  return detail::qp_residual_of<V>(
      shape, view, units, x, y, detail::QpProducts<V, Data, Answer, Memory>{shape, view, x, work});
}

/// The same by any lanes, bit for bit: products in parallel, what is made of them in one lane.
/// memory: qp_judge_workspace. The result is on every lane.
template <class Lanes, class Data, class Memory, class Answer>
CAROM_HOST_DEVICE QpResidual<double> qp_residual(const Lanes& lanes, const kernels::QpShape& shape,
                                                 const kernels::QpView<Data>& view,
                                                 const QpUnits<Memory>& units, const Answer& x,
                                                 const Answer& y, const Memory& memory) {
  const detail::QpStoredProducts<Memory> products =
      detail::store_products(lanes, shape, view, x, y, memory);
  const Memory result = products.end(shape);
  lanes.for_each(1, [&](int) {
    const auto judged = detail::qp_residual_of<double>(shape, view, units, x, y, products);
    result[0] = judged.primal;
    result[1] = judged.dual;
    result[2] = judged.complement;
    result[3] = judged.objective;
  });
  return {result[0], result[1], result[2], result[3]};
}

/// Farkas' proof that no x meets the rows: r = max D_j |A'y|_j and every wrong sign of y, times the
/// length L = max_i R_i |bound_i|, over -(u'y+ - l'y- + h'z). No point with |x / D|_1 < L / r is
/// feasible. Infinity where the support is not negative. work: [n].
template <class Lanes, class Data, class Memory, class Answer>
CAROM_HOST_DEVICE double farkas_residual(const Lanes& lanes, const kernels::QpShape& shape,
                                         const kernels::QpView<Data>& view,
                                         const QpUnits<Memory>& units, const Answer& y,
                                         const Memory& work) {
  using kernels::magnitude;
  detail::pull_of<double>(lanes, shape, view.matrix, y, work);
  MaxAbs<> worst;
  for (int j = 0; j < shape.variables; ++j) worst.add(work[j] * units.column[j]);
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
/// work: [n + rows].
template <class Lanes, class Data, class Memory, class Answer>
CAROM_HOST_DEVICE double ray_residual(const Lanes& lanes, const kernels::QpShape& shape,
                                      const kernels::QpView<Data>& view,
                                      const QpUnits<Memory>& units, const Answer& d,
                                      const Memory& work) {
  using kernels::magnitude;
  const int variables = shape.variables;
  const Memory rows = work + variables;
  lanes.for_each(variables, [&](int j) {
    work[j] = detail::hessian_value<double>(variables, view.hessian, d, j);
  });
  lanes.for_each(shape.rows,
                 [&](int i) { rows[i] = detail::row_value<double>(shape, view.matrix, d, i); });
  double slope = 0.0;
  double pull = 0.0;
  MaxAbs<> bent;
  for (int j = 0; j < variables; ++j) {
    bent.add(work[j] * units.column[j]);
    slope += view.gradient[j] * d[j];
    pull = kernels::larger(magnitude(view.gradient[j] * units.column[j]), pull);
  }
  MaxAbs<> ends;
  int next_cone = 0;
  for (int i = 0; i < shape.rows; ++i) {
    if (next_cone < shape.cones && shape.cone[next_cone].first == i) {
      const kernels::QpConeSpan& cone = shape.cone[next_cone];
      ++next_cone;
      const double margin = detail::cone_margin<double>(cone, [&](int r) { return -rows[r]; });
      if (!(margin >= 0.0)) ends.add(margin / units.row[i]);
      i += cone.size - 1;
      continue;
    }
    const double along = rows[i];
    if (!(along <= 0.0) && view.upper[i] < kernels::kInfinity) ends.add(along / units.row[i]);
    if (!(along >= 0.0) && view.lower[i] > -kernels::kInfinity) ends.add(along / units.row[i]);
  }
  MaxAbs<> worst;
  worst.add(bent.value);
  worst.add(ends.value * pull);
  return slope < 0.0 ? worst.value / -slope : kernels::kInfinity;
}

/// d'P d over sum |d_i P_ij d_j|: negative beyond rounding proves that P is not convex.
/// work: [2 n].
template <class Lanes, class Data, class Answer, class Memory>
CAROM_HOST_DEVICE double relative_curvature(const Lanes& lanes, int variables, const Data& hessian,
                                            const Answer& d, const Memory& work) {
  using kernels::magnitude;
  const Memory size = work + variables;
  lanes.for_each(variables, [&](int j) {
    const auto bent = detail::hessian_product<double>(variables, hessian, d, j);
    work[j] = d[j] * bent.product;
    size[j] = magnitude(d[j]) * bent.size;
  });
  double value = 0.0;
  double whole = 0.0;
  for (int j = 0; j < variables; ++j) {
    value += work[j];
    whole += size[j];
  }
  return value / (whole > kTiny ? whole : kTiny);
}

}  // namespace carom::certificate
