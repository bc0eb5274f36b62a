#pragma once

#include <filesystem>

#include "run/stability_run.hpp"

namespace carom::io {

/// A chart of two sweeps with the boundaries of ambiguity, closed-form chatter and equilibrium, the
/// verdicts of one sweep, or of one point the motion that --start or its counterexample begins:
/// phase portrait and V1, V2 along it. Errors: InvalidInput where there is nothing to draw;
/// FileError.
void draw_stability(const std::filesystem::path& file, const run::StabilityRun& run);

}  // namespace carom::io
