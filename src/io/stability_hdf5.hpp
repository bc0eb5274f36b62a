#pragma once

#include <filesystem>
#include <string>

#include "run/stability_run.hpp"

namespace carom::io {

/// Stances, verdicts and what proves them, as arrays over the points on two contacts.
/// Errors: FileError.
void write_stability_hdf5(const std::filesystem::path& file, const run::StabilityRun& run,
                          const std::string& command_line);

}  // namespace carom::io
