#include <carom/derivative_worlds.hpp>

#include <algorithm>
#include <numeric>

#include "api/derivative_checks.hpp"
#include "api/world_run.hpp"
#include "compliant/derivative_backends.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

void require_gradient(const char* name, const std::vector<double>& values, std::int64_t count) {
  if (values.empty()) return;
  require::size(name, values.size(), static_cast<std::size_t>(count));
  require::finite(name, values.data(), values.size(), 0, Refusal{});
}

}  // namespace

WorldsGradient differentiate_worlds(const models::Scenario& scenario, const WorldRun& run,
                                    const WorldsCotangent& cotangent,
                                    const CompliantSettings& solver,
                                    const DerivativeSettings& settings,
                                    const std::vector<std::string>& wanted, std::int64_t checkpoint,
                                    Backend backend) {
  solver.validate();
  settings.validate();
  derivative_checks::require_cpu(backend);
  require::at_least("checkpoint", checkpoint, 0);
  if (solver.law == StepLaw::programme) {
    throw InvalidInput(
        Refusal{.field = "law", .value = "programme", .rule = "has no derivative here"});
  }
  WorldRunner runner = set_up_worlds(scenario, run, solver);
  const WorldStates& states = runner.states();
  const kernels::WorldSizes& sizes = states.sizes;
  require_gradient("cotangent.position", cotangent.position, run.worlds * sizes.positions);
  require_gradient("cotangent.velocity", cotangent.velocity, run.worlds * sizes.velocities);
  require_gradient("cotangent.displacement", cotangent.displacement, run.worlds);
  // The state's own numbers carry the chain and are always there.
  std::vector<int> inputs(static_cast<std::size_t>(sizes.positions + sizes.velocities));
  std::iota(inputs.begin(), inputs.end(), 0);
  const auto names = [&](const std::string& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  const auto first = static_cast<int>(inputs.size());
  int place = first;
  for (const models::Parameter& parameter : scenario.parameters) {
    const bool counts = std::find(scenario.sizes.begin(), scenario.sizes.end(), parameter.name) !=
                        scenario.sizes.end();
    if (!counts && names(parameter.name)) inputs.push_back(place);
    ++place;
  }
  if (names("step_size")) inputs.push_back(place);
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

}  // namespace carom
