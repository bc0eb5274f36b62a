#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/reference/impact/step.hpp"

namespace carom::reference {

/// Largest number of mode combinations that a step is enumerated over by default.
inline constexpr std::int64_t kMaxCombinations = 4'000'000;
/// Two velocities differ by more than this, relative to the largest speed before.
inline constexpr double kDistinct = 1e-7;

/// Number of combinations of basic contact modes; saturates at the largest int64.
std::int64_t combinations(const StepModel& model, const Vector& max_impulse);

/// All solutions of a step, one for each distinct velocity, by enumeration of the basic contact
/// modes: each contact is open, closed or at its largest impulse, and where it bears, it sticks,
/// slides along a direction d_j or between two neighbouring ones. Every solution is certified by
/// the full LCP. Where velocities form a continuum, its basic points are found.
/// `velocity_of` maps an impulse to the velocity that is compared, within `distinct`, absolute.
std::vector<StepSolution> enumerate_step(const StepModel& model, const Vector& contact_velocity,
                                         const Vector& max_impulse, double tolerance,
                                         const std::function<Vector(const Vector&)>& velocity_of,
                                         double distinct);

/// Solves the contact modes that an impulse shows once more, in reduced coordinates: the full LCP's
/// basic solutions can hold large opposite lambda_D, whose difference is a poor lambda_t. Returns
/// whichever impulse has the smaller residual.
Vector polished_impulse(const StepModel& model, const Vector& contact_velocity,
                        const Vector& max_impulse, const Vector& impulse);

}  // namespace carom::reference
