#include <carom/models/scenarios.hpp>

#include <cmath>

#include <carom/error.hpp>

#include "models/body/scenario_bodies.hpp"
#include "models/definition.hpp"
#include "models/scenario_kinds.hpp"
#include "models/scenario_table.hpp"

namespace carom::models {

namespace {

using detail::text;

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
  const bool good = detail::inside(parameter, value) &&
                    (!whole(scenario, parameter) || value == std::floor(value));
  if (good) return;
  throw InvalidInput(parameter.name + of_what + " of scenario \"" + scenario.name + "\" is " +
                     text(value) + ": must be " +
                     (whole(scenario, parameter) ? "a whole number " : "") +
                     detail::range(parameter));
}

}  // namespace

std::span<const Scenario> scenarios() { return detail::scenario_table(); }

const Scenario& find_scenario(std::string_view name) {
  std::string known;
  for (const Scenario& scenario : detail::scenario_table()) {
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
