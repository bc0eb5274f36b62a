#include "programs/qp/task.hpp"

#include "core/arrays.hpp"

namespace carom {

kernels::QpTaskArrays qp_task(const QpBatch& batch, const QpLayout& layout,
                              const QpSettings& settings) {
  kernels::QpTaskArrays task{};
  task.shape = layout.shape();
  task.interval_rows = batch.rows;
  task.equation = layout.cone_equations().data();
  task.settings = {settings.method, settings.max_iterations,  settings.tolerance,
                   settings.polish, settings.over_relaxation, settings.penalty};
  return task;
}

kernels::QpTaskArrays qp_task(const QpBatch& batch, const QpLayout& layout,
                              const QpSettings& settings, const QpWarmStart& start,
                              QpResult& result) {
  kernels::QpTaskArrays task = qp_task(batch, layout, settings);
  arrays::bind(task, batch);
  arrays::bind(task.start, start);
  arrays::bind(task, result);
  return task;
}

}  // namespace carom
