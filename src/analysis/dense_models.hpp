#pragma once

#include <span>
#include <vector>

#include <carom/impact_models.hpp>

#include "impact/backends.hpp"

/// The models of carom/impact_models.hpp, whose arguments were validated: one problem at a time, in
/// dense matrices on the host.
namespace carom::dense {

ImpactOutcome simultaneous_impact(const ImpactProblem& problem,
                                  const ImpactModelSettings& settings);
SequentialOutcome sequential_impact(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings);
ImpactOutcome newton_impact(const ImpactProblem& problem, int contact, double restitution,
                            const ImpactModelSettings& settings);

Pointedness pointedness(const ImpactProblem& problem, int friction_directions);
TerminationBound termination_bound(const ImpactProblem& problem, double step_size, std::int64_t k,
                                   int friction_directions);
double samples_for_epsilon_net(int n, double lipschitz, double step_size, double epsilon,
                               double delta);
UniquenessReport check_unique_step(const ImpactProblem& problem, const ImpactSettings& settings,
                                   std::int64_t trajectories);

}  // namespace carom::dense
