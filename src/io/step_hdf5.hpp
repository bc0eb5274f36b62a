#pragma once

#include <filesystem>
#include <string>

#include "run/step_arrays.hpp"
#include "run/step_run.hpp"

namespace carom::io {

/// Writes stepped worlds to an HDF5 file: root attributes that say how they were made, the
/// parameters of all worlds, and one group `worlds_<i>` for the worlds of one shape and step size,
/// with the states at every stride and the final values. The file appears under its name only once
/// it is complete and flushed. Errors: FileError.
void write_step_hdf5(const std::filesystem::path& file, const run::StepRun& run,
                     const std::string& command_line);

/// Writes steps of arrays: one group `steps_<i>` for the problems of one shape.
void write_array_step_hdf5(const std::filesystem::path& file, const run::ArrayStepRun& run,
                           const std::string& command_line);

}  // namespace carom::io
