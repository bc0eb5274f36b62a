#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/stability.hpp>

#include "io/hdf5_file.hpp"

namespace carom::io {

/// One such object, the index-th of `file`. Errors: InvalidInput.
Stance stance_from_json(const nlohmann::json& object, const std::string& file, std::size_t index);

/// Stances of an HDF5 file whose data sets StanceBatch's arrays are, below `group` ("/" or
/// "/stance/"); slope, restitution, force and torque may be missing as in JSON. Errors:
/// InvalidInput of shapes, FileError.
std::vector<Stance> stances_from_hdf5(const Hdf5Reader& reader, const std::string& group,
                                      const std::string& file);

/// Stances of a JSON file: one object or an array of {"name", "contacts": [{"l", "h", "slope",
/// "friction", "restitution"}], "force", "angle", "torque"}; slope, restitution and torque may be
/// left out (0), force too (1). Or of an HDF5 file of such data sets, [stances, contacts] and
/// [stances], or one that `carom stability --output` wrote. Errors: InvalidInput naming file,
/// stance, field, contact and value.
std::vector<Stance> read_stances(const std::filesystem::path& file);

}  // namespace carom::io
