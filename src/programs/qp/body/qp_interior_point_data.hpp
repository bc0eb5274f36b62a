#pragma once

#include <carom/device/qp_problem.hpp>

#include "programs/qp/body/qp_scaling.hpp"

/// What the interior-point method of quadratic programs holds: the scaled problem, the iterate, its
/// steps and residuals.
namespace carom::kernels {

/// Proximal term of the equations' multipliers, in the scaled problem.
inline constexpr double kEquationProximity = 1e-9;

/// Values of V that a problem needs at most.
CAROM_INLINE constexpr long qp_interior_point_workspace(int n, int rows) {
  return 2L * n * n + static_cast<long>(rows) * n + 8L * n + 44L * rows;
}

/// N: the number of variables, ConeSize: the size of all cones, where they are known in advance,
/// or 0. Neither changes a bit of an answer. Methods read it through a copy of their own: a store
/// of a pack may alias members of an object, but never a local variable.
template <class Number, class Lanes, class Memory_, int N, int ConeSize>
struct QpInteriorPointData {
  using V = Number;
  using Memory = Memory_;
  static constexpr int kVariables = N;

  /// G x + s = h with G = sign a', h = sign bound.
  struct Side {
    Memory on, bound, slack, dual, residual, slack_step, dual_step;
    Memory slack_inverse, dual_inverse;
    Memory size_inverse;  // 1 / max(|bound|, 1)
  };
  struct ConeData {
    Memory slack, dual, residual, slack_step, dual_step, point, lambda;
    /// Of a cone's first row: 1 / (1 + w_0), 1 / det s, 1 / det z.
    Memory head_inverse, slack_det, dual_det;
  };

  CAROM_HOST_DEVICE QpInteriorPointData(const Lanes& lanes_, const QpShape& shape_, Memory memory)
      : lanes(lanes_), shape(shape_), rows(shape_.rows) {
    const long n = variables();
    long used = 0;
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    scaled = {take(n * n), take(n), take(rows * n), take(n), take(rows), take(rows), take(rows)};
    factor = take(n * n);
    inverse = take(n);
    x = take(n);
    step = take(n);
    gradient = take(n);
    best_x = take(n);
    transposed = take(n);
    best_y = take(rows);
    y = take(rows);
    ax = take(rows);
    adx = take(rows);
    push = take(rows);
    weight = take(rows);
    equation = take(shape.equations);
    equation_on = take(shape.equations);
    equation_residual = take(shape.equations);
    const auto side = [&](long count) {
      return Side{take(count), take(count), take(count), take(count), take(count),
                  take(count), take(count), take(count), take(count), take(count)};
    };
    lower = side(shape.lowers);
    upper = side(shape.uppers);
    if (shape.cones > 0) {
      cone = {take(rows), take(rows), take(rows), take(rows), take(rows),
              take(rows), take(rows), take(rows), take(rows), take(rows)};
    }
  }

  [[nodiscard]] CAROM_INLINE int variables() const { return N > 0 ? N : shape.variables; }
  [[nodiscard]] CAROM_INLINE int size_of(const QpConeSpan& span) const {
    return ConeSize > 0 ? ConeSize : span.size;
  }

  /// f(side, k, row, sign) for each bound.
  template <class F>
  CAROM_INLINE void for_sides(F&& f) const {
    const QpInteriorPointData m = *this;
    lanes.for_each(m.shape.lowers, [&](int k) { f(m.lower, k, m.shape.lower_row[k], V(-1.0)); });
    lanes.for_each(m.shape.uppers, [&](int k) { f(m.upper, k, m.shape.upper_row[k], V(1.0)); });
  }
  /// For sums: every lane runs all of it.
  template <class F>
  CAROM_INLINE void over_sides(F&& f) const {
    const QpInteriorPointData m = *this;
    for (int k = 0; k < m.shape.lowers; ++k) f(m.lower, k, m.shape.lower_row[k], V(-1.0));
    for (int k = 0; k < m.shape.uppers; ++k) f(m.upper, k, m.shape.upper_row[k], V(1.0));
  }

  const Lanes& lanes;
  QpShape shape;
  int rows;
  ScaledQp<Memory> scaled;
  Memory factor, inverse;                           // L D L'
  Memory x, step, gradient, best_x, transposed;     // [n]
  Memory best_y, y, ax, adx, push, weight;          // [rows]
  Memory equation, equation_on, equation_residual;  // [equations]
  Side lower, upper;
  ConeData cone;
};

}  // namespace carom::kernels
