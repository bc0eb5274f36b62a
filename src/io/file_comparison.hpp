#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace carom::io {

/// Comparison of two files of the same kind. Times, rates, the command line, the version and /input
/// are not compared.
struct FileComparison {
  std::size_t compared = 0;              ///< data sets and attributes, or JSON values
  std::vector<std::string> differences;  ///< one line each: where, and both values
};

/// Turns the texts of the second file into those of the first, which other paths were told.
using Renamed = std::function<std::string(std::string)>;

/// Bit for bit. Errors: FileError.
FileComparison compare_hdf5(const std::filesystem::path& first, const std::filesystem::path& second,
                            const Renamed& renamed);
FileComparison compare_json(const nlohmann::json& first, const nlohmann::json& second,
                            const Renamed& renamed);

}  // namespace carom::io
