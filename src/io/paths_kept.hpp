#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <carom/types/impact.hpp>

#include "impact/exact/judge_path.hpp"

namespace carom::io {

/// The paths with restitution of one problem of a file, and of each what its sample says.
struct KeptPaths {
  ImpactProblem problem;
  RestitutionLaw law = RestitutionLaw::stronge;
  exact::KeptPath settings;  ///< no rows, no problem
  std::vector<std::int64_t> offset;
  std::vector<double> velocity, impulse, restitution, friction;  ///< rows of ImpactPaths
  // Of the samples that have rows of their own, which may be fewer.
  std::vector<double> outcome;  ///< v+, [samples, nv]
  std::vector<std::int64_t> steps, status;
  std::int64_t max_steps = 0;  ///< pieces that a path has room for

  /// Rows of path i.
  [[nodiscard]] exact::KeptPath path(std::size_t i) const;
};

/// Whether `file` is what `carom impact --paths` wrote of problems with restitution, in HDF5.
bool holds_paths(const std::filesystem::path& file);

/// Problems of such a file that have paths, with the names of fields that are not read.
/// Errors: InvalidInput naming the file and what is missing, FileError.
std::vector<KeptPaths> read_kept_paths(const std::filesystem::path& file,
                                       std::vector<std::string>& other_fields);

}  // namespace carom::io
