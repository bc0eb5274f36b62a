#pragma once

#include <vector>

#include "run/control.hpp"
#include "run/step_arrays.hpp"

namespace carom::run {

/// Solves all problems, those of one dimension, nv and nq in batches. Once stopped the remaining
/// batches are not solved: status cancelled, numbers NaN.
/// Errors: InvalidInput (settings), BackendUnavailable.
ArrayStepRun run_array_steps(std::vector<CompliantProblem> problems,
                             const CompliantSettings& settings, Backend backend,
                             const Control& control);

}  // namespace carom::run
