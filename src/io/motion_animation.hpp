#pragma once

#include <filesystem>

#include "run/motion_run.hpp"

namespace carom::io {

/// The stored motions of the first problem as an animated SVG, in real time, repeated: planar
/// mechanisms from the side, spatial ones obliquely from above. Needs states on a
/// grid. Errors: FileError.
void animate_motion(const std::filesystem::path& file, const run::MotionRunResult& run);

}  // namespace carom::io
