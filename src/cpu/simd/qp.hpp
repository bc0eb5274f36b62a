#pragma once

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

/// Offsets, in values of V, of what lies in the workspace.
struct QpParts {
  long hessian, gradient, matrix, lower, upper, work, x, y, body, end;
};
CAROM_INLINE constexpr QpParts qp_parts(long n, long rows) {
  QpParts parts{};
  long used = 0;
  const auto take = [&used](long count) {
    const long first = used;
    used += count;
    return first;
  };
  parts.hessian = take(n * n);
  parts.gradient = take(n);
  parts.matrix = take(rows * n);
  parts.lower = take(rows);
  parts.upper = take(rows);
  parts.work = take(certificate::qp_judge_workspace(n, rows));
  parts.x = take(n);
  parts.y = take(rows);
  const long interior =
      kernels::qp_interior_point_workspace(static_cast<int>(n), static_cast<int>(rows));
  const long first_order = kernels::admm_qp_workspace(n, rows);  // projected wants less
  const long pivots = kernels::takes_dual_pivots(static_cast<int>(n), static_cast<int>(rows), 0)
                          ? kernels::qp_dual_pivot_workspace(n, rows)
                          : 0;
  long body = interior > first_order ? interior : first_order;
  if (pivots > body) body = pivots;
  parts.body = take(body);
  parts.end = used;
  return parts;
}

/// Doubles that a QpRange needs, for any instruction set.
CAROM_INLINE long qp_workspace(const kernels::QpShape& shape) {
  const long width = shape.variables > kLargestPackedQp ? 1 : kLargestPadding;
  return width * qp_parts(shape.variables, shape.rows).end;
}

}  // namespace carom::cpu::simd
