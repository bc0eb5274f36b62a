#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/models/models.hpp>
#include <carom/posture.hpp>
#include <carom/types/models/postures.hpp>

/// Built-in postures: the papers' examples of contacts that hold a body against gravity.
namespace carom::models {

/// All postures, the planar ones first.
std::span<const PostureModel> postures();

/// Errors: InvalidInput listing the known names.
const PostureModel& find_posture(std::string_view name);

/// The posture of a model, its parameters overridden by name.
/// Errors: InvalidInput naming an unknown parameter (with the known ones) or a value out of range.
Posture build_posture(std::string_view name, const std::map<std::string, double>& overrides = {});

}  // namespace carom::models
