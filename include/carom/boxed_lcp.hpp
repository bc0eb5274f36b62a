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
/// for each of the f rows). What rounding keeps from a certified end is done again in twice the
/// precision, then without data that may be rounding, then along other covering vectors.
/// Statuses: solved; infeasible where no z in the box meets the signs of w that the bounds ask for,
/// with Farkas' vector; ray, which proves nothing and which problems with all bounds finite never
/// end on; inaccurate, iteration_limit, numerical_error; invalid_input for NaN and an infinite M or
/// q, which leave their neighbours unchanged. Crossed bounds are infeasible, with a zero vector.
/// The result lives in the memory space of `batch`. On a device a kernel follows the plain paths;
/// what these do not certify is taken to the host.
/// Errors: InvalidInput for shapes, findex and friction that do not fit; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings = {},
                               Backend backend = Backend::automatic,
                               Workspace* workspace = nullptr);

}  // namespace carom
