#pragma once

#include <span>
#include <vector>

#include <carom/impact_models.hpp>

#include "impact/backends.hpp"
#include "impact/step_solutions.hpp"

/// The impact models of carom/impact_models.hpp for validated arguments: one problem at a time, in
/// dense matrices on the host.
namespace carom::dense {

/// One solution of the step (75), by lexicographic Lemke.
struct StepImpulse {
  Status status = Status::solved;
  Vector impulse;
  double residual = 0.0;
};
StepImpulse solve_step(const StepModel& model, const Vector& contact_velocity,
                       const Vector& max_impulse, double tolerance);

/// Errors: InvalidInput where `order` does not name every contact, or others.
void require_order(std::span<const int> order, int contacts);

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
StepUniqueness decide_unique_step(const ImpactProblem& problem);

}  // namespace carom::dense
