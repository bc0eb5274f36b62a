#pragma once

#include <nlohmann/json.hpp>

#include "run/equilibrium_run.hpp"

namespace carom::io {

/// The document of `carom equilibrium --json`. What does not exist (an infinite end, a region that
/// is empty) is null.
nlohmann::ordered_json equilibrium_json(const run::EquilibriumRun& run);

/// One point of a sweep: its parameters, the region's bounds and whether the centre of mass is
/// held, without polygons and proofs.
nlohmann::ordered_json varied_equilibrium_json(const run::EquilibriumRun& run);

}  // namespace carom::io
