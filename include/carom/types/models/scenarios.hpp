#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/models/models.hpp>

/// The plain structs of carom/models/scenarios.hpp.
namespace carom::models {

/// The functor of src/compliant/scenarios/bodies.hpp behind a scenario.
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

/// Numbers of positions, velocities and (at most) constraint rows of a world.
struct ScenarioSizes {
  int positions = 0;
  int velocities = 0;
  int rows = 0;
};

}  // namespace carom::models
