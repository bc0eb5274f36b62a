#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <carom/types/error.hpp>
#include <carom/types/impact.hpp>
#include <carom/types/impact_models.hpp>

#include "core/backends.hpp"
#include "impact/accumulate.hpp"

// What each backend offers for impacts, with the accumulator that all of them hand their
// trajectories to. Shapes and numbers were validated before.
namespace carom {

/// What is wrong with problem `p`, called `name`, of a host batch whose shapes fit; nothing where
/// it is good.
std::optional<Refusal> problem_refusal(const ImpactBatch& batch, std::int64_t p,
                                       const std::string& name = {});

namespace dense {
/// As carom::step_outcomes, of what was validated.
std::vector<ImpactOutcome> step_outcomes(const ImpactProblem& problem,
                                         std::span<const double> max_impulse,
                                         const ImpactModelSettings& settings);
}  // namespace dense

struct ImpactEntries {
  StepResult (*solve_steps)(const StepBatch&, const StepSettings&, WorkspaceState*);
  ImpactResult (*sample)(const ImpactBatch&, const ImpactSettings&, WorkspaceState*);
};

namespace cpu {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace = nullptr);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace = nullptr);
template <>
const ImpactEntries& entries();
}  // namespace cpu
namespace reference {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace = nullptr);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace = nullptr);
template <>
const ImpactEntries& entries();
}  // namespace reference
namespace cuda {
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* workspace = nullptr);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace = nullptr);
template <>
const ImpactEntries& entries();
}  // namespace cuda
}  // namespace carom
