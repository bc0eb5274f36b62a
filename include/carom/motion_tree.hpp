#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include <carom/motion_terms.hpp>
#include <carom/types/motion_tree.hpp>

/// User-defined mechanisms: trees of links, half-spaces, springs, dampers and constant efforts.
/// In the plane (MotionMechanism::tree) axes are x to the right, y upward, angles counter-clockwise
/// [rad]; in space (MotionMechanism::spatial_tree) z is upward, angles turn about axes by the right
/// hand.
namespace carom {

/// The problem of a tree from a start. Errors: InvalidInput naming link, contact or spring, field
/// and value: a parent that is no earlier link (a loop), negative mass, inertia, stiffness,
/// damping, length or friction, a normal that is not of length 1, NaN, more links or contacts than
/// above, a start of another length.
MotionProblem motion_problem(const MechanismTree& tree, std::span<const double> position,
                             std::span<const double> velocity);

/// Likewise. Errors as above, and of an axis that is not of length 1, moments of inertia that no
/// body has, a quaternion that is not of length 1 (to 1e-9), a free link's parent, a ball joint
/// that slides or has stiffness, rest or effort, more velocities than above.
MotionProblem motion_problem(const SpatialTree& tree, std::span<const double> position,
                             std::span<const double> velocity);

/// M, J, mu and v of a motion's start with the contacts whose gap is at most `gap` [m], for the
/// impact family. Errors: InvalidInput as validate(MotionBatch).
ImpactProblem impact_problem(const MotionProblem& problem, double gap = 1e-9);

}  // namespace carom
