#pragma once

#include "cpu/simd/programs/qp_pack.hpp"
#include "programs/qp/kernels/qp_task.hpp"

/// What the packs leave, one problem at a time (kernels::QpTask::finish), in the machine's
/// instruction set.
namespace carom::cpu::simd {

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

/// workspace: kernels::qp_finish_parts().end doubles.
template <class Isa>
void finish_qp(const kernels::QpTaskArrays& arrays, long problem, bool tried, double* workspace) {
  using Memory = IsaMemory<Isa, double>;
  const IsaTaskLane<Isa> lane;
  const kernels::QpTaskParts parts =
      kernels::qp_finish_parts(arrays.shape.variables, arrays.shape.rows, arrays.shape.cones > 0);
  kernels::QpTask<IsaTaskLane<Isa>, Memory>(lane, arrays, parts, Memory{workspace})
      .finish(problem, tried);
}

}  // namespace carom::cpu::simd
