#pragma once

#include <span>

#include <carom/impact.hpp>
#include <carom/types/impact_judge.hpp>

/// Is a measured outcome of an impact in the set? Distances are |v - v+|_M / |v-|_M or, with a
/// covariance C of the measurement, sqrt(d' C^-1 d), in standard deviations
/// (docs/tutorials/measured.md). Batches are in host memory.
namespace carom {

/// Checks the measurements of a valid batch. Errors: InvalidInput names field, problem and value:
/// shapes, NaN or infinity, a covariance that is not symmetric to 1e-9 relative and positive
/// definite, v- = 0 without a covariance.
void validate(const ImpactBatch& batch, const MeasuredImpacts& measured);

/// Distance of a velocity [nv] from the measured outcome of problem p of a valid batch.
double impact_distance(const ImpactBatch& batch, const MeasuredImpacts& measured, std::int64_t p,
                       std::span<const double> velocity);

/// The floor: least distance from the measured v+ to v- + M^-1 J' lambda over all impulses in the
/// friction cones (of friction_high, for intervals), a bound for every law of restitution. One cone
/// program per problem, by solve_qp. A large floor means that geometry, mass or contacts are
/// wrong. threads: 0 = all hardware threads. Errors: InvalidInput for problems and
/// measurements.
ImpactFloor impact_floor(const ImpactBatch& batch, const MeasuredImpacts& measured,
                         int threads = 0);

/// Floor, nearest sample and verdict of every problem. The set is sampled as `sampling` says, then
/// in `rounds` rounds around the nearest samples, with intervals of restitution and friction half
/// as wide each time. Every candidate is a certified sample of the problem. Answers do not depend
/// on other problems or on threads. Of `sampling`, the settings of stored samples, paths and the
/// net are ignored; its progress counts all samples.
/// Errors: as impact_floor and sample_impacts.
ImpactJudgement judge_impacts(const ImpactBatch& batch, const MeasuredImpacts& measured,
                              const JudgeSettings& settings = {},
                              const ImpactSettings& sampling = {},
                              Backend backend = Backend::automatic);

/// Distance of every problem's nearest sample for every pair of restitution and friction from two
/// grids, the same at all contacts, and the smallest interval (below). Of `sampling`, the number of
/// samples and what is stored are ignored. Problems that cannot be sampled have infinite distances.
/// Errors: as judge_impacts; also for grids that are empty or not increasing.
ImpactIdentification identify_impacts(const ImpactBatch& batch, const MeasuredImpacts& measured,
                                      std::span<const double> restitution,
                                      std::span<const double> friction,
                                      const IdentifySettings& settings = {},
                                      const ImpactSettings& sampling = {},
                                      Backend backend = Backend::automatic);

/// Fills smallest_interval and bounds from grids and distances, which may be those of several
/// batches. The area of a box counts one mean cell of each grid more than its ends are apart.
void smallest_interval(ImpactIdentification& found, const IdentifySettings& settings,
                       std::uint64_t seed);

}  // namespace carom
