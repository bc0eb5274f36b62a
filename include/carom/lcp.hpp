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
/// first in a tie), or by principal pivots where M's signs or its diagonal show that they find the
/// same solution. Problems without a certified result are solved again in double-double arithmetic.
/// If no z >= 0 has w >= 0, Status::infeasible comes with a Farkas vector. Any other
/// secondary ray gives Status::ray, which proves nothing about solvability. A problem with NaN or
/// infinity gets Status::invalid_input and does not affect others. The result is in the
/// memory space of `batch`. Errors: InvalidInput for shapes that do not fit; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings = {},
                    Backend backend = Backend::automatic, Workspace* workspace = nullptr);

}  // namespace carom
