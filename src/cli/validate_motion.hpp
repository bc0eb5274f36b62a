#pragma once

#include <carom/backend.hpp>

#include "cli/motion_options.hpp"

namespace carom::cli {

/// Simulates motions on one backend and replays their pieces between events by the reference's
/// small time steps (motion_replay.hpp). A disagreement is a piece or an impact that differs,
/// unless the laws of contact had several solutions in its motion. Returns the exit status.
/// Errors: InvalidInput, BackendUnavailable.
int validate_motions(const MotionOptions& options, Backend backend, Backend against,
                     double tolerance);

}  // namespace carom::cli
