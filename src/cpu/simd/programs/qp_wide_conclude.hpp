#pragma once

#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/programs/qp_wide_active_set.hpp"
#include "programs/qp/kernels/qp_task_problem.hpp"

namespace carom::cpu::simd {

template <class Isa>
struct IsaQpLane {
  template <class F>
  CAROM_INLINE void for_each(int count, F&& f) const {
    for (int i = 0; i < count; ++i) f(i);
  }
  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) f(i, j);
    }
  }
};

/// Writes a certified answer of QpWideActiveSet to problem p where it leaves nothing to do.
template <class Isa>
bool conclude_wide(const kernels::QpTaskArrays& task, long p,
                   const typename QpWideActiveSet<Isa>::Certified& answer, int iterations) {
  const double tolerance = task.settings.tolerance;
  if (!answer.close || !certificate::within(answer.residual, tolerance) ||
      kernels::qp_wants_refinement(task, p, answer.residual)) {
    return false;
  }
  kernels::QpTaskParts parts;
  parts.x = 0;
  parts.y = answer.y - answer.x;
  const IsaMemory<Isa, const double> memory{answer.x};
  const IsaQpLane<Isa> lane;
  const kernels::QpTaskProblem problem(lane, task, parts, memory);
  return problem.conclude(p, QpMethod::active_set,
                          static_cast<std::uint8_t>(kernels::qp_end::kActiveSet), iterations,
                          answer.residual, answer.objective, 0.0) == kernels::QpLeft::nothing;
}

}  // namespace carom::cpu::simd
