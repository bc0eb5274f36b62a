#pragma once

#include <carom/device/qp_problem.hpp>

namespace carom::kernels {

/// Newton's method on the active set of x, y, a rough answer of a convex cone program, until each
/// condition holds to the last digits of its own terms: where entries such as cos(pi/2) = 6e-17
/// stand for zeros, rows of such entries have terms of 1e-18 and columns of 1e-34, which methods
/// whose errors are relative to the largest number do not reach.
/// Real: of the steps, double or Doubled. x: [n], y: [rows]; multipliers of rows that are not
/// active are zero. On the host (src/programs/qp/refine_active_set.cpp).
template <class Real>
void refine_active_set(const QpShape& shape, const QpView<const double*>& view, double* x,
                       double* y);

}  // namespace carom::kernels
