#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_scaling.hpp"

/// Data of the interior-point method for quadratic programs: the scaled problem, the iterate, its
/// steps and residuals.
namespace carom::kernels {

/// Proximal term of the equations' multipliers, in the scaled problem.
inline constexpr double kEquationProximity = 1e-9;

/// Of the rows that are bounded from one side: G x + s = h with G = sign a', h = sign bound.
template <class Memory>
struct QpSide {
  Memory on, bound, slack, dual, residual, slack_step, dual_step;
  Memory slack_inverse, dual_inverse;
  Memory size_inverse;  ///< 1 / max(|bound|, 1)

  QpSide() = default;
  CAROM_INLINE constexpr QpSide(Arena<Memory>& arena, long count)
      : on(arena.take(count)),
        bound(arena.take(count)),
        slack(arena.take(count)),
        dual(arena.take(count)),
        residual(arena.take(count)),
        slack_step(arena.take(count)),
        dual_step(arena.take(count)),
        slack_inverse(arena.take(count)),
        dual_inverse(arena.take(count)),
        size_inverse(arena.take(count)) {}
};

/// Rows of second-order cones, indexed like all rows.
template <class Memory>
struct QpConeRows {
  Memory slack, dual, residual, slack_step, dual_step, point, lambda;
  /// Of a cone's first row: 1 / (1 + w_0), 1 / det s, 1 / det z.
  Memory head_inverse, slack_det, dual_det;

  QpConeRows() = default;
  CAROM_INLINE constexpr QpConeRows(Arena<Memory>& arena, long rows)
      : slack(arena.take(rows)),
        dual(arena.take(rows)),
        residual(arena.take(rows)),
        slack_step(arena.take(rows)),
        dual_step(arena.take(rows)),
        point(arena.take(rows)),
        lambda(arena.take(rows)),
        head_inverse(arena.take(rows)),
        slack_det(arena.take(rows)),
        dual_det(arena.take(rows)) {}
};

template <class Memory>
struct QpInteriorPointLayout {
  ScaledQp<Memory> scaled;
  Memory factor, inverse;                           ///< L D L'
  Memory x, step, gradient, best_x, transposed;     ///< [n]
  Memory best_y, y, ax, adx, push, weight;          ///< [rows]
  Memory equation, equation_on, equation_residual;  ///< [equations]
  QpSide<Memory> lower, upper;
  QpConeRows<Memory> cone;

  QpInteriorPointLayout() = default;
  CAROM_INLINE constexpr QpInteriorPointLayout(Arena<Memory>& arena, long n, long rows,
                                               long equations, long lowers, long uppers,
                                               long cone_rows)
      : scaled(scaled_qp(arena, n, rows)),
        factor(arena.take(n * n)),
        inverse(arena.take(n)),
        x(arena.take(n)),
        step(arena.take(n)),
        gradient(arena.take(n)),
        best_x(arena.take(n)),
        transposed(arena.take(n)),
        best_y(arena.take(rows)),
        y(arena.take(rows)),
        ax(arena.take(rows)),
        adx(arena.take(rows)),
        push(arena.take(rows)),
        weight(arena.take(rows)),
        equation(arena.take(equations)),
        equation_on(arena.take(equations)),
        equation_residual(arena.take(equations)),
        lower(arena, lowers),
        upper(arena, uppers),
        cone(arena, cone_rows) {}
};

/// Values of V that a problem needs at most.
CAROM_INLINE constexpr long qp_interior_point_workspace(long n, long rows) {
  return values_of<QpInteriorPointLayout>(n, rows, rows, rows, rows, rows);
}

/// N: the number of variables, ConeSize: the size of all cones, where they are known in advance,
/// or 0. Neither changes a bit of an answer. Methods read it through a copy of their own: a store
/// of a pack may alias members of an object, but never a local variable.
template <class Number, class Lanes, class Memory_, int N, int ConeSize>
struct QpInteriorPointData : QpInteriorPointLayout<Memory_> {
  using V = Number;
  using Memory = Memory_;
  static constexpr int kVariables = N;

  using Side = QpSide<Memory>;

  CAROM_HOST_DEVICE QpInteriorPointData(const Lanes& lanes_, const QpShape& shape_, Memory memory)
      : QpInteriorPointLayout<Memory>(placed<QpInteriorPointLayout>(
            memory, shape_.variables, shape_.rows, shape_.equations, shape_.lowers, shape_.uppers,
            shape_.cones > 0 ? shape_.rows : 0)),
        lanes(lanes_),
        shape(shape_),
        rows(shape_.rows) {}

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
};

}  // namespace carom::kernels
