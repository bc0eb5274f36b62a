#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/models/models.hpp>

/// Built-in worlds for carom/compliant.hpp: mechanisms with compliant constraints that are stepped
/// from a start.
namespace carom::models {

/// The functor of src/models/mechanisms/scenario_bodies.hpp behind a scenario.
enum class ScenarioKind : std::uint8_t {
  spring_mass_damper,
  pendulum_joint,
  pendulum_limit,
  elastic_foundation,
  inclined_block,
  sphere_stack,
  compliant_block_impact,
};

struct Scenario {
  std::string name;
  ScenarioKind kind = ScenarioKind::spring_mass_damper;
  std::string summary;
  std::string source;                   ///< e.g. "Drumwright, section 6.4"
  std::vector<std::string> positions;   ///< names of q, of one body where there are many
  std::vector<std::string> velocities;  ///< names of v, likewise
  std::string displacement;             ///< what `displacement` measures
  std::vector<Parameter> parameters;    ///< in the order of the worlds' arrays
  std::vector<std::string> sizes;       ///< parameters that fix the shape: the same in all worlds
  double step_size = 0.01;              ///< recommended dt [s]
  std::int64_t steps = 100;             ///< recommended number of steps
};

/// All scenarios.
std::span<const Scenario> scenarios();

/// Errors: InvalidInput listing the known names.
const Scenario& find_scenario(std::string_view name);

/// Parameter values of one world in the scenario's order, overridden by name.
/// Errors: InvalidInput naming an unknown parameter (with the known ones) or a value out of range.
std::vector<double> scenario_parameters(const Scenario& scenario,
                                        const std::map<std::string, double>& overrides = {});

/// Index of a parameter. Errors: InvalidInput listing the known names.
std::size_t parameter_index(const Scenario& scenario, std::string_view name);

/// Numbers of positions, velocities and (at most) constraint rows of a world.
struct ScenarioSizes {
  int positions = 0;
  int velocities = 0;
  int rows = 0;
};
ScenarioSizes scenario_sizes(const Scenario& scenario, std::span<const double> parameters);

/// Errors: InvalidInput naming the world, the parameter and the value: NaN, out of its range, or a
/// size that differs between worlds. parameters: [worlds, scenario.parameters.size()].
void validate_worlds(const Scenario& scenario, std::int64_t worlds,
                     std::span<const double> parameters);

}  // namespace carom::models
