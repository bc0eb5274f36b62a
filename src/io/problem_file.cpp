#include "io/problem_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace carom::io {

void require_known_sets(const Hdf5Reader& reader, std::span<const std::string_view> known,
                        const std::string& file) {
  for (const std::string& name : reader.names()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InvalidInput(fmt::format("{}: unknown data set \"{}\"; known are {}", file, name,
                                     fmt::join(known, ", ")));
    }
  }
}

}  // namespace carom::io
