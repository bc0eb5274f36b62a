#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/stability.hpp>

namespace carom::io {

/// One such object, the index-th of `file`. Errors: InvalidInput.
Stance stance_from_json(const nlohmann::json& object, const std::string& file, std::size_t index);

/// Stances of a JSON file: one object or an array of {"name", "contacts": [{"l", "h", "slope",
/// "friction", "restitution"}], "force", "angle", "torque"}; slope, restitution and torque may be
/// left out (0), force too (1). Errors: InvalidInput.
std::vector<Stance> read_stances(const std::filesystem::path& file);

}  // namespace carom::io
