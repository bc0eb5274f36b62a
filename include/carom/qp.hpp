#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/qp.hpp>
#include <carom/workspace.hpp>

namespace carom {

/// Solves every problem independently of the others. Statuses: solved, inaccurate,
/// infeasible and unbounded (both proven, see `certificate`), nonconvex (P of unit diagonal has an
/// eigenvalue below -1e-9 where equations hold), no_interior (neither an optimum with multipliers
/// nor a proof that there is none was found, and `certificate` shows why: the optimum may not be
/// attained, the problem weakly infeasible, its multipliers without bound), iteration_limit,
/// numerical_error, invalid_input (NaN, an infinite entry of P, q, A, C or b, or l > u by a NaN).
/// l_i > u_i is infeasible.
/// The result is in the memory space of `batch`. backend reference: a dual active-set method
/// in long double, for cones tangent planes and Newton's method; it ignores `method` and `start`.
/// Errors: InvalidInput for shapes, a method that does not take the batch's cones, or settings;
/// BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings = {},
                  Backend backend = Backend::automatic, const QpWarmStart& start = {},
                  Workspace* workspace = nullptr);

}  // namespace carom
