#include <carom/motion_replay.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include <carom/error.hpp>

#include "core/backends.hpp"
#include "core/message.hpp"
#include "motion/backends.hpp"
#include "motion/kernels/contact_forces.hpp"
#include "motion/mechanisms.hpp"

namespace carom {

void ReplaySettings::validate() const {
  const auto check = [](const char* field, double value) {
    if (std::isfinite(value) && value > 0.0) return;
    throw InvalidInput(std::string("replay: ") + field + " is " + message::number(value) +
                       ": must be finite and > 0");
  };
  check("step", step);
  check("tolerance", tolerance);
  check("longest", longest);
}

MotionReplay replay_motion(const MotionProblem& problem, const MotionResult& result,
                           std::int64_t sample, const ReplaySettings& settings) {
  settings.validate();
  // Refuses where the build leaves it out.
  const auto replay = entries<MotionEntries>(Backend::reference).replay;
  if (result.problems != 1 || sample < 0 || sample >= result.kept || result.event_rows == 0) {
    throw InvalidInput("replay: sample is " + std::to_string(sample) +
                       ": must be one of the motions of one problem whose events were kept (" +
                       std::to_string(result.kept) + ")");
  }
  return replay(problem, result, sample, settings);
}

}  // namespace carom
