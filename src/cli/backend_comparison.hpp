#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/sampling_options.hpp"
#include "run/impact_run.hpp"

namespace carom::cli {

/// The sample on which two backends differ most.
struct WorstSample {
  std::int64_t sample = 0;
  double difference = 0.0;  ///< max|v+ - v+'| / max|v-|
  std::array<TrajectoryStatus, 2> status{TrajectoryStatus::terminated,
                                         TrajectoryStatus::terminated};
  std::array<double, 2> residual{};
  std::array<std::vector<double>, 2> velocity;
};

/// Two runs of the same samples of one problem, compared row by row.
struct BackendComparison {
  std::int64_t samples = 0;
  std::int64_t status_differences = 0;
  std::int64_t mode_differences = 0;
  std::int64_t velocity_differences = 0;  ///< beyond the tolerance, both with numbers
  std::int64_t explained = 0;      ///< differing samples whose two answers are both certified on a
                                   ///< problem that has (or may have) steps with several solutions
  std::int64_t disagreements = 0;  ///< differing samples that are not explained
  double max_difference = 0.0;     ///< over all samples with numbers on both sides
  std::int64_t nonunique_solves = 0;
  std::int64_t nonunique_examined = 0;
  std::optional<WorstSample> worst;  ///< absent where no sample differs
};

/// Compares runs with all rows kept. A difference is excused only where both answers are certified
/// and steps with several solutions were found, or could not be looked for. Events draw which of
/// several modes they take: none of their differences is excused.
BackendComparison compare_backends(const run::ImpactRun& first, const run::ImpactRun& second,
                                   double tolerance);

}  // namespace carom::cli
