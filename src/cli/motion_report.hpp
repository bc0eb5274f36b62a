#pragma once

#include <string>

#include "run/motion_run.hpp"

namespace carom::cli {

/// `events`: with the events of each task's first kept motion.
std::string motion_report(const run::MotionRunResult& run, bool events);

}  // namespace carom::cli
