#pragma once

#include <filesystem>

#include "run/impact_run.hpp"

namespace carom::io {

/// Draws a run in the contacts' frames, as the paper's figures 9 to 14 do: intermediate velocities
/// light grey, the post-impact set dark grey, the simultaneous outcomes blue, two sequences of
/// single impacts red and orange. Planar pairs of contacts, the disk stack and the block have the
/// paper's layouts; any other problem gets its normal velocities in pairs and every contact's own
/// plane. Errors: InvalidInput for a problem without contacts; FileError.
void draw_impact(const std::filesystem::path& file, const run::ImpactRun& run);

}  // namespace carom::io
