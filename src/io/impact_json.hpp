#pragma once

#include <nlohmann/json.hpp>

#include "run/impact_run.hpp"

/// JSON of results. Values that are not finite become null.
namespace carom::io {

/// One problem of `carom impact --json`.
nlohmann::ordered_json impact_json(const run::ImpactRun& run);

/// The keys `simultaneous` and `sequential` of `carom impact-models --json`.
nlohmann::ordered_json models_json(const run::ComparedModels& models);
/// The key `bounces` there.
nlohmann::ordered_json bounces_json(const run::ImpactRun& run);

}  // namespace carom::io
