#pragma once

#include <filesystem>
#include <vector>

#include <carom/impact_enclosure.hpp>

namespace carom::io {

/// An enclosure as a file keeps it: what proves_enclosure reads.
struct KeptEnclosure {
  ImpactProblem problem;
  ImpactEnclosure set;  ///< status, bounds, impossible modes and the invariant alone
};

/// Whether `file` is what `carom impact --enclose` wrote, HDF5 by --output or JSON.
bool holds_enclosures(const std::filesystem::path& file);

/// The enclosures of such a file, in the order of its problems; those that were interrupted before
/// they began are left out. Errors: InvalidInput naming the file and what is missing, FileError.
std::vector<KeptEnclosure> read_kept_enclosures(const std::filesystem::path& file);

}  // namespace carom::io
