#pragma once

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/types/derivative_qp.hpp>

#include "core/pointers.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/doubtful.hpp"

/// Inputs, results and working memory of the derivative of a QP.
namespace carom::derivatives {

using certificate::RowMode;

struct QpView : QpBatchArrays<ConstPointer> {};
struct QpDirectionView : QpBatchArrays<ConstPointer> {};
struct QpGradientView : QpBatchArrays<Pointer> {};
struct QpCotangentView : QpCotangentArrays<ConstPointer> {};
struct QpTangentView {
  double* solution;
  double* dual;
  double* cone_dual;
  double* objective;
};

/// Extents and cones of every problem of a batch.
struct QpShape {
  int variables, rows, cone_rows, cones;
  const Cone* cone;
  [[nodiscard]] CAROM_INLINE int all_rows() const { return rows + cone_rows; }
};

/// r: rows and cone rows; unknowns at most n + r.
template <class Memory>
struct QpModesLayout {
  Memory hessian;  ///< both halves, [n, n]
  Memory x;
  Memory multiplier;  ///< [r]
  Memory slack;       ///< of cone rows b - C x, of rows with the sign that counts, [r]
  Memory unit;        ///< of slack, [r]
  Memory feel;        ///< of multipliers, [r]
  Memory gradient;    ///< of the equations, [r, n]
  Memory target;      ///< [r]
  Memory factors;
  Memory schur, size, work;
  Memory regular;        ///< [r, r]
  Memory g, sum, extra;  ///< [n + r] each
  Memory rest;           ///< likewise
  Memory g_rest;         ///< what rounding leaves of g, [n]
  Memory touch, theta;   ///< [r] each
  Memory basis;          ///< orthonormal rows, [n, n]
  Memory column_unit;    ///< of the stationarity, [n]
  Memory scratch;        ///< [2 n + r]
  Memory tau;            ///< of the edge that a cone row belongs to, [r]
  Memory x_rest;         ///< what rounding leaves of x, [n]
  Memory slack_rest;     ///< likewise, of cone rows, [r]
  Memory root;           ///< 1 / sqrt(P_jj), zero where that does not count, [n]
  Memory spread;         ///< of a row, its length in these, [r]

  QpModesLayout() = default;
  CAROM_INLINE constexpr QpModesLayout(kernels::Arena<Memory>& arena, long n, long r)
      : hessian(arena.take(n * n)),
        x(arena.take(n)),
        multiplier(arena.take(r)),
        slack(arena.take(r)),
        unit(arena.take(r)),
        feel(arena.take(r)),
        gradient(arena.take(r * n)),
        target(arena.take(r)),
        factors(arena.take(kernels::values_of<FactorsLayout>(n + r))),
        schur(arena.take(r * r)),
        size(arena.take(r)),
        work(arena.take(doubtful_workspace(r))),
        regular(arena.take(r * r + r)),
        g(arena.take(n + r)),
        sum(arena.take(n + r)),
        extra(arena.take(n + r)),
        rest(arena.take(n + r)),
        g_rest(arena.take(n)),
        touch(arena.take(r)),
        theta(arena.take(r)),
        basis(arena.take(n * n)),
        column_unit(arena.take(n)),
        scratch(arena.take(2 * n + r)),
        tau(arena.take(r)),
        x_rest(arena.take(n)),
        slack_rest(arena.take(r)),
        root(arena.take(n)),
        spread(arena.take(r)) {}
};
CAROM_HOST_DEVICE constexpr long qp_derivative_reals(int n, int r) {
  return kernels::values_of<QpModesLayout>(static_cast<long>(n), static_cast<long>(r));
}
CAROM_HOST_DEVICE constexpr long qp_derivative_ints(int n, int r) {
  return static_cast<long>(n) + 9L * r;
}

/// States of a second-order cone.
/// border: s on the boundary and z = 0, a condition like that of a row along (R s)'C.
enum class ConeState : int { free, apex, edge, border };

}  // namespace carom::derivatives
