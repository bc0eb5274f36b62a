#pragma once

#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"

/// What the first-order bodies (admm, projected) share: products with the scaled rows, projections
/// onto intervals and second-order cones, the optimality residuals, and the polish.
namespace carom::kernels {

/// V: double or a pack. All values are those of the scaled problem.
template <class V, class Lanes, class Memory>
struct QpRows {
  const Lanes& lanes;
  const QpShape& shape;
  ScaledQp<Memory> scaled;

  CAROM_INLINE V times(int i, const Memory& x) const {
    const Memory row = scaled.matrix + static_cast<long>(i) * shape.variables;
    V sum(0.0);
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      sum = fused(row[j], x[j], sum);
    }
    return sum;
  }

  /// to += A' v
  CAROM_CALL void add_transposed(const Memory& v, const Memory& to) const {
    for (int i = 0; i < shape.rows; ++i) {
      const V value = v[i];
      const Memory row = scaled.matrix + static_cast<long>(i) * shape.variables;
      const int first = shape.row_first[i];
      lanes.for_each(shape.row_first[i + 1] - first, [&](int t) {
        const int j = shape.column[first + t];
        to[j] = fused(value, row[j], to[j]);
      });
    }
  }

  /// to = P x + q
  CAROM_CALL void gradient(const Memory& x, const Memory& to) const {
    const long n = shape.variables;
    lanes.for_each(shape.variables, [&](int j) {
      V sum = scaled.gradient[j];
      for (int i = 0; i < j; ++i) sum = fused(scaled.hessian[i * n + j], x[i], sum);
      for (int i = j; i < shape.variables; ++i) sum = fused(scaled.hessian[j * n + i], x[i], sum);
      to[j] = sum;
    });
  }

  /// factor += weight a_i a_i'
  CAROM_INLINE void add_row(int i, V weight, const Memory& factor) const {
    const long n = shape.variables;
    const Memory row = scaled.matrix + i * n;
    const int first = shape.row_first[i];
    const int count = shape.row_first[i + 1] - first;
    lanes.for_each(count, [&](int p) {
      const int j = shape.column[first + p];
      const V value = weight * row[j];
      for (int q = p; q < count; ++q) {
        const int k = shape.column[first + q];
        factor[j * n + k] = fused(value, row[k], factor[j * n + k]);
      }
    });
  }

  /// from -> to, rows of intervals onto [l, u], rows of a cone onto h - K. In place allowed.
  CAROM_CALL void project(const Memory& from, const Memory& to) const {
    int next = 0;
    int i = 0;
    while (i < shape.rows) {
      if (next < shape.cones && shape.cone[next].first == i) {
        project_cone(shape.cone[next], from, to);
        i += shape.cone[next].size;
        ++next;
        continue;
      }
      const int last = next < shape.cones ? shape.cone[next].first : shape.rows;
      const int first = i;
      lanes.for_each(last - first, [&](int t) {
        const int r = first + t;
        to[r] = smaller(larger(from[r], scaled.lower[r]), scaled.upper[r]);
      });
      i = last;
    }
  }

  /// h - Proj_K(h - v): the head moves to the mean of head and tail, the tail shrinks to it.
  CAROM_INLINE void project_cone(const QpConeSpan& cone, const Memory& from,
                                 const Memory& to) const {
    const int f = cone.first;
    const V head = scaled.upper[f] - from[f];
    V sum(0.0);
    for (int i = f + 1; i < f + cone.size; ++i) {
      const V v = scaled.upper[i] - from[i];
      sum = fused(v, v, sum);
    }
    const V tail = square_root(sum);
    const V mean = V(0.5) * (head + tail);
    const V inside = select(tail <= head, V(1.0), V(0.0));
    const V apex = select(tail <= -head, V(1.0), V(0.0));
    const V reach = select(inside > V(0.0), head, select(apex > V(0.0), V(0.0), mean));
    const V share =
        select(inside > V(0.0), V(1.0),
               select(apex > V(0.0), V(0.0), mean / select(tail > V(0.0), tail, V(1.0))));
    lanes.for_each(cone.size, [&](int t) {
      const int i = f + t;
      const V h = scaled.upper[i];
      to[i] = t == 0 ? h - reach : h - share * (h - from[i]);
    });
  }
};

/// How far (x, y) is from optimal, in the scaled problem.
template <class V>
struct QpMerit {
  V primal, dual, gap;
  [[nodiscard]] CAROM_INLINE V worst() const { return larger(larger(primal, dual), gap); }
};

/// work_n: [n], work_m, work_p: [rows], overwritten; work_m ends as A x.
template <class V, class Lanes, class Memory>
CAROM_CALL QpMerit<V> qp_merit(const QpRows<V, Lanes, Memory>& rows, const Memory& x,
                               const Memory& y, const Memory& work_n, const Memory& work_m,
                               const Memory& work_p) {
  const QpShape& shape = rows.shape;
  rows.gradient(x, work_n);
  V force(1.0);
  V length(1.0);
  for (int j = 0; j < shape.variables; ++j) {
    force = larger(magnitude(work_n[j]), force);
    length = larger(magnitude(x[j]), length);
  }
  rows.add_transposed(y, work_n);
  V dual(0.0);
  for (int j = 0; j < shape.variables; ++j) dual = larger(magnitude(work_n[j]), dual);
  rows.lanes.for_each(shape.rows, [&](int i) { work_m[i] = rows.times(i, x); });
  rows.project(work_m, work_p);
  V primal(0.0);
  V gap(0.0);
  for (int i = 0; i < shape.rows; ++i) {
    primal = larger(magnitude(work_m[i] - work_p[i]), primal);
  }
  // y belongs to the normal cone at A x: A x = Proj(A x + y).
  rows.lanes.for_each(shape.rows, [&](int i) { work_p[i] = work_m[i] + y[i]; });
  rows.project(work_p, work_p);
  for (int i = 0; i < shape.rows; ++i) gap = larger(magnitude(work_m[i] - work_p[i]), gap);
  return {primal / length, dual / force, gap / length};
}

}  // namespace carom::kernels
