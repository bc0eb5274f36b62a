#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <carom/types/motion_terms.hpp>

/// The plain structs of carom/motion_replay.hpp.
namespace carom {

struct ReplaySettings {
  double step = 1e-4;       ///< of time [s], and half of it, > 0
  double tolerance = 1e-6;  ///< of positions and velocities in addition to the steps' own error
  double longest = 3.0;     ///< time replayed of one motion [s]

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// What the pieces of a motion between its events came to.
struct MotionReplay {
  std::int64_t pieces = 0;     ///< compared
  std::int64_t skipped = 0;    ///< limits of impacts, which no step reaches
  std::int64_t unsettled = 0;  ///< a step's impulses did not settle: not compared
  std::int64_t differing = 0;
  std::int64_t jumps = 0;            ///< impacts compared
  std::int64_t differing_jumps = 0;  ///< no impulse in the contacts' cones explains the velocity
  double worst = 0.0;       ///< largest difference beyond the steps' own error [m, rad, m/s, rad/s]
  double step_error = 0.0;  ///< largest of those errors, by halving the step
};

}  // namespace carom
