#pragma once

#include <cstdint>
#include <string_view>

#include <carom/types/words.hpp>

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

template <>
inline constexpr auto words<Status> = std::to_array<Word<Status>>({
    {Status::solved, "solved"},
    {Status::inaccurate, "inaccurate"},
    {Status::infeasible, "infeasible"},
    {Status::unbounded, "unbounded"},
    {Status::nonconvex, "nonconvex"},
    {Status::ray, "ray"},
    {Status::iteration_limit, "iteration_limit"},
    {Status::numerical_error, "numerical_error"},
    {Status::invalid_input, "invalid_input"},
    {Status::cancelled, "cancelled"},
    {Status::no_interior, "no_interior"},
    {Status::contradiction, "contradiction"},
});

/// How one sampling trajectory (Algorithm 1) ended.
enum class TrajectoryStatus : std::uint8_t {
  terminated,  ///< no contact approaches faster than velocity_tolerance
  max_steps,   ///< max_steps certified steps were taken and a contact still approaches
  failed,      ///< a step could not be certified; the sample's numbers are NaN
  cancelled,   ///< not computed
};

template <>
inline constexpr auto words<TrajectoryStatus> = std::to_array<Word<TrajectoryStatus>>({
    {TrajectoryStatus::terminated, "terminated"},
    {TrajectoryStatus::max_steps, "max_steps"},
    {TrajectoryStatus::failed, "failed"},
    {TrajectoryStatus::cancelled, "cancelled"},
});

}  // namespace carom
