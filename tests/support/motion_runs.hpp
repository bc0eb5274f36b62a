#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <carom/models/motions.hpp>

/// Runs of built-in motions that tests share.
namespace carom::test {

inline constexpr double kGravity = 9.81;  // [m/s^2]

using Set = std::map<std::string, double>;

inline MotionBatch motion_batch(const std::string& model, const Set& set = {}) {
  const MotionProblem problem = models::build_motion(model, set);
  return make_batch({&problem, 1});
}

/// As the model recommends, with states and events of all samples kept.
inline MotionSettings motion_settings(const std::string& model, std::int64_t samples = 1) {
  const models::MotionModel& found = models::find_motion(model);
  MotionSettings settings;
  settings.samples = samples;
  settings.duration = found.duration;
  settings.step_size = found.step_size;
  settings.coefficient = found.coefficient;
  settings.keep_samples = samples;
  settings.keep_events = 400;
  return settings;
}

inline MotionResult simulate_model(const std::string& model, const Set& set = {},
                                   std::int64_t samples = 1) {
  return simulate_motions(motion_batch(model, set), motion_settings(model, samples), Backend::cpu);
}

}  // namespace carom::test
