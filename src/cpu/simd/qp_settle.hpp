#pragma once

#include "cpu/simd/qp_pack.hpp"
#include "programs/qp/body/qp_task_body.hpp"

/// What the packs leave, one problem at a time (kernels::QpTask::settle), in the machine's
/// instruction set.
namespace carom::cpu::simd {

/// workspace: kernels::qp_settle_parts().end doubles.
using SettleQp = void (*)(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                          double* workspace);
void settle_qp_generic(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                       double* workspace);
void settle_qp_avx2(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                    double* workspace);
void settle_qp_avx512(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                      double* workspace);

inline SettleQp settle_qp() {
#if defined(__x86_64__)
  if (level() == Level::avx512) return settle_qp_avx512;
  if (level() == Level::avx2) return settle_qp_avx2;
#endif
  return settle_qp_generic;
}

template <class Isa>
struct IsaTaskLane : IsaQpLane<Isa> {
  /// As kernels::SingleLane::argmin.
  template <class Real, class F>
  CAROM_INLINE kernels::ArgMin<Real> argmin(int count, Real infinity, F&& key) const {
    kernels::ArgMin<Real> best{infinity, -1};
    for (int i = 0; i < count; ++i) {
      const Real k = key(i);
      if (k < best.key) best = {k, i};
    }
    return best;
  }
};

template <class Isa>
CAROM_INLINE void settle_qp_of(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                               double* workspace) {
  using Memory = IsaMemory<Isa, double>;
  const IsaTaskLane<Isa> lane;
  const kernels::QpTaskParts parts =
      kernels::qp_settle_parts(arrays.shape.variables, arrays.shape.rows, arrays.shape.cones > 0);
  kernels::QpTask<IsaTaskLane<Isa>, Memory>(lane, arrays, parts, Memory{workspace})
      .settle(problem, tried);
}

}  // namespace carom::cpu::simd
