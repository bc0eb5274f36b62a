#pragma once

#include <span>
#include <vector>

#include <carom/compliant.hpp>
#include <carom/impact.hpp>
#include <carom/motion.hpp>
#include <carom/types/motion_terms.hpp>

/// A mechanism's equations at any state, and the problems of other families made from them: an
/// impact or a compliant step.
namespace carom {

/// Of a problem's mechanism at q and v (SI) at a time [s]. Errors: InvalidInput naming the array
/// whose length is another, or a mass matrix that is not positive definite there.
MotionTerms motion_terms(const MotionProblem& problem, std::span<const double> position,
                         std::span<const double> velocity, double time = 0.0);

/// M, J, mu and v, of the contacts whose gap is at most `gap` [m]. Errors: InvalidInput where
/// velocity is of another length.
ImpactProblem impact_problem(const MotionTerms& terms, std::span<const double> velocity,
                             double gap = 1e-9);

/// One step of size h [s] with all contacts; phi is the gap along normals and 0 along tangents. The
/// step's increment of positions is h v' (positions = 0). Errors: likewise.
CompliantProblem compliant_problem(const MotionTerms& terms, std::span<const double> velocity,
                                   double step_size, const ContactCompliance& compliance);

}  // namespace carom
