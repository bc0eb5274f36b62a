#pragma once

#include <cstdint>

#include <carom/types/qp.hpp>

#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "programs/qp/kernels/qp_attempt.hpp"

namespace carom::cpu::simd {

/// Problems [begin, end) of a batch in one thread, by any method but active_set: as many to a pack
/// as the instruction set allows, single ones where they are large. What kernels::QpTask::first
/// does for each, with packs in place of lanes (cpu/programs/qp_driver.cpp sees to the rest).
struct QpRange {
  std::int64_t begin, end;
  const kernels::QpTaskArrays* task;  ///< whose `end` is kernels::kQpFinal where that is all
  double* workspace;                  ///< qp_workspace(method, shape), on a cache line
};

/// Problems with more variables go one to a thread, not eight.
inline constexpr int kLargestPackedQp = 48;

/// Whether an automatic choice asks QpWideActiveSet, at least where the dual pivots do not answer.
CAROM_INLINE bool asks_wide(QpMethod method, const kernels::QpShape& shape) {
  return method == QpMethod::automatic && shape.cones == 0 && shape.rows > 0 &&
         shape.variables <= kLargestWideVariables && shape.rows <= kLargestWideRows;
}

/// Whether it answers sooner than the dual pivots, whose tables of a pack no longer stay in a
/// first-level cache.
CAROM_INLINE constexpr bool is_wide_faster(long n, long rows) { return n > 20 && rows > 44; }

/// Doubles of a QpRange's packs, in whole cache lines; those of QpWideActiveSet follow.
CAROM_INLINE long qp_pack_workspace(QpMethod method, const kernels::QpShape& shape) {
  const long width = shape.variables > kLargestPackedQp ? 1 : kLargestPadding;
  const long doubles = width * kernels::qp_first_parts(method, shape.variables, shape.rows).end;
  return (doubles + 7) / 8 * 8;
}
/// Doubles that a QpRange needs, for any instruction set.
CAROM_INLINE long qp_workspace(QpMethod method, const kernels::QpShape& shape) {
  return qp_pack_workspace(method, shape) +
         (asks_wide(method, shape) ? qp_wide_workspace(shape.variables, shape.rows) : 0L);
}

}  // namespace carom::cpu::simd
