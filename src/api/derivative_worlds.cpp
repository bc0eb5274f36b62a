#include <carom/derivative_worlds.hpp>

#include <algorithm>
#include <numeric>

#include "api/derivative_checks.hpp"
#include "api/world_run.hpp"
#include "compliant/derivative_backends.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

void require_numbers(const char* name, const std::vector<double>& values, std::int64_t count) {
  if (values.empty()) return;
  require::size(name, values.size(), static_cast<std::size_t>(count));
  require::finite(name, values.data(), values.size(), 0, Refusal{});
}

void require_settings(const CompliantSettings& solver, const DerivativeSettings& settings,
                      Backend backend) {
  solver.validate();
  settings.validate();
  derivative_checks::require_cpu(backend);
  if (solver.law == StepLaw::programme) {
    throw InvalidInput(
        Refusal{.field = "law", .value = "programme", .rule = "has no derivative here"});
  }
}

bool counts(const models::Scenario& scenario, const std::string& name) {
  return std::find(scenario.sizes.begin(), scenario.sizes.end(), name) != scenario.sizes.end();
}

/// Those of (q, v, p, h), by number: the state's own, which carry the chain and are always there,
/// and what names(parameter's index, name) or names(-1, "step_size") says.
template <class Names>
std::vector<int> inputs_of(const models::Scenario& scenario, const kernels::WorldSizes& sizes,
                           Names&& names) {
  std::vector<int> inputs(static_cast<std::size_t>(sizes.positions + sizes.velocities));
  std::iota(inputs.begin(), inputs.end(), 0);
  int place = sizes.positions + sizes.velocities, index = 0;
  for (const models::Parameter& parameter : scenario.parameters) {
    if (!counts(scenario, parameter.name) && names(index, parameter.name)) inputs.push_back(place);
    ++place;
    ++index;
  }
  if (names(-1, std::string("step_size"))) inputs.push_back(place);
  return inputs;
}

}  // namespace

WorldsGradient differentiate_worlds(const models::Scenario& scenario, const WorldRun& run,
                                    const WorldsCotangent& cotangent,
                                    const CompliantSettings& solver,
                                    const DerivativeSettings& settings,
                                    const std::vector<std::string>& wanted, std::int64_t checkpoint,
                                    Backend backend) {
  require_settings(solver, settings, backend);
  require::at_least("checkpoint", checkpoint, 0);
  WorldRunner runner = set_up_worlds(scenario, run, solver);
  const WorldStates& states = runner.states();
  const kernels::WorldSizes& sizes = states.sizes;
  require_numbers("cotangent.position", cotangent.position, run.worlds * sizes.positions);
  require_numbers("cotangent.velocity", cotangent.velocity, run.worlds * sizes.velocities);
  require_numbers("cotangent.displacement", cotangent.displacement, run.worlds);
  const std::vector<int> inputs = inputs_of(scenario, sizes, [&](int, const std::string& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  });
  for (const std::string& name : wanted) {
    const bool known =
        name == "step_size" ||
        std::any_of(scenario.parameters.begin(), scenario.parameters.end(),
                    [&](const models::Parameter& parameter) { return parameter.name == name; });
    if (!known) {
      throw InvalidInput(
          Refusal{.field = "wanted", .value = name, .rule = "is no parameter of the scenario"});
    }
  }
  return cpu::differentiate_worlds(states, run.steps > 0 ? run.steps : scenario.steps, cotangent,
                                   solver, settings, inputs, checkpoint);
}

WorldsTangent propagate_worlds(const models::Scenario& scenario, const WorldRun& run,
                               const WorldsDirection& direction, const CompliantSettings& solver,
                               const DerivativeSettings& settings, Backend backend) {
  require_settings(solver, settings, backend);
  WorldRunner runner = set_up_worlds(scenario, run, solver);
  const WorldStates& states = runner.states();
  const kernels::WorldSizes& sizes = states.sizes;
  const auto count = static_cast<std::int64_t>(scenario.parameters.size());
  require_numbers("direction.parameters", direction.parameters, run.worlds * count);
  require_numbers("direction.step_size", direction.step_size, run.worlds);
  require_numbers("direction.position", direction.position, run.worlds * sizes.positions);
  require_numbers("direction.velocity", direction.velocity, run.worlds * sizes.velocities);
  const auto leads = [&](int index, const std::string&) {
    if (index < 0) return !direction.step_size.empty();
    if (direction.parameters.empty()) return false;
    for (std::int64_t w = 0; w < run.worlds; ++w) {
      if (direction.parameters[static_cast<std::size_t>(w * count + index)] != 0.0) return true;
    }
    return false;
  };
  for (std::int64_t k = 0; k < count; ++k) {
    const std::string& name = scenario.parameters[static_cast<std::size_t>(k)].name;
    if (counts(scenario, name) && leads(static_cast<int>(k), name)) {
      throw InvalidInput(Refusal{.field = "direction.parameters",
                                 .value = name,
                                 .rule = "is a number of bodies, which has no rate"});
    }
  }
  return cpu::propagate_worlds(states, run.steps > 0 ? run.steps : scenario.steps, direction,
                               solver, settings, inputs_of(scenario, sizes, leads));
}

}  // namespace carom
