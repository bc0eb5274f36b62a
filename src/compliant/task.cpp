#include "compliant/backends.hpp"
#include "core/arrays.hpp"

namespace carom {

kernels::CompliantArrays compliant_arrays(const CompliantBatch& batch, CompliantResult& result) {
  kernels::CompliantArrays task{};
  task.dimension = batch.dimension;
  task.velocities = batch.velocities;
  task.rows = batch.rows;
  task.positions = batch.positions;
  arrays::bind(task, batch);
  arrays::bind(task.result, result);
  return task;
}

kernels::CompliantOptions compliant_options(const CompliantBatch& batch,
                                            const CompliantSettings& settings) {
  return {settings.tolerance, 1e-3 * settings.tolerance, contact_iterations(settings),
          batch.dimension - 1, settings.centripetal};
}

}  // namespace carom
