#pragma once

#include "cpu/simd/programs/qp_pack.hpp"
#include "programs/qp/kernels/qp_task.hpp"

/// Solves the QPs that packs leave unsolved, one at a time (kernels::QpTask::finish), in the
/// machine's instruction set.
namespace carom::cpu::simd {

/// workspace: kernels::qp_finish_parts().end doubles.
template <class Isa>
void finish_qp(const kernels::QpTaskArrays& arrays, long problem, bool tried, double* workspace) {
  using Memory = IsaMemory<Isa, double>;
  const IsaQpLane<Isa> lane;
  const kernels::QpTaskParts parts =
      kernels::qp_finish_parts(arrays.shape.variables, arrays.shape.rows, arrays.shape.cones > 0);
  kernels::QpTask<IsaQpLane<Isa>, Memory>(lane, arrays, parts, Memory{workspace})
      .finish(problem, tried);
}

}  // namespace carom::cpu::simd
