#pragma once

#include <nlohmann/json.hpp>

#include "run/impact_run.hpp"

namespace carom::io {

/// The enclosure of a run that has one.
nlohmann::ordered_json enclosure_json(const run::ImpactRun& run);

}  // namespace carom::io
