#pragma once

#include <vector>

#include "run/impact_runner.hpp"

/// Step size and epsilon of problems that come without them (docs/algorithms/impact.md, "How to
/// choose h and epsilon").
namespace carom::run {

/// Epsilon by default, of the set's extent.
inline constexpr double kExtentShare = 0.05;

/// The contact whose approach takes the largest impulse to stop.
struct Stop {
  int contact = -1;      ///< none approaches
  double impulse = 0.0;  ///< -u_n / (Jn M^-1 Jn') of that contact [N s]
};

/// Contacts one at a time, as if the others were not there. `problem` is valid; contacts slower
/// than `velocity_tolerance` [m/s] do not approach.
Stop stopping_impulse(const ImpactProblem& problem, double velocity_tolerance);

/// The extent is within what certified steps may miss: the set is a point. The epsilon of
/// `settings` is a share of the speeds before the impact.
inline bool is_rounding(double extent, const ImpactSettings& settings) {
  return !(extent > settings.residual_tolerance * settings.epsilon);
}

/// Diagonal of the smallest box that holds every sampled v+ [units of v]; 0 where none terminated.
double extent_of(const ImpactSummary& summary);

/// Largest of these extents after a small sample of some of `problems`, of one shape. `settings`
/// has step and steps; its samples, net and kept rows are not used.
/// Errors: InvalidInput, BackendUnavailable.
double pilot_extent(const std::vector<ImpactProblem>& problems, ImpactSettings settings,
                    Backend backend, ImpactWorkspace& workspace);

}  // namespace carom::run
