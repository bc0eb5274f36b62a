#pragma once

#include <span>

#include <carom/equilibrium_spatial.hpp>
#include <carom/types/derivative_margin.hpp>

/// Derivatives of the margins of spatial postures (docs/explanation/derivatives.md). On the host.
namespace carom {

/// The margin, min over unit d across the force of h(d) - d . x, is the value of a program. Its
/// derivative are the nearest side's proof (a, b) and the forces f_i that hold the point x* of that
/// side: with w_i = a + b x x_i, in x_i: -f_i x b; in n_i: -(f_i x w_i) x n_i; in mu_i: -f_n t .
/// w_i with f_t = mu f_n t; in force and torque: -(a + b x x*) and -b; in x: -d. Outside the region
/// likewise.
///
/// centre_of_mass: [problems, 3], world frame [m]. Status kink: two sides are equally near, or
/// forces or proofs are not unique and what was asked varies with them; the gradient is one of
/// theirs. not_solved: no region; undefined: unbounded, or not certified.
/// Errors: InvalidInput for shapes, numbers that are not finite, a batch in device memory, and
/// cones that are no exact ones.
MarginGradient differentiate_margins(const PostureBatch& batch,
                                     std::span<const double> centre_of_mass,
                                     const SpatialSettings& settings = {},
                                     const DerivativeSettings& derivative = {},
                                     const MarginWanted& wanted = {});

}  // namespace carom
