#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/models/models.hpp>
#include <carom/stability.hpp>
#include <carom/types/models/stances.hpp>

/// Built-in stances for carom/stability.hpp.
namespace carom::models {

/// All stances.
std::span<const StanceModel> stances();

/// Errors: InvalidInput listing the known names.
const StanceModel& find_stance(std::string_view name);

/// Index of a parameter. Errors: InvalidInput listing the known names.
std::size_t parameter_index(const StanceModel& model, std::string_view name);

/// The stance of a model. values: in the order of its parameters. Errors: InvalidInput naming a
/// parameter whose value is out of range.
Stance stance_of(const StanceModel& model, std::span<const double> values);

/// The parameters of a stance of one's own, its values being the defaults: force, angle, torque,
/// and of contact i (1 first) l<i>, h<i>, slope<i>, friction<i>, restitution<i>; friction,
/// restitution and h by themselves set those of all contacts.
StanceModel model_of(const Stance& stance);

/// `stance` with some parameters changed by name. Errors: InvalidInput naming an unknown one (with
/// the known ones).
Stance changed(const Stance& stance, const std::map<std::string, double>& values);

}  // namespace carom::models
