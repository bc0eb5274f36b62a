#include "models/definition.hpp"

#include <array>
#include <charconv>

#include <carom/types/error.hpp>

namespace carom::models::detail {
namespace {

constexpr double kLargestMass = 1e6;
constexpr double kLargestFriction = 1e6;
constexpr double kLargestVelocity = 1e3;

}  // namespace

Parameter positive(const std::string& name, const std::string& unit, double value, double maximum,
                   const std::string& meaning) {
  return {name, unit, value, 0.0, true, maximum, meaning};
}

Parameter at_least_zero(const std::string& name, const std::string& unit, double value,
                        double maximum, const std::string& meaning) {
  return {name, unit, value, 0.0, false, maximum, meaning};
}

Parameter signed_value(const std::string& name, const std::string& unit, double value, double most,
                       const std::string& meaning) {
  return {name, unit, value, -most, false, most, meaning};
}

bool inside(const Parameter& parameter, double value) {
  const bool above =
      parameter.minimum_open ? value > parameter.minimum : value >= parameter.minimum;
  return above && value <= parameter.maximum;
}

std::string range(const Parameter& parameter) {
  return std::string(parameter.minimum_open ? "> " : ">= ") + text(parameter.minimum) +
         " and <= " + text(parameter.maximum) + (parameter.unit == "-" ? "" : " " + parameter.unit);
}

std::string text(double value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

Values::Values(const Model& model) : model_(&model) {
  for (const Parameter& parameter : model.parameters) values_[parameter.name] = parameter.value;
}

void Values::set(const std::string& name, double value) {
  for (const Parameter& parameter : model_->parameters) {
    if (parameter.name != name) continue;
    values_[name] = value;
    require(inside(parameter, value), name, range(parameter));
    return;
  }
  std::string known;
  for (const Parameter& parameter : model_->parameters) {
    known += (known.empty() ? "" : ", ") + parameter.name;
  }
  throw InvalidInput(Refusal{.field = "model \"" + model_->name + "\"",
                             .relation = "has",
                             .value = "no parameter \"" + name + "\"",
                             .rule = "known are " + known});
}

std::vector<double> Values::in_order() const {
  std::vector<double> values;
  for (const Parameter& parameter : model_->parameters) {
    values.push_back(values_.at(parameter.name));
  }
  return values;
}

void Values::require(bool good, const std::string& name, const std::string& what) const {
  if (good) return;
  throw InvalidInput(Refusal{.field = name,
                             .kind = "model",
                             .name = model_->name,
                             .value = text(values_.at(name)),
                             .rule = "must be " + what});
}

Parameter friction(double value, const std::string& of_what) {
  return at_least_zero("friction", "-", value, kLargestFriction,
                       "Coulomb friction coefficient of " + of_what);
}

Parameter gravity() { return at_least_zero("gravity", "m/s2", 9.81, 1e3, "downward acceleration"); }

Parameter mass(double value, const std::string& of_what) {
  return part_mass("mass", value, of_what);
}

Parameter part_mass(const std::string& name, double value, const std::string& of_what) {
  return positive(name, "kg", value, kLargestMass, "mass of " + of_what);
}

Parameter inertia(const std::string& name, double value, const std::string& meaning) {
  return positive(name, "kg m2", value, kLargestMass, meaning);
}

Parameter length(const std::string& name, double value, const std::string& meaning) {
  return positive(name, "m", value, kLargestLength, meaning);
}

Parameter length_or_zero(const std::string& name, double value, const std::string& meaning) {
  return at_least_zero(name, "m", value, kLargestLength, meaning);
}

Parameter angle(const std::string& name, double value, double minimum, double maximum,
                const std::string& meaning) {
  return {name, "deg", value, minimum, false, maximum, meaning};
}

Parameter angular_velocity(const std::string& name, double value, const std::string& meaning) {
  return signed_value(name, "rad/s", value, kLargestVelocity, meaning);
}

Parameter downward_velocity(double value, const std::string& of_what) {
  return at_least_zero("downward_velocity", "m/s", value, kLargestVelocity,
                       "downward velocity of " + of_what + " before the impact");
}

Parameter horizontal_velocity(double value, const std::string& meaning) {
  return signed_value("horizontal_velocity", "m/s", value, kLargestVelocity, meaning);
}

}  // namespace carom::models::detail
