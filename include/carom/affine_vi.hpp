#pragma once

#include <carom/boxed_lcp.hpp>
#include <carom/types/affine_vi.hpp>

namespace carom {

/// The boxed LCP whose answers are x and the multipliers of the rows' sides:
///
///   M x - A_l'p + A_u's + q against the columns' box,  p >= 0 against A_l x - l,
///   s >= 0 against u - A_u x,
///
/// where A_l and A_u have the rows with a finite l, and u, in any problem, in their order. A row
/// with l = u has a free p and s = 0; a side that a problem lacks has a multiplier fixed at zero.
/// So solve_boxed_lcp solves the inequality: x is the first v values of its solution, its residual
/// and Farkas' vectors are those of this problem, and K is empty where columns are unbounded and it
/// is infeasible. Order: v and the number of sides, at most kMaxBoxedLcpOrder.
/// Errors: InvalidInput for shapes and an order that is too large.
BoxedLcpBatch boxed_lcp_of(const AffineViBatch& batch);

}  // namespace carom
