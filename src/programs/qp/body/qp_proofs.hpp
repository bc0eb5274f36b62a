#pragma once

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/body/qp_factor.hpp"
#include "programs/qp/body/qp_scaling.hpp"

/// What proves that a quadratic program has no answer, for any lanes. A vector that a solver left
/// is made to hold what a proof demands exactly, and the certificate judges the rest.
namespace carom::kernels {

/// f(i) for the rows that no second-order cone holds.
template <class Lanes, class F>
CAROM_CALL void for_interval_rows(const Lanes& lanes, const QpShape& shape, F&& f) {
  int first = 0;
  for (int c = 0; c <= shape.cones; ++c) {
    const int last = c < shape.cones ? shape.cone[c].first : shape.rows;
    lanes.for_each(last - first, [&](int t) { f(first + t); });
    first = c < shape.cones ? last + shape.cone[c].size : last;
  }
}

/// Scales to a largest entry of one; false where there is nothing or no number.
template <class Lanes, class Memory>
CAROM_CALL bool normalise(const Lanes& lanes, int count, const Memory& values) {
  certificate::MaxAbs<> size;
  for (int i = 0; i < count; ++i) size.add(values[i]);
  if (!(size.value > 0.0) || !(size.value < kInfinity)) return false;
  lanes.for_each(count, [&](int i) { values[i] /= size.value; });
  return true;
}

/// Of y as a proof that no x meets the rows, perhaps without what rounding left in place of zeros;
/// y is normalised, and is the proof where the residual is within the tolerance.
/// work: qp_judge_workspace.
template <class Lanes, class Data, class Memory>
CAROM_CALL double infeasibility_residual(const Lanes& lanes, const QpShape& shape,
                                         const QpView<Data>& view, const Memory& y,
                                         const Memory& work, double tolerance) {
  if (!normalise(lanes, shape.rows, y)) return kInfinity;
  // Signs that no bound allows, and what of a cone's multiplier lies outside of its cone.
  for_interval_rows(lanes, shape, [&](int i) {
    const double bound = y[i] > 0.0 ? view.upper[i] : view.lower[i];
    if (!(magnitude(bound) < kInfinity)) y[i] = 0.0;
  });
  for (int c = 0; c < shape.cones; ++c) {
    const QpConeSpan& cone = shape.cone[c];
    double tail = 0.0;
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) tail += y[i] * y[i];
    const double head = larger(y[cone.first], square_root(tail));
    lanes.for_each(1, [&](int) { y[cone.first] = head; });
  }
  const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes, shape, view, work);
  const long n = shape.variables;
  const auto weight = [&](int i) {
    double size = 0.0;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      size = larger(magnitude(view.matrix[i * n + shape.column[t]]), size);
    }
    return size * magnitude(y[i]);
  };
  double most = 0.0;
  for (int i = 0; i < shape.rows; ++i) most = larger(weight(i), most);
  for (const double dust : {0.0, 1e-13, 1e-10, 1e-7}) {
    for_interval_rows(lanes, shape, [&](int i) {
      const double size = weight(i);  // zero in rows of zeros, which prove something by themselves
      if (size > 0.0 && size <= dust * most) y[i] = 0.0;
    });
    const double residual = judge.farkas_residual(y);
    if (certificate::within(residual, tolerance)) return residual;
  }
  return kInfinity;
}

/// Of d as a direction in which the objective falls without end; d is normalised likewise.
/// work: qp_judge_workspace.
template <class Lanes, class Data, class Memory>
CAROM_CALL double ray_residual(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                               const Memory& d, const Memory& work, double tolerance) {
  if (!normalise(lanes, shape.variables, d)) return kInfinity;
  const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes, shape, view, work);
  for (const double dust : {0.0, 1e-13, 1e-10, 1e-7}) {
    lanes.for_each(shape.variables, [&](int j) {
      if (magnitude(d[j]) <= dust) d[j] = 0.0;
    });
    const double residual = judge.ray_residual(d);
    if (certificate::within(residual, tolerance)) return residual;
  }
  return kInfinity;
}

/// The same from a point that meets the rows: the larger one of both residuals.
/// work: qp_judge_workspace.
template <class Lanes, class Data, class Memory>
CAROM_CALL double unboundedness_residual(const Lanes& lanes, const QpShape& shape,
                                         const QpView<Data>& view, const Memory& point,
                                         const Memory& d, const Memory& work, double tolerance) {
  const double falling = ray_residual(lanes, shape, view, d, work, tolerance);
  if (!certificate::within(falling, tolerance)) return kInfinity;
  const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes, shape, view, work);
  const double feasible = judge.point_residual(point);
  return feasible <= falling ? falling : feasible;
}

/// Whether the Hessian has a direction of negative curvature; x then holds it.
/// factor: [n, n]; inverse: [n]; work: [2 n].
template <class Lanes, class Data, class Memory>
CAROM_CALL bool proves_nonconvex(const Lanes& lanes, int n, const Data& hessian, const Memory& x,
                                 const Memory& factor, const Memory& inverse, const Memory& work) {
  if (convexity_pivot<double>(lanes, n, hessian, factor, inverse) >= 0.0) return false;
  // First negative pivot, of column k: with L D L' = P so far, L' d = e_k gives d'P d = D_k.
  int k = 0;
  while (k < n && factor[static_cast<long>(k) * n + k] >= 0.0) ++k;
  if (k == n) return false;
  lanes.for_each(n, [&](int j) { x[j] = j == k ? 1.0 : 0.0; });
  for (int j = k - 1; j >= 0; --j) {
    double sum = 0.0;
    for (int i = j + 1; i <= k; ++i) sum += factor[static_cast<long>(j) * n + i] * x[i];
    const double value = -sum * inverse[j];
    lanes.for_each(1, [&](int) { x[j] = value; });
  }
  return certificate::relative_curvature(lanes, n, hessian, x, work) < 0.0;
}

/// l_i > u_i in one of the first `rows` rows: y becomes the unit vector of that row, a proof.
template <class Lanes, class Data, class Memory>
CAROM_CALL bool crossed_bounds(const Lanes& lanes, int rows, const QpShape& shape,
                               const QpView<Data>& view, const Memory& y) {
  int crossed = 0;
  while (crossed < rows && !(view.lower[crossed] > view.upper[crossed])) ++crossed;
  if (crossed == rows) return false;
  lanes.for_each(shape.rows, [&](int i) { y[i] = i == crossed ? 1.0 : 0.0; });
  return true;
}

}  // namespace carom::kernels
