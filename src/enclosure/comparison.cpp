#include "enclosure/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/require.hpp"
#include "enclosure/summary.hpp"

namespace carom::enclosure {

namespace {

constexpr double kOutside = 1e-9;  // of the largest contact speed before the impact

std::vector<double> contact_velocity(const ImpactProblem& problem, const double* v) {
  const auto nv = static_cast<std::size_t>(problem.velocities);
  std::vector<double> u;
  for (const std::vector<double>* rows : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
    for (std::size_t at = 0; at < rows->size(); at += nv) {
      double sum = 0.0;
      for (std::size_t j = 0; j < nv; ++j) sum += (*rows)[at + j] * v[j];
      u.push_back(sum);
    }
  }
  return u;
}

double outside_bounds(const ImpactEnclosure& set, const std::vector<double>& u) {
  const std::size_t m = set.normal_velocity_min.size();
  double most = 0.0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const bool normal = k < m;
    const double low = normal ? set.normal_velocity_min[k] : set.tangent_velocity_min[k - m];
    const double high = normal ? set.normal_velocity_max[k] : set.tangent_velocity_max[k - m];
    most = std::max({most, low - u[k], u[k] - high});
  }
  return most;
}

/// Of planar contacts: from the closure of the mode and its constraints.
double outside_mode(const EnclosedMode& mode, const std::vector<double>& u, double least) {
  const std::size_t rows = u.size(), m = rows / 2;
  double most = 0.0;
  for (std::size_t i = 0; i < m; ++i) {
    const auto word = static_cast<ContactMode>(mode.modes >> (2 * i) & 3U);
    const double normal = u[i], slip = u[m + i];
    most = std::max(most, word == ContactMode::separating ? -normal : std::abs(normal));
    if (word == ContactMode::sticking) most = std::max(most, std::abs(slip));
    if (word == ContactMode::sliding) most = std::max(most, -slip);
    if (word == ContactMode::sliding_negative) most = std::max(most, slip);
  }
  for (std::size_t c = 0; c < mode.constraints.size() && most < least; c += rows + 1) {
    double value = -mode.constraints[c + rows];
    for (std::size_t k = 0; k < rows; ++k) value += mode.constraints[c + k] * u[k];
    most = std::max(most, value);
  }
  return most;
}

double distance(const ImpactEnclosure& set, const std::vector<double>& u) {
  const double bounds = outside_bounds(set, u);
  if (set.modes.empty()) return bounds;
  double least = std::numeric_limits<double>::infinity();
  for (const EnclosedMode& mode : set.modes) least = std::min(least, outside_mode(mode, u, least));
  return std::max(bounds, least);
}

}  // namespace

bool is_known(const ImpactEnclosure& enclosure) {
  return enclosure.status == EnclosureStatus::enclosed ||
         enclosure.status == EnclosureStatus::outer;
}

OutsideSamples compare_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                               std::int64_t index, const ImpactEnclosure& enclosure) {
  OutsideSamples result;
  if (samples.count == 0 || problem.contacts == 0 || !is_known(enclosure)) return result;
  require::between("index", index, 0, samples.problems - 1);
  require::between("velocities", samples.velocities, problem.velocities, problem.velocities);
  double speed = 0.0;
  for (const double u : contact_velocity(problem, problem.velocity.data())) {
    speed = std::max(speed, std::abs(u));
  }
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const auto row = static_cast<std::size_t>(index * samples.count + s);
    if (samples.status.host()[row] != TrajectoryStatus::terminated) continue;
    const double* v = samples.velocity.data() + row * static_cast<std::size_t>(problem.velocities);
    const double far = distance(enclosure, contact_velocity(problem, v));
    ++result.compared;
    result.largest = std::max(result.largest, far);
    if (!(far <= kOutside * speed)) ++result.outside;
  }
  return result;
}

void take_back(const ImpactProblem& problem, ImpactEnclosure& enclosure) {
  enclosure.status = EnclosureStatus::contradiction;
  enclosure.exact = false;
  enclosure.modes.clear();
  enclosure.impossible_modes.clear();
  enclosure.invariant.clear();
  set_unknown(problem, enclosure);
}

}  // namespace carom::enclosure
