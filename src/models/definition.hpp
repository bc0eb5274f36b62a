#pragma once

// How a model is written down: its description, and a function from parameter values to a problem.

#include <map>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/models/models.hpp>

namespace carom::models::detail {

/// Values of all parameters of one model, looked up by name.
class Values {
 public:
  explicit Values(const Model& model);

  /// Errors: InvalidInput for an unknown name (listing the known ones) or a value out of range.
  void set(const std::string& name, double value);

  /// In the order of the model.
  [[nodiscard]] std::vector<double> in_order() const;

  /// Errors: std::out_of_range where the model does not declare `name`.
  [[nodiscard]] double operator()(const std::string& name) const { return values_.at(name); }

  /// An angle parameter, declared in degrees, in radians.
  [[nodiscard]] double radians(const std::string& name) const {
    return values_.at(name) * std::numbers::pi / 180.0;
  }

  /// Errors: InvalidInput `name of model "..." is value: must be <what>` unless `good`.
  void require(bool good, const std::string& name, const std::string& what) const;

 private:
  const Model* model_;
  std::map<std::string, double> values_;
};

struct Definition {
  Model model;
  ImpactProblem (*build)(const Values& values);
};

inline constexpr double kLargestLength = 1e3;

// Parameters by their range: > 0, >= 0 or of either sign, each up to a largest size.
Parameter positive(const std::string& name, const std::string& unit, double value, double maximum,
                   const std::string& meaning);
Parameter at_least_zero(const std::string& name, const std::string& unit, double value,
                        double maximum, const std::string& meaning);
Parameter signed_value(const std::string& name, const std::string& unit, double value, double most,
                       const std::string& meaning);

bool inside(const Parameter& parameter, double value);
/// What messages say of the accepted values, e.g. "> 0 and <= 1000 m".
std::string range(const Parameter& parameter);

// Parameters that several models share; one word, one unit, one range.
Parameter friction(double value, const std::string& of_what = "every contact");
Parameter gravity();
Parameter mass(double value, const std::string& of_what);
Parameter part_mass(const std::string& name, double value, const std::string& of_what);
Parameter inertia(const std::string& name, double value, const std::string& meaning);
Parameter length(const std::string& name, double value, const std::string& meaning);
Parameter length_or_zero(const std::string& name, double value, const std::string& meaning);
Parameter angle(const std::string& name, double value, double minimum, double maximum,
                const std::string& meaning);
Parameter angular_velocity(const std::string& name, double value, const std::string& meaning);
Parameter downward_velocity(double value, const std::string& of_what);
Parameter horizontal_velocity(double value, const std::string& meaning);

/// Shortest text that reads back as `value`.
std::string text(double value);

Definition rocking_block();
Definition compass_gait();
Definition box_wall();
Definition ramone();
Definition disk_stack();
Definition cube_drop();
Definition tripod();
Definition bar_on_steps();
Definition ball_in_corner();
Definition newtons_cradle();
Definition cube_two_corners();

}  // namespace carom::models::detail
