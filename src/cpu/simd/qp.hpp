#pragma once

#include <algorithm>
#include <cstdint>

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>
#include <carom/qp.hpp>

#include "cpu/simd/padding.hpp"
#include "programs/qp/body/admm_qp_body.hpp"
#include "programs/qp/body/qp_dual_pivot_body.hpp"
#include "programs/qp/body/qp_interior_point_body.hpp"
#include "programs/qp/body/qp_task_arrays.hpp"

namespace carom::cpu::simd {

/// Problems [begin, end) of a batch in one thread, by any method but active_set: as many to a pack
/// as the instruction set allows, single ones where they are large. What it writes is judged but
/// final only where the residual is within the tolerance (cpu/qp_driver.hpp sees to the rest).
/// Method automatic: the dual active set where kernels::takes_dual_pivots, the interior point for
/// what that leaves and elsewhere.
struct QpRange {
  std::int64_t begin, end;
  const kernels::QpTaskArrays* task;  ///< whose `end` is kernels::qp_end or kInvalidEnd
  double* multiplier;                 ///< [end - begin, rows]
  double* workspace;                  ///< qp_workspace(shape), on a cache line
};

inline constexpr std::uint8_t kInvalidEnd = 255;
inline constexpr std::uint8_t kPendingEnd = 254;  ///< within a range: another method is to follow

/// Problems with more variables go one to a thread, not eight.
inline constexpr int kLargestPackedQp = 48;

/// What lies in the workspace, as offsets in values of V.
template <class Memory>
struct QpPackLayout {
  Memory hessian, gradient, matrix, lower, upper, work, x, y, body;
  long end = 0;

  CAROM_INLINE constexpr QpPackLayout(kernels::Arena<Memory>& arena, long n, long rows)
      : hessian(arena.take(n * n)),
        gradient(arena.take(n)),
        matrix(arena.take(rows * n)),
        lower(arena.take(rows)),
        upper(arena.take(rows)),
        work(arena.take(certificate::qp_judge_workspace(n, rows))),
        x(arena.take(n)),
        y(arena.take(rows)),
        body(arena.take(body_values(n, rows))),
        end(arena.used()) {}

 private:
  /// One method after another; projected wants less than admm.
  static constexpr long body_values(long n, long rows) {
    const bool pivots = kernels::takes_dual_pivots(static_cast<int>(n), static_cast<int>(rows), 0);
    return std::max(
        {kernels::qp_interior_point_workspace(static_cast<int>(n), static_cast<int>(rows)),
         kernels::admm_qp_workspace(n, rows),
         pivots ? kernels::qp_dual_pivot_workspace(n, rows) : 0L});
  }
};
using QpParts = QpPackLayout<long>;
inline constexpr QpParts qp_parts(long n, long rows) {
  return kernels::placed<QpPackLayout>(0L, n, rows);
}

/// Doubles that a QpRange needs, for any instruction set.
CAROM_INLINE long qp_workspace(const kernels::QpShape& shape) {
  const long width = shape.variables > kLargestPackedQp ? 1 : kLargestPadding;
  return width * qp_parts(shape.variables, shape.rows).end;
}

}  // namespace carom::cpu::simd
