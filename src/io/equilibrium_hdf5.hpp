#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/equilibrium_run.hpp"

namespace carom::io {

/// Writes a group /posture_<i> for each run, whole or not at all. Errors: FileError.
void write_equilibrium_hdf5(const std::filesystem::path& file,
                            const std::vector<run::EquilibriumRun>& runs,
                            const std::string& command_line);

}  // namespace carom::io
