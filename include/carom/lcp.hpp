#pragma once

#include <cstdint>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/lcp.hpp>
#include <carom/workspace.hpp>

namespace carom {

/// Solves every problem with lexicographic Lemke (covering vector e, the artificial variable leaves
/// first in a tie); what rounding keeps from a certified end is done again in twice the precision.
/// Where no z >= 0 has w >= 0, Status::infeasible comes with Farkas' vector as its proof. Any other
/// secondary ray gives Status::ray, which proves nothing about solvability. A problem with NaN or
/// infinity gets Status::invalid_input and leaves its neighbours unchanged. The result lives in the
/// memory space of `batch`. Errors: InvalidInput for shapes that do not fit; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings = {},
                    Backend backend = Backend::automatic, Workspace* workspace = nullptr);

}  // namespace carom
