#pragma once

#include <carom/types/impact.hpp>

/// Settings that follow from the problems (docs/explanation/impact.md, "How to choose h and
/// epsilon").
namespace carom {

/// Epsilon that follows from a set, of its extent.
inline constexpr double kExtentShare = 0.05;

/// Diagonal of the smallest box that holds every sampled v+ [units of v]; 0 where none terminated.
double extent_of(const ImpactSummary& summary);

/// Epsilon that follows from the contact speed before the impact.
double epsilon_of_speed(double contact_speed);

/// The extent is within what certified steps may miss: the set is a point.
bool is_rounding(double extent, const ImpactSummary& summary, const ImpactSettings& settings);

/// Epsilon of the problem whose first samples `pilot` sums up; 0 where its numbers were refused.
/// Errors: InvalidInput where the contact speed is not finite and settings.bad_problem is refuse.
double derived_epsilon(const ImpactSummary& pilot, const ImpactSettings& settings,
                       std::int64_t problem);

/// Settings of the samples that `pilot` of derived_epsilon comes from: the first ones of the run,
/// whichever shard is asked for.
ImpactSettings pilot_settings(const ImpactSettings& settings);

}  // namespace carom
