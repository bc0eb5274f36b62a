#pragma once

#include <carom/device/lanes.hpp>

#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/programs/qp_wide_rows.hpp"
#include "programs/qp/kernels/qp_proofs.hpp"
#include "programs/qp/kernels/qp_task_problem.hpp"

namespace carom::cpu::simd {

/// One lane; Isa keeps the instruction sets' translation units apart.
template <class Isa>
struct IsaQpLane : kernels::SingleLane {};

/// Writes a certified answer of QpWideActiveSet to problem p where it leaves nothing to do.
template <class Isa>
bool conclude_wide(const kernels::QpTaskArrays& task, long p, const QpWideCertified& answer,
                   int iterations) {
  const double tolerance = task.settings.tolerance;
  const IsaQpLane<Isa> lane;
  if (!answer.close || !certificate::within(answer.residual, tolerance) ||
      kernels::qp_wants_refinement(lane, task, p, answer.residual)) {
    return false;
  }
  kernels::QpTaskParts parts;
  parts.x = 0;
  parts.y = answer.y - answer.x;
  const IsaMemory<Isa, const double> memory{answer.x};
  const kernels::QpTaskProblem problem(lane, task, parts, memory);
  return problem.conclude(p, QpMethod::active_set,
                          static_cast<std::uint8_t>(kernels::qp_end::kActiveSet), iterations,
                          answer.residual, answer.objective, 0.0) == kernels::QpLeft::nothing;
}

/// Writes that problem p has no answer where the multipliers of `body` are a proof. own: problem
/// that has the matrices of p; memory: 2 rows + qp_judge_workspace.
template <class Isa, class Body>
bool conclude_refuted(const kernels::QpTaskArrays& task, long p, long own, const Body& body,
                      double* memory) {
  const long n = task.shape.variables;
  const long rows = task.shape.rows;
  using Data = IsaMemory<Isa, const double>;
  const kernels::QpView<Data> view{{task.hessian + own * n * n},
                                   {task.vector + p * n},
                                   {task.matrix + own * rows * n},
                                   {task.lower + p * rows},
                                   {task.upper + p * rows}};
  const IsaMemory<Isa, double> y{memory};
  for (long i = 0; i < rows; ++i) y[i] = 0.0;
  body.read_multipliers([&](int i, double value) { y[i] = value; });
  const IsaQpLane<Isa> lane;
  const double tolerance = task.settings.tolerance;
  kernels::QpVerdict verdict;
  verdict.residual =
      kernels::infeasibility_residual(lane, task.shape, view, y, y + 2 * rows, y + rows, tolerance);
  if (!certificate::within(verdict.residual, tolerance)) return false;
  verdict.status = Status::infeasible;
  verdict.method = QpMethod::active_set;
  verdict.iterations = body.iterations();
  kernels::QpTaskParts parts;
  parts.x = parts.y = 0;
  task.end[p] = kernels::kQpFinal;
  kernels::QpTaskProblem(lane, task, parts, y).write(p, verdict);
  return true;
}
}  // namespace carom::cpu::simd
