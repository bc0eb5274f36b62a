#pragma once

#include <filesystem>

#include "run/motion_run.hpp"

namespace carom::io {

/// Draws the kept motions of the first task: coordinates over t and over the paper's s, phase
/// portraits, and the contacts' events under the time axis. Errors: FileError.
void draw_motion(const std::filesystem::path& file, const run::MotionRunResult& run);

}  // namespace carom::io
