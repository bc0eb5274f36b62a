#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "run/impact_run.hpp"

namespace carom::io {

/// Writes runs to an HDF5 file: root attributes that say how they were made and one group
/// `impact_<i>` per problem with the groups problem, samples, net, paths and models. The file
/// appears under its name only once it is complete and flushed. Errors: FileError.
void write_impact_hdf5(const std::filesystem::path& file, std::span<const run::ImpactRun> runs,
                       const std::string& command_line);

}  // namespace carom::io
