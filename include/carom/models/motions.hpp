#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/models/models.hpp>
#include <carom/motion.hpp>
#include <carom/types/models/motions.hpp>

/// Built-in mechanisms for carom/motion.hpp, each with a start.
namespace carom::models {

/// All motions, the paper's first.
std::span<const MotionModel> motions();

/// Errors: InvalidInput listing the known names.
const MotionModel& find_motion(std::string_view name);

/// The problem of a model, its parameters overridden by name.
/// Errors: InvalidInput naming an unknown parameter (with the known ones) or a value out of range.
MotionProblem build_motion(std::string_view name,
                           const std::map<std::string, double>& overrides = {});

}  // namespace carom::models
