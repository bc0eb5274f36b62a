#include "models/scenario_table.hpp"

#include <string>
#include <vector>

#include "models/definition.hpp"

namespace carom::models::detail {

namespace {

constexpr double kMostStiffness = 1e15;
constexpr double kMostDamping = 1e15;

// Coordinates of a body.
using Names = std::vector<std::string>;
Names planar_positions() { return {"x", "y", "theta"}; }
Names planar_velocities() { return {"xdot", "ydot", "omega"}; }
Names pose() { return {"x", "y", "z", "qw", "qx", "qy", "qz"}; }
Names spatial_velocities() { return {"xdot", "ydot", "zdot", "wx", "wy", "wz"}; }

// Parameters that several scenarios share; models/definition.hpp has others.
Parameter mass_of(const std::string& meaning) { return positive("mass", "kg", 1.0, 1e6, meaning); }
Parameter modulus(double value, const std::string& meaning) {
  return positive("modulus", "N/m2", value, 1e15, meaning);
}
Parameter count(const std::string& name, double value, double most, const std::string& meaning) {
  return {name, "-", value, 1.0, false, most, meaning};
}
Parameter stiffness(double value, const std::string& meaning, const std::string& unit = "N/m") {
  return at_least_zero("stiffness", unit, value, kMostStiffness, meaning);
}
Parameter damping(double value, const std::string& meaning, const std::string& unit = "N s/m") {
  return at_least_zero("damping", unit, value, kMostDamping, meaning);
}
Parameter tangent_damping() {
  return at_least_zero("tangent_damping", "N s2/m", 1e6, 1e12,
                       "b along the tangents times the step size");
}

}  // namespace

std::span<const Scenario> scenario_table() {
  static const std::vector<Scenario> table = {
      {.name = "spring_mass_damper",
       .kind = ScenarioKind::spring_mass_damper,
       .summary = "mass on a spring and a damper, by explicit, semi-implicit or implicit Euler",
       .source = "Drumwright, section 3, Figures 1-3",
       .positions = {"x"},
       .velocities = {"xdot"},
       .displacement = "x - x at the start [m]",
       .parameters = {mass_of("mass m"),
                      stiffness(1e6, "k of the spring"),
                      damping(1.0, "b of the damper"),
                      signed_value("position", "m", 1.0, kLargestLength, "x at the start"),
                      signed_value("velocity", "m/s", 0.0, 1e6, "xdot at the start"),
                      signed_value("force", "N", 0.0, 1e9, "constant force f"),
                      {"integrator", "-", 2.0, 0.0, false, 2.0,
                       "0 explicit, 1 semi-implicit, 2 implicit Euler"}},
       .sizes = {},
       .step_size = 1e-5,
       .steps = 1000},
      {.name = "pendulum_joint",
       .kind = ScenarioKind::pendulum_joint,
       .summary = "planar bob in absolute coordinates on a compliant revolute joint at the origin",
       .source = "Drumwright, section 4.4, Figure 4",
       .positions = planar_positions(),
       .velocities = planar_velocities(),
       .displacement = "deviation of the joint from its nominal place [m]",
       .parameters = {mass_of("mass of the bob"),
                      inertia("inertia", 0.1, "of the bob about its centre"),
                      length("length", 1.0, "joint to the bob's centre"),
                      angle("angle", 90.0, -180.0, 180.0, "from hanging, at the start"),
                      angular_velocity("angular_velocity", 0.0, "at the start"),
                      stiffness(1e15, "k of the joint in either direction"),
                      damping(1.0, "b of the joint in either direction"), gravity()},
       .sizes = {},
       .step_size = 1e-4,
       .steps = 10000},
      {.name = "pendulum_limit",
       .kind = ScenarioKind::pendulum_limit,
       .summary = "pendulum in its angle with a soft range-of-motion limit theta >= 0",
       .source = "Drumwright, section 5.4, Figure 6",
       .positions = {"theta"},
       .velocities = {"omega"},
       .displacement = "theta - theta at the start [rad]",
       .parameters = {mass_of("mass of the bob"), length("length", 1.0, "of the massless rod"),
                      angle("angle", 90.0, 0.0, 180.0, "from hanging, at the start"),
                      angular_velocity("angular_velocity", 0.0, "at the start"),
                      stiffness(1e12, "k of the limit", "N m/rad"),
                      damping(0.0, "b of the limit", "N m s/rad"), gravity()},
       .sizes = {},
       .step_size = 1e-5,
       .steps = 200000},
      {.name = "elastic_foundation",
       .kind = ScenarioKind::elastic_foundation,
       .summary = "rigid cube on a frictionless Winkler foundation under a circling load",
       .source = "Drumwright, section 5.5, Tables 1 and 2",
       .positions = pose(),
       .velocities = spatial_velocities(),
       .displacement = "height of the centre above that on the unloaded foundation [m]",
       .parameters = {count("elements_per_side", 10.0, 100.0,
                            "springs along each side of the square"),
                      modulus(1e7, "Young's modulus of the foundation"),
                      length("depth", 1.0, "of the foundation"), damping(1.0, "b of each spring"),
                      positive("density", "kg/m3", 8.0, 1e5, "of the cube"),
                      length("side", 1.0, "of the cube"),
                      at_least_zero("load", "N", 5.0, 1e9, "downward force on the top"),
                      at_least_zero("load_frequency", "rad/s", 10.0, 1e6,
                                    "of the load's way around the top"),
                      gravity()},
       .sizes = {"elements_per_side"},
       .step_size = 0.01,
       .steps = 100},
      {.name = "inclined_block",
       .kind = ScenarioKind::inclined_block,
       .summary = "box on four spherical feet on an incline; x points downhill, z off the plane",
       .source = "Drumwright, section 6.4, Figure 9",
       .positions = pose(),
       .velocities = spatial_velocities(),
       .displacement = "distance slid [m]",
       .parameters = {mass_of("of the box"),
                      length("length", 0.2, "along the slope"),
                      length("width", 0.1, "across the slope"),
                      length("height", 0.05, "of the box"),
                      angle("angle", 15.0, 0.0, 89.0, "of the incline"),
                      friction(0.25, "every foot"),
                      stiffness(1e10, "E sqrt(r) of (122), on the depth to the power `exponent`",
                                "N/m^e"),
                      {"exponent", "-", 1.5, 1.0, false, 2.0, "1.5: Hertz; 1: linear"},
                      damping(1.0, "b along the normal"),
                      tangent_damping(),
                      gravity()},
       .sizes = {},
       .step_size = 0.01,
       .steps = 100},
      {.name = "sphere_stack",
       .kind = ScenarioKind::sphere_stack,
       .summary = "column of equal spheres on the floor",
       .source = "Drumwright, section 6.5, Figure 10",
       .positions = {"x", "y", "z", "ax", "ay", "az"},
       .velocities = spatial_velocities(),
       .displacement = "height of the top sphere's centre above its undeformed place [m]",
       .parameters = {count("spheres", 10.0, 200.0, "number of spheres"), mass_of("of each sphere"),
                      length("radius", 0.1, "of each sphere"),
                      modulus(1e11, "E; a contact's stiffness is E times the radius"),
                      damping(1.0, "b along the normals"), friction(0.5), tangent_damping(),
                      length_or_zero("gap", 0.0, "between neighbours at the start"), gravity()},
       .sizes = {"spheres"},
       .step_size = 0.01,
       .steps = 100},
      {.name = "compliant_block_impact",
       .kind = ScenarioKind::compliant_block_impact,
       .summary = "planar block on two Kelvin-Voigt corners hitting the floor, until no corner "
                  "approaches; A bottom left, B bottom right, as in the model rocking_block",
       .source = "Halm and Posa, section 5.4.1, Figure 12",
       .positions = planar_positions(),
       .velocities = planar_velocities(),
       .displacement = "height of the centre above that of the block at rest [m]",
       .parameters = {mass_of("of the block"), length("width", 1.0, "of the block"),
                      length("height", 2.0, "of the block"),
                      at_least_zero("downward_velocity", "m/s", 0.4429, 1e3,
                                    "of the level block at the impact"),
                      friction(1.0, "both corners"),
                      positive("stiffness", "N/m", 1e6, kMostStiffness, "of the softer corner"),
                      positive("stiffness_ratio", "-", 1.0, 1e9, "k_A / k_B"),
                      at_least_zero("damping_ratio", "-", 5.0, 1e6,
                                    "zeta: b = 2 zeta sqrt(k m) at each corner"),
                      angle("angle", 0.0, -45.0, 45.0,
                            "of the block, counter-clockwise, at the start"),
                      at_least_zero("tangent_damping", "N s/m", 1e12, kMostDamping,
                                    "b along the floor"),
                      gravity()},
       .sizes = {},
       .step_size = 1e-7,
       .steps = 40000},
  };
  return table;
}

}  // namespace carom::models::detail
