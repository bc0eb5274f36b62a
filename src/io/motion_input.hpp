#pragma once

#include <filesystem>
#include <vector>

#include "run/motion_run.hpp"

namespace carom::io {

/// Motions from JSON, one object or a list: {"name", "model", "set": {..}} of a built-in model, or
/// {"name", "mechanism": {..}} of one's own (motion_tree_input.hpp); both with "position",
/// "velocity", "position_spread", "velocity_spread", "duration", "step_size" and "coefficient"
/// where they are not the model's. Errors: FileError, InvalidInput naming file, motion and field.
std::vector<run::MotionTask> read_motions(const std::filesystem::path& file);

/// Drive of a problem from JSON: {"interval": s, "drive": [[..] of each knot]}, generalised forces
/// of every velocity. Errors: as above.
void read_policy(const std::filesystem::path& file, MotionProblem& problem);

}  // namespace carom::io
