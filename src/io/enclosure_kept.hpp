#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <carom/impact_enclosure.hpp>

namespace carom::io {

/// A question of --never and its answer, in the file's words.
struct KeptAnswer {
  std::string event, answer;
};

/// An enclosure as a file keeps it, with what is said of it.
struct KeptEnclosure {
  ImpactProblem problem;
  std::vector<std::string> contact_names;  ///< those that the questions use; may be empty
  /// Status, bounds, modes, impossible modes, faces and the invariant; exact, rounding, made and
  /// seconds are not read, data_rounding is below.
  ImpactEnclosure set;
  std::vector<KeptAnswer> never;
  std::optional<double> filled;
  std::optional<double> data_rounding;              ///< files before it have none
  std::vector<double> sampled_low, sampled_high;    ///< of all samples, normals first; or empty
  std::map<std::string, std::int64_t> mode_counts;  ///< samples by outcome
  std::vector<std::pair<std::string, std::int64_t>> sampled;  ///< the same, as the modes repeat it
  /// Sampled outcomes that are possible at the samples' mode_tolerance only; files before them have
  /// none, and call them impossible.
  std::optional<std::vector<std::uint64_t>> within_tolerance;
  double mode_tolerance = 0.0;               ///< likewise
  std::vector<std::uint64_t> sampled_modes;  ///< of mode_counts, likewise
};

/// Enclosures and the names of all fields that `KeptEnclosure` has not, or has only to compare.
struct KeptEnclosures {
  std::vector<KeptEnclosure> sets;
  std::vector<std::string> other_fields;
};

/// Whether `file` is what `carom impact --enclose` wrote, HDF5 by --output or JSON.
bool holds_enclosures(const std::filesystem::path& file);

/// The enclosures of such a file, in the order of its problems; those that were interrupted before
/// they began are left out. Errors: InvalidInput naming the file and what is missing, FileError.
KeptEnclosures read_kept_enclosures(const std::filesystem::path& file);

}  // namespace carom::io
