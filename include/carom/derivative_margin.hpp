#pragma once

#include <span>

#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/types/derivative_margin.hpp>

/// Derivatives of the margins of postures (docs/explanation/derivatives.md). On the host.
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

/// Of the `distance` of planar_margins, s (tau + (x - p) x f) / |f|, with s = 1 at the upper and -1
/// at the lower end, and p the point where the lines of the forces f_j e_j that hold the end meet,
/// e = n + s_j mu t: in x_i: s f_j (e_y, -e_x) / |f|, in e_j: s f_j J (x_j - p) / |f|, and from
/// there in n, mu and the patch's length; in tau: s / |f|.
///
/// centre_of_mass: [problems, 2], world frame [m]. Status kink: both ends are equally near, or
/// forces or p are not unique and what was asked may vary with them, or a contact without friction
/// would help if it had some (its gradient is then one-sided). not_solved: no strip; undefined:
/// the nearer end is infinite, or not certified.
/// Errors: InvalidInput for shapes, numbers that are not finite, and a batch in device memory.
MarginGradient differentiate_planar_margins(const PostureBatch& batch,
                                            std::span<const double> centre_of_mass,
                                            const PlanarSettings& settings = {},
                                            const DerivativeSettings& derivative = {},
                                            const MarginWanted& wanted = {});

}  // namespace carom
