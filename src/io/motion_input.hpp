#pragma once

#include <filesystem>
#include <vector>

#include "run/motion_run.hpp"

namespace carom::io {

/// Motions from JSON: {"motions": [{"name", "model", "set": {..}, "position": [..], "velocity":
/// [..], "position_spread": [..], "velocity_spread": [..]}]}; what is left out is the model's.
/// Errors: FileError, InvalidInput naming file, motion and field.
std::vector<run::MotionTask> read_motions(const std::filesystem::path& file);

/// Drive of a problem from JSON: {"interval": s, "drive": [[..] of each knot]}, generalised forces
/// of every velocity. Errors: as above.
void read_policy(const std::filesystem::path& file, MotionProblem& problem);

}  // namespace carom::io
