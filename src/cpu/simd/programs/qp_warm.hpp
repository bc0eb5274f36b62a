#pragma once

#include <cstdint>

#include <carom/certificate_qp.hpp>

#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"

namespace carom::cpu::simd {

/// Warm-started QPs in one thread: prepares their matrices, or solves each from its own start
/// (QpWarmActiveSet).
struct QpWarmRange {
  std::int64_t begin, end;
  const kernels::QpTaskArrays* task;  ///< hessian and matrix: of all problems, or of each
  double* kept;                       ///< QpKeptLayout of problem 0, on a cache line
  double* shared;        ///< QpSharedLayout, on a cache line; null where each has its own matrices
  std::uint8_t* usable;  ///< [problems or 1] whether P is definite
  bool keeps;            ///< fills the three above; what follows is not read
  std::uint8_t* held;    ///< [problems, rows], in and out: 1 at the lower bound, 2 at the upper one
  std::uint8_t* taken;   ///< [problems] 1 where the answer was written
  double* workspace;     ///< qp_warm_workspace, on a cache line
};

CAROM_INLINE constexpr long qp_warm_workspace(long n, long rows) {
  return qp_wide_workspace(n, rows) + kernels::values_of<QpStartsLayout>(n, rows) + 2 * rows +
         certificate::qp_judge_workspace(n, rows);
}

}  // namespace carom::cpu::simd
