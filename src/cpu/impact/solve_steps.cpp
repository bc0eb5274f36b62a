#include "cpu/impact/step_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "impact/backends.hpp"

namespace carom::cpu {

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace) {
  return drive_steps(batch, settings, simd::instruction_set().solve_steps, workspace);
}

}  // namespace carom::cpu
