#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <carom/motion_terms.hpp>
#include <carom/types/motion_replay.hpp>

/// Checks motions by simulating them with small time steps.
namespace carom {

/// Judges kept motion `sample` of a problem's result from its events: from each to the next the
/// mechanism is stepped anew by small time steps with Coulomb's law on velocities (Moreau's scheme,
/// projected Gauss-Seidel, extrapolated from two step sizes), without laws of contacts or event
/// location, and impacts have to be explained by impulses in the cones of what touches. By the
/// reference. Errors: InvalidInput where the sample's events were not kept; BackendUnavailable.
MotionReplay replay_motion(const MotionProblem& problem, const MotionResult& result,
                           std::int64_t sample, const ReplaySettings& settings = {});

}  // namespace carom
