#pragma once

#include <cstdint>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/lp.hpp>
#include <carom/workspace.hpp>

namespace carom {

/// Solves every problem with the primal simplex method on bounded variables; problems without a
/// certified result with Lemke's method in double-double arithmetic (up to 192 complementary
/// pairs). y_i > 0 says that
/// row_lower_i is active, y_i < 0 that row_upper_i is. A problem without feasible point is
/// infeasible for any objective. Infeasible and unbounded are reported only with a certificate that
/// is recomputed from the problem data (certificate_lp.hpp).
/// start: LpResult::basis of a problem of the same shape for each problem, from which its first
/// objective starts; any selection is accepted and repaired where it is no basis.
/// A lower bound above its upper bound makes a problem infeasible: farkas is then the unit vector
/// of the first such row, zero where only columns' bounds cross, and the residual is zero. A
/// problem with NaN, an infinite coefficient, a lower bound of +infinity or an upper bound of
/// -infinity gets Status::invalid_input and does not affect other problems.
/// The result is in the memory space of `batch`.
/// Errors: InvalidInput for shapes that do not fit; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings = {},
                  Backend backend = Backend::automatic, const Buffer<BasisStatus>* start = nullptr,
                  Workspace* workspace = nullptr);

}  // namespace carom
