#pragma once

#include <nlohmann/json.hpp>

#include "run/motion_run.hpp"

namespace carom::io {

/// `events`: with the events of each task's first kept motion.
nlohmann::ordered_json motion_json(const run::MotionRunResult& run, bool events);

}  // namespace carom::io
