#pragma once

#include <string>

#include "run/impact_run.hpp"

namespace carom::cli {

/// What the enclosure of a run says, for a terminal.
std::string enclosure_report(const run::ImpactRun& run);

}  // namespace carom::cli
