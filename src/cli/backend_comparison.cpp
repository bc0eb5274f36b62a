#include "cli/backend_comparison.hpp"
#include "core/constants.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace carom::cli {

namespace {

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::fabs(value));
  return result;
}

// Difference of two rows relative to `scale`; infinite where exactly one has numbers.
double difference(const double* a, const double* b, std::size_t size, double scale) {
  double worst = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const bool finite_a = std::isfinite(a[i]);
    if (finite_a != std::isfinite(b[i])) return kInfinity;
    if (finite_a) worst = std::max(worst, std::fabs(a[i] - b[i]) / scale);
  }
  return worst;
}

bool certified(const run::ImpactRun& run, std::size_t sample) {
  const auto status = run.rows.status[sample];
  return (status == TrajectoryStatus::terminated || status == TrajectoryStatus::max_steps) &&
         run.rows.residual[sample] <= run.settings.residual_tolerance;
}

WorstSample describe(const run::ImpactRun& first, const run::ImpactRun& second, std::size_t sample,
                     double difference) {
  WorstSample worst;
  worst.sample = first.settings.first_sample + static_cast<std::int64_t>(sample);
  worst.difference = difference;
  const auto nv = static_cast<std::size_t>(first.problem.velocities);
  const run::ImpactRun* runs[2] = {&first, &second};
  for (int side = 0; side < 2; ++side) {
    const run::SampleRows& rows = runs[side]->rows;
    worst.status[side] = rows.status[sample];
    worst.residual[side] = rows.residual[sample];
    const double* velocity = rows.velocity.data() + sample * nv;
    worst.velocity[side].assign(velocity, velocity + nv);
  }
  return worst;
}

}  // namespace

BackendComparison compare_backends(const run::ImpactRun& first, const run::ImpactRun& second,
                                   double tolerance) {
  BackendComparison result;
  result.samples = std::min(first.rows.count, second.rows.count);
  result.nonunique_solves = first.summary.nonunique_solves;
  result.nonunique_examined = first.summary.nonunique_examined;
  // without an examination, steps with several solutions cannot be excluded
  const bool may_differ =
      first.settings.method == ImpactMethod::lcp &&
      (first.summary.nonunique_solves > 0 || first.summary.nonunique_examined == 0);
  const double speed = largest(first.problem.velocity);
  const double scale = speed > 0.0 ? speed : 1.0;
  const auto nv = static_cast<std::size_t>(first.problem.velocities);
  double worst_difference = -1.0;
  for (std::size_t s = 0; s < static_cast<std::size_t>(result.samples); ++s) {
    const double apart = difference(first.rows.velocity.data() + s * nv,
                                    second.rows.velocity.data() + s * nv, nv, scale);
    const bool status = first.rows.status[s] != second.rows.status[s];
    const bool velocity = apart > tolerance;
    // a contact at the very edge of sticking may be named differently by equal velocities
    const bool mode = first.rows.modes[s] != second.rows.modes[s];
    if (std::isfinite(apart)) result.max_difference = std::max(result.max_difference, apart);
    result.status_differences += status ? 1 : 0;
    result.mode_differences += mode ? 1 : 0;
    result.velocity_differences += velocity && std::isfinite(apart) ? 1 : 0;
    if (!status && !velocity) continue;
    if (may_differ && certified(first, s) && certified(second, s)) {
      ++result.explained;
    } else {
      ++result.disagreements;
    }
    if (apart > worst_difference) {
      worst_difference = apart;
      result.worst = describe(first, second, s, apart);
    }
  }
  return result;
}

}  // namespace carom::cli
