#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/models/models.hpp>
#include <carom/types/models/scenarios.hpp>

/// Built-in worlds for carom/compliant.hpp: mechanisms with compliant constraints, simulated
/// from a start.
namespace carom::models {

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
ScenarioSizes scenario_sizes(const Scenario& scenario, std::span<const double> parameters);

/// The displacement that WorldsResult reports, at any q; parameters of one world.
double scenario_displacement(const Scenario& scenario, std::span<const double> parameters,
                             std::span<const double> q);

/// Normal velocities of corners A and B of a compliant_block_impact [m/s]; parameters of one world.
std::array<double, 2> corner_velocity(std::span<const double> parameters, std::span<const double> q,
                                      std::span<const double> v);

/// Errors: InvalidInput naming the world, the parameter and the value: NaN, out of its range, or a
/// size that differs between worlds. parameters: [worlds, scenario.parameters.size()].
void validate_worlds(const Scenario& scenario, std::int64_t worlds,
                     std::span<const double> parameters);

}  // namespace carom::models
