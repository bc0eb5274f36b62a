#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <carom/impact.hpp>
#include <carom/types/impact_models.hpp>

/// Models of a multi-contact impact to compare the sampled set with, and the utilities that the
/// theory of set-valued impacts gives. All of it runs on the host, with Eigen.
namespace carom {

/// All distinct v' of one step (75) from the problem's velocity, by enumeration of the basic
/// contact modes, ordered by kinetic energy. max_impulse: lambda_max, [m]; infinity takes the bound
/// away. Errors: InvalidInput where the modes exceed max_combinations.
std::vector<ImpactOutcome> step_outcomes(const ImpactProblem& problem,
                                         std::span<const double> max_impulse,
                                         const ImpactModelSettings& settings = {});

/// All distinct post-impact velocities of the simultaneous inelastic model (31), by enumeration of
/// the basic contact modes, ordered by kinetic energy.
/// Errors: InvalidInput where the modes exceed max_combinations.
std::vector<ImpactOutcome> simultaneous_impacts(const ImpactProblem& problem,
                                                const ImpactModelSettings& settings = {});

/// One solution of (31), by lexicographic Lemke.
ImpactOutcome simultaneous_impact(const ImpactProblem& problem,
                                  const ImpactModelSettings& settings = {});

/// Single impacts (31) in cyclic `order` until nothing approaches (section 2.2.2).
SequentialOutcome sequential_impact(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings = {});

/// Single planar impact of contact `contact` with Newton restitution e in [0, 1], closed form.
ImpactOutcome newton_impact(const ImpactProblem& problem, int contact, double restitution,
                            const ImpactModelSettings& settings = {});
Pointedness pointedness(const ImpactProblem& problem, int friction_directions = 4);
/// Errors: InvalidInput where the friction cone is not pointed, h <= 0 or k < 0.
TerminationBound termination_bound(const ImpactProblem& problem, double step_size, std::int64_t k,
                                   int friction_directions = 4);

/// Lemma 1: the smallest N for which the bound (1) reaches 1 - delta, for a function of Lipschitz
/// constant L on [0, h]^n and an epsilon-net of its image. Returned as double: it overflows 2^63.
double samples_for_epsilon_net(int n, double lipschitz, double step_size, double epsilon,
                               double delta);
UniquenessReport check_unique_step(const ImpactProblem& problem, const ImpactSettings& settings,
                                   std::int64_t trajectories = 256);

/// Contacts of a problem whose steps decide_unique_step compares.
inline constexpr int kMaxUniqueContacts = 2;
/// Assumption 6 by linear programmes: the solutions of (75) with a given combination of contact
/// modes are a cone in velocity, lambda_max and impulse, and of every pair of combinations the
/// largest difference of two v' of the same velocity and lambda_max is found. If none differ, the
/// step is unique; else the step found is solved by enumeration, and counts where that has several
/// outcomes, too. (The paper names semidefinite programming, which proves less: it is sufficient.)
/// Errors: InvalidInput for contacts in space and more than kMaxUniqueContacts contacts.
StepUniqueness decide_unique_step(const ImpactProblem& problem);

}  // namespace carom
