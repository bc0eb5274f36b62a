#pragma once

#include <carom/backend.hpp>

#include "cli/step_options.hpp"

namespace carom::cli {

/// Takes the same steps on two backends and reports where statuses differ or states by more than
/// `tolerance`, relative to the largest of the world. A scenario steps 50 times at 4 step sizes up
/// to the recommended one, unless the options say otherwise; a file's steps are solved as they are.
/// Returns the exit status. Errors: InvalidInput, BackendUnavailable.
int validate_steps(const StepOptions& options, Backend first, Backend second, double tolerance);

}  // namespace carom::cli
