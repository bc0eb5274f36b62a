#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/control.hpp"
#include "run/step_run.hpp"

namespace carom::run {

/// Worlds of one scenario to be stepped.
struct StepWorlds {
  const models::Scenario* scenario = nullptr;
  std::int64_t worlds = 1;
  std::vector<double> parameters;   ///< [worlds, scenario->parameters.size()]
  std::vector<std::string> varied;  ///< swept and drawn names, kStepSizeName among them
  std::vector<double> step_size;    ///< h [s], [worlds]
  std::vector<std::int64_t> steps;  ///< [worlds]
};

/// What is asked of a run.
struct StepRequest {
  CompliantSettings settings;
  std::uint64_t seed = 0;              ///< that drew the worlds' parameters
  std::optional<std::int64_t> stride;  ///< of kept states; else by `results_wanted`
  bool results_wanted = false;         ///< about 500 states of every world are kept
  Backend backend = Backend::cpu;
};

/// Steps all worlds, those of one shape, step size and number of steps together. Every group's
/// parameters are checked before the first step is taken. Once stopped the remaining groups keep
/// their worlds' starts unstepped: status cancelled, numbers NaN.
/// Errors: InvalidInput, BackendUnavailable.
StepRun run_worlds(const StepWorlds& worlds, const StepRequest& request, const Control& control);

/// For compliant_block_impact: the rigid block's post-impact set by sampling, for the parameters of
/// world 0.
RouthSet sample_routh_set(const StepRun& run);

}  // namespace carom::run
