#pragma once

#include <nlohmann/json.hpp>

#include "io/impact_run.hpp"

/// JSON of results. Values that are not finite become null.
namespace carom::io {

/// One problem of `carom impact --json`.
nlohmann::ordered_json impact_json(const ImpactRun& run);

/// The keys `simultaneous` and `sequential` of `carom impact-models --json`.
nlohmann::ordered_json models_json(const ComparedModels& models);

}  // namespace carom::io
