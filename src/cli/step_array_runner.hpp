#pragma once

#include <vector>

#include "io/step_arrays.hpp"

namespace carom::cli {

/// Solves all problems, those of one dimension, nv and nq in batches. After an interrupt the
/// remaining batches are not solved: status cancelled, numbers NaN.
/// Errors: InvalidInput (settings), BackendUnavailable.
io::ArrayStepRun run_array_steps(std::vector<CompliantProblem> problems,
                                 const CompliantSettings& settings, Backend backend,
                                 bool show_progress);

}  // namespace carom::cli
