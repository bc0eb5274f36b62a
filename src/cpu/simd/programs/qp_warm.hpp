#pragma once

#include <cstdint>

#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"

namespace carom::cpu::simd {

/// Problems in one thread, each from a start of its own (QpWideActiveSet). Where they share P and
/// A, `shared` is filled first, by a call without problems; where each has its own it is null.
struct QpWarmRange {
  std::int64_t begin, end;
  const kernels::QpTaskArrays* task;  ///< hessian and matrix: of all problems, or of each
  std::uint8_t* held;   ///< [problems, rows], in and out: 1 at the lower bound, 2 at the upper one
  std::uint8_t* taken;  ///< [problems] 1 where the answer was written
  double* shared;       ///< qp_shared_workspace, on a cache line
  bool* usable;         ///< whether P is definite, and `shared` may be used
  double* workspace;    ///< qp_wide_workspace, on a cache line
};

/// The factors, then what QpWideActiveSet::SharedLayout has.
CAROM_INLINE constexpr long qp_shared_workspace(long n, long rows) {
  const long columns = 8L * eights(static_cast<int>(n));
  const long width = 8L * eights(static_cast<int>(rows));
  return qp_wide_workspace(n, rows) + n * (columns + width) + rows * width;
}

}  // namespace carom::cpu::simd
