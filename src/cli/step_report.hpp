#pragma once

#include <string>

#include "io/step_arrays.hpp"
#include "io/step_run.hpp"

/// Compliant steps as text for people.
namespace carom::cli {

/// Worlds one by one up to 16, otherwise by their least, mean and largest values.
std::string step_report(const io::StepRun& run);
std::string array_step_report(const io::ArrayStepRun& run);

}  // namespace carom::cli
