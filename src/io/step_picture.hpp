#pragma once

#include <filesystem>

#include "run/step_run.hpp"

namespace carom::io {

/// Draws what the scenario's paper draws: positions, deviations, energies or displacements over
/// time, or the outcomes of impacts. Up to 8 worlds are drawn as lines, evenly chosen where there
/// are more. Errors: FileError.
void draw_step(const std::filesystem::path& file, const run::StepRun& run);

}  // namespace carom::io
