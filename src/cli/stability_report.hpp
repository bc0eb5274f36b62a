#pragma once

#include <string>

#include "run/stability_run.hpp"

namespace carom::cli {

std::string stability_report(const run::StabilityRun& run);

}  // namespace carom::cli
