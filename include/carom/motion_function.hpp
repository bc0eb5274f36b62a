#pragma once

#include <functional>
#include <span>
#include <string>

#include <carom/motion_terms.hpp>
#include <carom/types/motion_function.hpp>

/// A user-defined mechanism as a C++ function of its state, if a tree (motion_tree.hpp) is not
/// sufficient: other joints, other forces, closed chains in independent coordinates.
namespace carom {

/// As simulate_motions of a problem, on the cpu. Sample i of it is (seed, first_problem, i).
/// Errors: InvalidInput naming sizes, a start of another length, in penetration or not finite, a
/// mass matrix that is not positive definite there; settings.
MotionResult simulate_motions(const OwnMechanism& mechanism, std::span<const double> position,
                              std::span<const double> velocity,
                              const MotionSettings& settings = {});

/// As of a problem. Errors: InvalidInput likewise.
MotionTerms motion_terms(const OwnMechanism& mechanism, std::span<const double> position,
                         std::span<const double> velocity, double time = 0.0);

}  // namespace carom
