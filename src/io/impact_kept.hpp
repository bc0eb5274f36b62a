#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <carom/types/impact.hpp>

#include "core/buffer_slice.hpp"
#include "impact/exact/judge_outcome.hpp"
#include "io/hdf5_file.hpp"

namespace carom::io {

/// The group of one problem of an HDF5 file of carom impact.
std::string impact_group(std::size_t index);

/// The problem of such a group. Errors: InvalidInput naming file, group and what does not fit.
ImpactProblem kept_problem(const Hdf5Reader& reader, const std::string& group,
                           const std::string& file);

/// A range over samples, as a file has it.
struct KeptRange {
  std::string name;  ///< "velocity", "normal_velocity" or "tangent_velocity"
  std::vector<double> low, high;
};

/// What a file of carom impact keeps of the samples of one problem, and says of them.
struct KeptImpact {
  ImpactProblem problem;
  exact::OutcomeSettings settings;

  std::int64_t count = 0;  ///< rows
  ImpactSampleArrays<Values> rows;

  // Of all samples, which may be more than the rows.
  std::int64_t samples = 0, terminated = 0, max_steps_reached = 0, failed = 0, first_sample = 0;
  std::vector<KeptRange> ranges;
  double max_energy_ratio = 0.0, max_residual = 0.0;
  std::map<std::string, std::int64_t> mode_counts;

  // Points of the net; empty without.
  std::vector<double> net_velocity, net_impulse;
  std::vector<std::int64_t> net_modes, net_multiplicity, net_first_sample;
  std::int64_t net_dropped = 0;
};

/// Whether `file` is what `carom impact --output` wrote.
bool holds_impacts(const std::filesystem::path& file);

/// All problems of such a file, with the names of fields that are not read.
/// Errors: InvalidInput naming the file and what is missing or does not fit, FileError.
std::vector<KeptImpact> read_kept_impacts(const std::filesystem::path& file,
                                          std::vector<std::string>& other_fields);

}  // namespace carom::io
