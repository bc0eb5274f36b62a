#pragma once

#include <nlohmann/json.hpp>

#include "run/stability_run.hpp"

namespace carom::io {

/// Points of a chart beyond which `modes` are left out of each.
inline constexpr std::size_t kMostPointsWithModes = 10000;

nlohmann::ordered_json stability_json(const run::StabilityRun& run);

}  // namespace carom::io
