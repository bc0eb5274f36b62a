#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/impact.hpp>
#include <carom/types/models/models.hpp>

/// Built-in mechanisms that provide M, Jn, Jt and v at an impact.
namespace carom::models {

/// All models, the papers' first.
std::span<const Model> all();

/// Errors: InvalidInput listing the known names.
const Model& find(std::string_view name);

/// The impact problem of a model, its parameters overridden by name.
/// Errors: InvalidInput naming an unknown parameter (with the known ones) or a value out of range.
ImpactProblem build(std::string_view name, const std::map<std::string, double>& overrides = {});

}  // namespace carom::models
