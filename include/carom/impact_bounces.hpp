#pragma once

#include <span>

#include <carom/types/impact_bounces.hpp>

/// Single outcomes of an impact with restitution, to compare with the sampled set
/// (docs/explanation/restitution.md). Restitution and friction are the midpoints of the problem's
/// intervals. `impacts` of a result is the number of single impacts, rounds or steps; beyond
/// settings.max_impacts the status is iteration_limit. All functions throw InvalidInput.
namespace carom {

/// Single impacts by Stronge's law, each until its store is empty, in cyclic `order` until no
/// contact approaches.
SequentialOutcome bouncing_sequence(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings = {});

/// Rounds at all contacts. Errors: also for `reflection` with unequal coefficients of restitution.
SequentialOutcome bouncing_rounds(const ImpactProblem& problem, BounceRounds rounds,
                                  const ImpactModelSettings& settings = {});

/// Springs, integrated in steps that each solve friction by (75); the error is O(step). Errors:
/// also for a restitution of 0.
SequentialOutcome compliant_bounce(const ImpactProblem& problem, const CompliantContacts& springs,
                                   const ImpactModelSettings& settings = {});

}  // namespace carom
