#pragma once

#include <nlohmann/json.hpp>

#include "run/impact_run.hpp"

namespace carom::io {

/// JSON of measured outcomes: the keys `judgement` and `identify` of a run that has them.
nlohmann::ordered_json judgement_json(const run::ImpactRun& run);
nlohmann::ordered_json identify_json(const run::IdentifiedRun& found);

}  // namespace carom::io
