#pragma once

#include <filesystem>

#include "run/motion_run.hpp"

namespace carom::io {

/// The kept motions of the first problem as an SVG that moves by itself, in real time, over and
/// over: planar mechanisms as they are, spatial ones seen from obliquely above. Needs states on a
/// grid. Errors: FileError.
void animate_motion(const std::filesystem::path& file, const run::MotionRunResult& run);

}  // namespace carom::io
