#pragma once

#include <string>

#include "run/step_arrays.hpp"
#include "run/step_run.hpp"

/// Compliant steps as text for people.
namespace carom::cli {

/// Worlds one by one up to 16, otherwise by their least, mean and largest values; verbose: with the
/// solvers' counters.
std::string step_report(const run::StepRun& run, bool verbose);
std::string array_step_report(const run::ArrayStepRun& run);

}  // namespace carom::cli
