#pragma once

#include <carom/impact.hpp>

#include "impact/accumulate.hpp"

// What each backend offers for impacts, with the accumulator that all of them hand their
// trajectories to. Shapes and numbers were validated before.
namespace carom {

namespace cpu {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace = nullptr);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace = nullptr);
}  // namespace cpu
namespace reference {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings);
}  // namespace reference
namespace cuda {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace = nullptr);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace = nullptr);
}  // namespace cuda
/// The bodies on a warp's worth of host lanes, run forwards or backwards; compiled with the tests.
namespace emulation {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, bool backwards);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            bool backwards);
}  // namespace emulation

}  // namespace carom
