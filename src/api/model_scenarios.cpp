#include <carom/models/scenarios.hpp>

#include <cmath>
#include <string>
#include <utility>

#include <carom/error.hpp>

#include "compliant/scenarios/bodies.hpp"
#include "compliant/scenarios/kinds.hpp"
#include "models/definition.hpp"
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

std::string quoted(const Scenario& scenario) { return "scenario \"" + scenario.name + "\""; }

Refusal of_world(std::size_t world) {
  return {.kind = "world", .problem = static_cast<std::int64_t>(world)};
}

void check(const Scenario& scenario, const Parameter& parameter, double value, Refusal whose = {}) {
  const bool good = detail::inside(parameter, value) &&
                    (!whole(scenario, parameter) || value == std::floor(value));
  if (good) return;
  whose.field = parameter.name;
  whose.whole = quoted(scenario);
  whose.value = text(value);
  whose.rule = std::string("must be ") + (whole(scenario, parameter) ? "a whole number " : "") +
               detail::range(parameter);
  throw InvalidInput(std::move(whose));
}

}  // namespace

std::span<const Scenario> scenarios() { return detail::scenario_table(); }

const Scenario& find_scenario(std::string_view name) {
  std::string known;
  for (const Scenario& scenario : detail::scenario_table()) {
    if (scenario.name == name) return scenario;
    known += (known.empty() ? "" : ", ") + scenario.name;
  }
  throw InvalidInput(Refusal{.field = "scenario \"" + std::string(name) + "\"",
                             .value = "not known",
                             .rule = "known are " + known});
}

std::size_t parameter_index(const Scenario& scenario, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < scenario.parameters.size(); ++i) {
    if (scenario.parameters[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + scenario.parameters[i].name;
  }
  throw InvalidInput(Refusal{.field = quoted(scenario),
                             .relation = "has",
                             .value = "no parameter \"" + std::string(name) + "\"",
                             .rule = "known are " + known});
}

std::vector<double> scenario_parameters(const Scenario& scenario,
                                        const std::map<std::string, double>& overrides) {
  std::vector<double> values;
  for (const Parameter& parameter : scenario.parameters) values.push_back(parameter.value);
  for (const auto& [name, value] : overrides) {
    const std::size_t i = parameter_index(scenario, name);
    check(scenario, scenario.parameters[i], value);
    values[i] = value;
  }
  return values;
}

ScenarioSizes scenario_sizes(const Scenario& scenario, std::span<const double> parameters) {
  return detail::visit_scenario(scenario.kind, [&](auto body) {
    using Mechanism = typename decltype(body)::Mechanism;
    const kernels::WorldSizes sizes =
        kernels::world_sizes(Mechanism::sizes(parameters.data()), Mechanism::kRows);
    return ScenarioSizes{sizes.positions, sizes.velocities, sizes.rows};
  });
}

double scenario_displacement(const Scenario& scenario, std::span<const double> parameters,
                             std::span<const double> q) {
  return detail::visit_scenario(scenario.kind, [&](auto body) {
    return decltype(body)::displacement(parameters.data(), q.data());
  });
}

std::array<double, 2> corner_velocity(std::span<const double> parameters, std::span<const double> q,
                                      std::span<const double> v) {
  using Block = kernels::CompliantBlockImpact;
  const Block::Mechanism at(parameters.data(), 0.0, q.data());
  const auto approach = [&](int corner) {
    return Block::approach(at.constraint(corner), v.data());
  };
  return {approach(0), approach(1)};
}

void validate_worlds(const Scenario& scenario, std::int64_t worlds,
                     std::span<const double> parameters) {
  const std::size_t count = scenario.parameters.size();
  if (parameters.size() != static_cast<std::size_t>(worlds) * count) {
    throw InvalidInput(
        Refusal{.field = "parameters",
                .whole = quoted(scenario),
                .relation = "have",
                .value = std::to_string(parameters.size()) + " values",
                .rule = "must have " + std::to_string(static_cast<std::size_t>(worlds) * count)});
  }
  for (std::size_t world = 0; world < static_cast<std::size_t>(worlds); ++world) {
    for (std::size_t i = 0; i < count; ++i) {
      check(scenario, scenario.parameters[i], parameters[world * count + i], of_world(world));
    }
  }
  for (const std::string& name : scenario.sizes) {
    const std::size_t i = parameter_index(scenario, name);
    for (std::size_t world = 1; world < static_cast<std::size_t>(worlds); ++world) {
      if (parameters[world * count + i] == parameters[i]) continue;
      Refusal refused = of_world(world);
      refused.field = name;
      refused.whole = quoted(scenario);
      refused.value = text(parameters[world * count + i]);
      refused.rule = "must be that of world 0, " + text(parameters[i]);
      throw InvalidInput(std::move(refused));
    }
  }
}

}  // namespace carom::models
