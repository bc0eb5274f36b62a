#pragma once

#include <cstdint>
#include <string_view>

namespace carom {

/// Outcome of one problem of a batch. `solved` is only ever set after the residual, recomputed
/// from the problem data (certificate.hpp), was found within the tolerance; outputs of a problem
/// that is neither `solved` nor `inaccurate` are NaN.
enum class Status : std::uint8_t {
  solved,           ///< certified: residual <= tolerance
  inaccurate,       ///< finished, but the recomputed residual exceeds the tolerance
  infeasible,       ///< proven to have no solution
  unbounded,        ///< proven to be unbounded
  nonconvex,        ///< outside the class that the solver is made for
  ray,              ///< Lemke's method ended on a secondary ray; no statement about solvability
  iteration_limit,  ///< pivots or iterations exhausted
  numerical_error,  ///< overflow, NaN or a vanishing pivot inside the solver
  invalid_input,    ///< problem data refused (NaN, not positive definite, ...)
  cancelled,        ///< the caller asked to stop before this problem was finished
  no_interior,      ///< a cone program without interior: neither an optimum nor a proof exists;
                    ///< `certificate` is the face that shows it
  contradiction,    ///< two results for the same problem exclude each other; neither is reported
};

/// How one sampling trajectory (Algorithm 1) ended.
enum class TrajectoryStatus : std::uint8_t {
  terminated,  ///< no contact approaches faster than velocity_tolerance
  max_steps,   ///< max_steps certified steps were taken and a contact still approaches
  failed,      ///< a step could not be certified; the sample's numbers are NaN
  cancelled,   ///< not computed
};

std::string_view to_string(Status status);
std::string_view to_string(TrajectoryStatus status);

}  // namespace carom
