#pragma once

#include <filesystem>
#include <string>

#include "run/motion_run.hpp"

namespace carom::io {

/// A group for each task with its problem, what was kept of its motions and the net. Errors:
/// FileError.
void write_motion_hdf5(const std::filesystem::path& file, const run::MotionRunResult& run,
                       const std::string& command_line);

}  // namespace carom::io
