#include "impact/derived_settings.hpp"

#include <algorithm>
#include <cmath>

#include <carom/types/error.hpp>

#include "core/message.hpp"

namespace carom {

namespace {
constexpr double kSpeedShare = 0.02;  // epsilon of a point, of the contact speed before the impact
}  // namespace

double extent_of(const ImpactSummary& summary) {
  if (summary.terminated == 0) return 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < summary.velocity_min.size(); ++i) {
    const double side = summary.velocity_max[i] - summary.velocity_min[i];
    sum += side * side;
  }
  return std::sqrt(sum);
}

double epsilon_of_speed(double contact_speed) {
  return kSpeedShare * (contact_speed > 0.0 ? contact_speed : 1.0);
}

bool is_rounding(double extent, const ImpactSummary& summary, const ImpactSettings& settings) {
  return !(extent > settings.residual_tolerance * epsilon_of_speed(summary.contact_speed));
}

double derived_epsilon(const ImpactSummary& pilot, const ImpactSettings& settings,
                       std::int64_t problem) {
  if (pilot.status == Status::invalid_input) return 0.0;
  if (!std::isfinite(pilot.contact_speed)) {  // numbers near the end of the range of double
    if (settings.bad_problem == BadProblem::isolate) return 0.0;
    throw InvalidInput(Refusal{.field = "contact speed before the impact",
                               .problem = problem,
                               .value = message::number(pilot.contact_speed),
                               .rule = "must be finite"});
  }
  const double extent = extent_of(pilot);
  if (is_rounding(extent, pilot, settings) || !std::isfinite(extent)) {
    return epsilon_of_speed(pilot.contact_speed);
  }
  return kExtentShare * extent;
}

ImpactSettings pilot_settings(const ImpactSettings& settings) {
  ImpactSettings pilot = settings;
  pilot.samples = std::min(kPilotSamples, settings.samples);
  pilot.first_sample = 0;
  pilot.epsilon = 0.0;
  pilot.keep_samples = 0;
  pilot.keep_paths = 0;
  return pilot;
}

}  // namespace carom
