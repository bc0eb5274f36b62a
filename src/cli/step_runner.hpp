#pragma once

#include "cli/step_options.hpp"
#include "io/step_run.hpp"

namespace carom::cli {

/// Steps all worlds, those of one shape, step size and number of steps together. Every group's
/// parameters are checked before the first step is taken. After an interrupt the remaining groups
/// keep their worlds' starts unstepped: status cancelled, numbers NaN.
/// Errors: InvalidInput, BackendUnavailable.
io::StepRun run_worlds(const StepWorlds& worlds, const CompliantSettings& settings,
                       const StepOptions& options, Backend backend);

/// For compliant_block_impact: the rigid block's post-impact set by sampling, for the parameters of
/// world 0.
io::RouthSet sample_routh_set(const io::StepRun& run);

}  // namespace carom::cli
