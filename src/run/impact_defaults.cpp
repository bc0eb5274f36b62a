#include "run/impact_defaults.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "programs/sdp/small_matrix.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kPilotSamples = 1024;  // the first ones, whichever shard is asked for
constexpr std::size_t kPilotProblems = 64;

}  // namespace

Stop stopping_impulse(const ImpactProblem& problem, double velocity_tolerance) {
  const auto nv = static_cast<std::size_t>(problem.velocities);
  std::vector<double> factor(nv * nv);
  if (!small::cholesky(problem.velocities, problem.mass_matrix.data(), factor.data())) return {};
  const std::vector<double> speed = contact_velocity(problem, problem.velocity.data());
  Stop stop;
  for (int i = 0; i < problem.contacts; ++i) {
    const double approach = -speed[static_cast<std::size_t>(i)];
    if (!(approach > velocity_tolerance)) continue;
    const double* row = problem.normal_jacobian.data() + static_cast<std::size_t>(i) * nv;
    std::vector<double> response(row, row + nv);
    small::solve_cholesky(problem.velocities, factor.data(), response.data());
    double mobility = 0.0;
    for (std::size_t j = 0; j < nv; ++j) mobility += row[j] * response[j];
    const double impulse = approach / mobility;
    if (std::isfinite(impulse) && impulse > stop.impulse) stop = {i, impulse};
  }
  return stop;
}

double extent_of(const ImpactSummary& summary) {
  if (summary.terminated == 0) return 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < summary.velocity_min.size(); ++i) {
    const double side = summary.velocity_max[i] - summary.velocity_min[i];
    sum += side * side;
  }
  return std::sqrt(sum);
}

double pilot_extent(const std::vector<ImpactProblem>& problems, ImpactSettings settings,
                    Backend backend, ImpactWorkspace& workspace) {
  settings.samples = kPilotSamples;
  settings.first_sample = 0;
  settings.epsilon = 0.0;
  settings.keep_samples = 0;
  settings.keep_paths = 0;
  settings.progress = nullptr;
  const std::size_t stride = (problems.size() - 1) / kPilotProblems + 1;
  std::vector<ImpactProblem> some;
  for (std::size_t p = 0; p < problems.size(); p += stride) some.push_back(problems[p]);
  const ImpactResult result = sample_impacts(make_batch(some), settings, backend, &workspace);
  double extent = 0.0;
  for (const ImpactSummary& summary : result.summary) {
    extent = std::max(extent, extent_of(summary));
  }
  return extent;
}

}  // namespace carom::run
