#pragma once

#include "programs/lp/backends.hpp"
#include "programs/lp/kernels/lp.hpp"

namespace carom {

/// Arguments of the LP kernels for a batch, without its arrays.
inline kernels::LpArrays lp_task(const LpBatch& batch, const LpSettings& settings) {
  kernels::LpArrays task{};
  task.rows = batch.rows;
  task.columns = batch.columns;
  task.objectives = batch.objectives;
  task.max_pivots = lp_pivot_limit(batch, settings);
  task.tolerance = settings.tolerance;
  task.limited = settings.max_pivots > 0;
  return task;
}

}  // namespace carom
