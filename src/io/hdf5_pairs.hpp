#pragma once

#include <string>
#include <vector>

#include "io/hdf5_file.hpp"

namespace carom::io {

/// Numbers, or pairs [low, high] of which `high` takes the second.
inline std::vector<double> read_pairs(const Hdf5Reader& reader, const std::string& name,
                                      std::vector<double>& high) {
  std::vector<double> values = reader.doubles(name), low;
  if (reader.shape(name).size() < 2) return values;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    low.push_back(values[i]);
    high.push_back(values[i + 1]);
  }
  return low;
}

}  // namespace carom::io
