#include <carom/models/scenarios.hpp>

#include <array>
#include <cmath>

#include <carom/error.hpp>
#include <carom/kernels/scenario_bodies.hpp>

#include "models/definition.hpp"
#include "models/scenario_kinds.hpp"

namespace carom::models {

namespace {

using detail::text;

constexpr double kMostStiffness = 1e15;
constexpr double kMostDamping = 1e15;
constexpr double kMostLength = 1e3;

Parameter positive(std::string name, std::string unit, double value, double maximum,
                   std::string meaning) {
  return {std::move(name), std::move(unit), value, 0.0, true, maximum, std::move(meaning)};
}
Parameter at_least_zero(std::string name, std::string unit, double value, double maximum,
                        std::string meaning) {
  return {std::move(name), std::move(unit), value, 0.0, false, maximum, std::move(meaning)};
}
Parameter signed_value(std::string name, std::string unit, double value, double most,
                       std::string meaning) {
  return {std::move(name), std::move(unit), value, -most, false, most, std::move(meaning)};
}
Parameter gravity() { return at_least_zero("gravity", "m/s2", 9.81, 1e3, "downward acceleration"); }
Parameter stiffness(double value, std::string meaning) {
  return at_least_zero("stiffness", "N/m", value, kMostStiffness, std::move(meaning));
}
Parameter damping(double value, std::string meaning) {
  return at_least_zero("damping", "N s/m", value, kMostDamping, std::move(meaning));
}

Scenario spring_mass_damper() {
  Scenario s;
  s.name = "spring_mass_damper";
  s.kind = ScenarioKind::spring_mass_damper;
  s.summary = "mass on a spring and a damper, by explicit, semi-implicit or implicit Euler";
  s.source = "Drumwright, section 3, Figures 1-3";
  s.positions = {"x"};
  s.velocities = {"xdot"};
  s.displacement = "x - x at the start [m]";
  s.parameters = {
      positive("mass", "kg", 1.0, 1e6, "mass m"),
      stiffness(1e6, "k of the spring"),
      damping(1.0, "b of the damper"),
      signed_value("position", "m", 1.0, kMostLength, "x at the start"),
      signed_value("velocity", "m/s", 0.0, 1e6, "xdot at the start"),
      signed_value("force", "N", 0.0, 1e9, "constant force f"),
      {"integrator", "-", 2.0, 0.0, false, 2.0, "0 explicit, 1 semi-implicit, 2 implicit Euler"},
  };
  s.step_size = 1e-5;
  s.steps = 1000;
  return s;
}

Scenario pendulum_joint() {
  Scenario s;
  s.name = "pendulum_joint";
  s.kind = ScenarioKind::pendulum_joint;
  s.summary = "planar bob in absolute coordinates on a compliant revolute joint at the origin";
  s.source = "Drumwright, section 4.4, Figure 4";
  s.positions = {"x", "y", "theta"};
  s.velocities = {"xdot", "ydot", "omega"};
  s.displacement = "deviation of the joint from its nominal place [m]";
  s.parameters = {
      positive("mass", "kg", 1.0, 1e6, "mass of the bob"),
      positive("inertia", "kg m2", 0.1, 1e6, "of the bob about its centre"),
      positive("length", "m", 1.0, kMostLength, "joint to the bob's centre"),
      {"angle", "deg", 90.0, -180.0, false, 180.0, "from hanging, at the start"},
      signed_value("angular_velocity", "rad/s", 0.0, 1e3, "at the start"),
      stiffness(1e15, "k of the joint in either direction"),
      damping(1.0, "b of the joint in either direction"),
      gravity(),
  };
  s.step_size = 1e-4;
  s.steps = 10000;
  return s;
}

Scenario pendulum_limit() {
  Scenario s;
  s.name = "pendulum_limit";
  s.kind = ScenarioKind::pendulum_limit;
  s.summary = "pendulum in its angle with a soft range-of-motion limit theta >= 0";
  s.source = "Drumwright, section 5.4, Figure 6";
  s.positions = {"theta"};
  s.velocities = {"omega"};
  s.displacement = "theta - theta at the start [rad]";
  s.parameters = {
      positive("mass", "kg", 1.0, 1e6, "mass of the bob"),
      positive("length", "m", 1.0, kMostLength, "of the massless rod"),
      {"angle", "deg", 90.0, 0.0, false, 180.0, "from hanging, at the start"},
      signed_value("angular_velocity", "rad/s", 0.0, 1e3, "at the start"),
      at_least_zero("stiffness", "N m/rad", 1e12, kMostStiffness, "k of the limit"),
      at_least_zero("damping", "N m s/rad", 0.0, kMostDamping, "b of the limit"),
      gravity(),
  };
  s.step_size = 1e-5;
  s.steps = 200000;
  return s;
}

Scenario elastic_foundation() {
  Scenario s;
  s.name = "elastic_foundation";
  s.kind = ScenarioKind::elastic_foundation;
  s.summary = "rigid cube on a frictionless Winkler foundation under a circling load";
  s.source = "Drumwright, section 5.5, Tables 1 and 2";
  s.positions = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  s.velocities = {"xdot", "ydot", "zdot", "wx", "wy", "wz"};
  s.displacement = "height of the centre above that on the unloaded foundation [m]";
  s.parameters = {
      {"elements_per_side", "-", 10.0, 1.0, false, 100.0, "springs along each side of the square"},
      positive("modulus", "N/m2", 1e7, 1e15, "Young's modulus of the foundation"),
      positive("depth", "m", 1.0, kMostLength, "of the foundation"),
      damping(1.0, "b of each spring"),
      positive("density", "kg/m3", 8.0, 1e5, "of the cube"),
      positive("side", "m", 1.0, kMostLength, "of the cube"),
      at_least_zero("load", "N", 5.0, 1e9, "downward force on the top"),
      at_least_zero("load_frequency", "rad/s", 10.0, 1e6, "of the load's way around the top"),
      gravity(),
  };
  s.sizes = {"elements_per_side"};
  s.step_size = 0.01;
  s.steps = 100;
  return s;
}

Scenario inclined_block() {
  Scenario s;
  s.name = "inclined_block";
  s.kind = ScenarioKind::inclined_block;
  s.summary = "box on four spherical feet on an incline; x points downhill, z off the plane";
  s.source = "Drumwright, section 6.4, Figure 9";
  s.positions = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  s.velocities = {"xdot", "ydot", "zdot", "wx", "wy", "wz"};
  s.displacement = "way downhill [m]";
  s.parameters = {
      positive("mass", "kg", 1.0, 1e6, "of the box"),
      positive("length", "m", 0.2, kMostLength, "along the slope"),
      positive("width", "m", 0.1, kMostLength, "across the slope"),
      positive("height", "m", 0.05, kMostLength, "of the box"),
      {"angle", "deg", 15.0, 0.0, false, 89.0, "of the incline"},
      at_least_zero("friction", "-", 0.25, 1e6, "Coulomb friction coefficient of every foot"),
      at_least_zero("stiffness", "N/m^e", 1e10, kMostStiffness,
                    "E sqrt(r) of (122), on the depth to the power `exponent`"),
      {"exponent", "-", 1.5, 1.0, false, 2.0, "1.5: Hertz; 1: linear"},
      damping(1.0, "b along the normal"),
      at_least_zero("tangent_damping", "N s2/m", 1e6, 1e12,
                    "b along the tangents times the step size"),
      gravity(),
  };
  s.step_size = 0.01;
  s.steps = 100;
  return s;
}

Scenario sphere_stack() {
  Scenario s;
  s.name = "sphere_stack";
  s.kind = ScenarioKind::sphere_stack;
  s.summary = "column of equal spheres on the floor";
  s.source = "Drumwright, section 6.5, Figure 10";
  s.positions = {"x", "y", "z", "ax", "ay", "az"};
  s.velocities = {"xdot", "ydot", "zdot", "wx", "wy", "wz"};
  s.displacement = "height of the top sphere's centre above its undeformed place [m]";
  s.parameters = {
      {"spheres", "-", 10.0, 1.0, false, 200.0, "number of spheres"},
      positive("mass", "kg", 1.0, 1e6, "of each sphere"),
      positive("radius", "m", 0.1, kMostLength, "of each sphere"),
      positive("modulus", "N/m2", 1e11, 1e15, "E; a contact's stiffness is E times the radius"),
      damping(1.0, "b along the normals"),
      at_least_zero("friction", "-", 0.5, 1e6, "Coulomb friction coefficient of every contact"),
      at_least_zero("tangent_damping", "N s2/m", 1e6, 1e12,
                    "b along the tangents times the step size"),
      at_least_zero("gap", "m", 0.0, kMostLength, "between neighbours at the start"),
      gravity(),
  };
  s.sizes = {"spheres"};
  s.step_size = 0.01;
  s.steps = 100;
  return s;
}

Scenario compliant_block_impact() {
  Scenario s;
  s.name = "compliant_block_impact";
  s.kind = ScenarioKind::compliant_block_impact;
  s.summary =
      "planar block on two Kelvin-Voigt corners hitting the floor, until no corner approaches; A "
      "bottom left, B bottom right, as in the model rocking_block";
  s.source = "Halm and Posa, section 5.4.1, Figure 12";
  s.positions = {"x", "y", "theta"};
  s.velocities = {"xdot", "ydot", "omega"};
  s.displacement = "height of the centre above that of the block at rest [m]";
  s.parameters = {
      positive("mass", "kg", 1.0, 1e6, "of the block"),
      positive("width", "m", 1.0, kMostLength, "of the block"),
      positive("height", "m", 2.0, kMostLength, "of the block"),
      at_least_zero("downward_velocity", "m/s", 0.4429, 1e3, "of the level block at the impact"),
      at_least_zero("friction", "-", 1.0, 1e6, "Coulomb friction coefficient of both corners"),
      positive("stiffness", "N/m", 1e6, kMostStiffness, "of the softer corner"),
      positive("stiffness_ratio", "-", 1.0, 1e9, "k_A / k_B"),
      at_least_zero("damping_ratio", "-", 5.0, 1e6, "zeta: b = 2 zeta sqrt(k m) at each corner"),
      {"angle", "deg", 0.0, -45.0, false, 45.0, "of the block, counter-clockwise, at the start"},
      at_least_zero("tangent_damping", "N s/m", 1e12, kMostDamping, "b along the floor"),
      gravity(),
  };
  s.step_size = 1e-7;
  s.steps = 40000;
  return s;
}

const std::array<Scenario, 7>& table() {
  static const std::array<Scenario, 7> all{
      spring_mass_damper(), pendulum_joint(), pendulum_limit(),        elastic_foundation(),
      inclined_block(),     sphere_stack(),   compliant_block_impact()};
  return all;
}

std::string range(const Parameter& parameter) {
  return std::string(parameter.minimum_open ? "> " : ">= ") + text(parameter.minimum) +
         " and <= " + text(parameter.maximum) + (parameter.unit == "-" ? "" : " " + parameter.unit);
}

bool inside(const Parameter& parameter, double value) {
  const bool above =
      parameter.minimum_open ? value > parameter.minimum : value >= parameter.minimum;
  return above && value <= parameter.maximum;
}

/// Counts are whole numbers.
bool whole(const Scenario& scenario, const Parameter& parameter) {
  if (parameter.name == "integrator") return true;
  for (const std::string& name : scenario.sizes) {
    if (name == parameter.name) return true;
  }
  return false;
}

void check(const Scenario& scenario, const Parameter& parameter, double value,
           const std::string& of_what) {
  const bool good =
      inside(parameter, value) && (!whole(scenario, parameter) || value == std::floor(value));
  if (good) return;
  throw InvalidInput(parameter.name + of_what + " of scenario \"" + scenario.name + "\" is " +
                     text(value) + ": must be " +
                     (whole(scenario, parameter) ? "a whole number " : "") + range(parameter));
}

}  // namespace

std::span<const Scenario> scenarios() { return table(); }

const Scenario& find_scenario(std::string_view name) {
  std::string known;
  for (const Scenario& scenario : table()) {
    if (scenario.name == name) return scenario;
    known += (known.empty() ? "" : ", ") + scenario.name;
  }
  throw InvalidInput("scenario \"" + std::string(name) + "\" is not known: known are " + known);
}

std::size_t parameter_index(const Scenario& scenario, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < scenario.parameters.size(); ++i) {
    if (scenario.parameters[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + scenario.parameters[i].name;
  }
  throw InvalidInput("scenario \"" + scenario.name + "\" has no parameter \"" + std::string(name) +
                     "\": known are " + known);
}

std::vector<double> scenario_parameters(const Scenario& scenario,
                                        const std::map<std::string, double>& overrides) {
  std::vector<double> values;
  for (const Parameter& parameter : scenario.parameters) values.push_back(parameter.value);
  for (const auto& [name, value] : overrides) {
    const std::size_t i = parameter_index(scenario, name);
    check(scenario, scenario.parameters[i], value, "");
    values[i] = value;
  }
  return values;
}

ScenarioSizes scenario_sizes(const Scenario& scenario, std::span<const double> parameters) {
  return detail::visit_scenario(scenario.kind, [&](auto body) {
    const kernels::WorldSizes sizes = decltype(body)::sizes(parameters.data());
    return ScenarioSizes{sizes.positions, sizes.velocities, sizes.rows};
  });
}

void validate_worlds(const Scenario& scenario, std::int64_t worlds,
                     std::span<const double> parameters) {
  const std::size_t count = scenario.parameters.size();
  if (parameters.size() != static_cast<std::size_t>(worlds) * count) {
    throw InvalidInput("parameters of scenario \"" + scenario.name + "\" have " +
                       std::to_string(parameters.size()) + " values: must have " +
                       std::to_string(static_cast<std::size_t>(worlds) * count));
  }
  for (std::size_t world = 0; world < static_cast<std::size_t>(worlds); ++world) {
    for (std::size_t i = 0; i < count; ++i) {
      check(scenario, scenario.parameters[i], parameters[world * count + i],
            " of world " + std::to_string(world));
    }
  }
  for (const std::string& name : scenario.sizes) {
    const std::size_t i = parameter_index(scenario, name);
    for (std::size_t world = 1; world < static_cast<std::size_t>(worlds); ++world) {
      if (parameters[world * count + i] == parameters[i]) continue;
      throw InvalidInput(name + " of world " + std::to_string(world) + " of scenario \"" +
                         scenario.name + "\" is " + text(parameters[world * count + i]) +
                         ": must be that of world 0, " + text(parameters[i]));
    }
  }
}

}  // namespace carom::models
