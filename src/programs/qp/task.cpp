#include "programs/qp/task.hpp"

#include <algorithm>

namespace carom {

QpResult make_qp_result(const QpBatch& batch, int rows) {
  const MemorySpace space = batch.hessian.space();
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto n = static_cast<std::size_t>(batch.variables);
  const auto m = static_cast<std::size_t>(batch.rows);
  const auto all = static_cast<std::size_t>(rows);
  QpResult result;
  result.solution = Buffer<double>(problems * n, space);
  result.dual = Buffer<double>(problems * m, space);
  result.cone_dual = Buffer<double>(problems * (all - m), space);
  result.objective = Buffer<double>(problems, space);
  result.status = Buffer<Status>(problems, space);
  result.method = Buffer<QpMethod>(problems, space);
  result.iterations = Buffer<std::int32_t>(problems, space);
  result.residual = Buffer<double>(problems, space);
  result.certificate = Buffer<double>(problems * std::max(n, all), space);
  result.point = Buffer<double>(problems * n, space);
  return result;
}

kernels::QpTaskSettings qp_task_settings(const QpSettings& settings) {
  return {settings.method, settings.max_iterations,  settings.tolerance,
          settings.polish, settings.over_relaxation, settings.penalty};
}

kernels::QpTaskArrays qp_task_arrays(const QpBatch& batch, const QpLayout& layout,
                                     const QpSettings& settings, const QpWarmStart& start,
                                     QpResult& result) {
  const auto given = [](const Buffer<double>& values) {
    return values.empty() ? nullptr : values.data();
  };
  kernels::QpTaskArrays arrays{};
  arrays.shape = layout.shape();
  arrays.interval_rows = batch.rows;
  arrays.equation = layout.cone_equations().data();
  arrays.settings = qp_task_settings(settings);
  arrays.hessian = batch.hessian.data();
  arrays.vector = batch.vector.data();
  arrays.matrix = batch.matrix.data();
  arrays.lower = batch.lower.data();
  arrays.upper = batch.upper.data();
  arrays.cone_matrix = batch.cone_matrix.data();
  arrays.cone_vector = batch.cone_vector.data();
  arrays.start_solution = given(start.solution);
  arrays.start_dual = given(start.dual);
  arrays.start_cone_dual = given(start.cone_dual);
  arrays.solution = result.solution.data();
  arrays.dual = result.dual.data();
  arrays.cone_dual = result.cone_dual.data();
  arrays.objective = result.objective.data();
  arrays.status = result.status.data();
  arrays.method = result.method.data();
  arrays.iterations = result.iterations.data();
  arrays.residual = result.residual.data();
  arrays.certificate = result.certificate.data();
  arrays.point = result.point.data();
  return arrays;
}

}  // namespace carom
