#pragma once

#include <span>

#include <carom/types/impact_bounces.hpp>

/// Single outcomes of an impact with restitution, to compare with the sampled set
/// (docs/explanation/restitution.md). Restitution and friction are the middles of the problem's
/// intervals. `impacts` of a result counts single impacts, rounds or steps; beyond
/// settings.max_impacts the status is iteration_limit. Errors of all: InvalidInput.
namespace carom {

/// Single impacts by Stronge's restitution, each to its full bounce, in cyclic `order` until
/// nothing approaches.
SequentialOutcome bouncing_sequence(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings = {});

/// Rounds at all contacts. Errors: also, of `reflection`, numbers of restitution that differ.
SequentialOutcome bouncing_rounds(const ImpactProblem& problem, BounceRounds rounds,
                                  const ImpactModelSettings& settings = {});

/// Springs, followed in steps of which each solves friction by (75): exact but for O(step). Errors:
/// also a restitution of 0.
SequentialOutcome compliant_bounce(const ImpactProblem& problem, const CompliantContacts& springs,
                                   const ImpactModelSettings& settings = {});

}  // namespace carom
