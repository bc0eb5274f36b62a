#pragma once

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/boxed_lcp.hpp>
#include <carom/workspace.hpp>

namespace carom {

/// Solves every problem by a path of Lemke's kind on the box itself, of order n, with lexicographic
/// ties; friction rows as an LCP of order n + 2 f (Stewart and Trinkle 1996, one sliding variable
/// for each of the f rows). Problems without a certified result are solved again in double-double
/// arithmetic, then without data that may be rounding errors, then with other covering vectors.
/// Statuses: solved; infeasible if no z in the box gives w the signs that the bounds require,
/// with a Farkas vector; ray, which proves nothing and does not occur if all bounds are finite;
/// inaccurate, iteration_limit, numerical_error; invalid_input for NaN and an infinite M or
/// q, without effect on other problems. Crossed bounds are infeasible, with a zero vector.
/// The result is in the memory space of `batch`. On a device a kernel follows the plain paths;
/// problems that these do not certify are solved on the host.
/// Errors: InvalidInput for shapes, findex and friction that do not fit; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings = {},
                               Backend backend = Backend::automatic,
                               Workspace* workspace = nullptr);

}  // namespace carom
