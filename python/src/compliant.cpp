#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/compliant.hpp>
#include <carom/derivative_worlds.hpp>
#include <carom/models/scenarios.hpp>

#include "call.hpp"
#include "families.hpp"
#include "parameters.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::dict step(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
              int rows, int positions, const nb::dict& settings, nb::handle backend,
              nb::handle workspace) {
  CompliantBatch batch;
  static_cast<CompliantSizes&>(batch) = {problems, dimension, velocities, rows, positions};
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<CompliantSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  return arrays_of(in_pieces<CompliantResult>(batch, batch,
                                              [&](const CompliantBatch& piece, std::int64_t) {
                                                return solve_compliant(piece, chosen, where,
                                                                       memory);
                                              }),
                   batch);
}

/// Why each of the given problems has the status invalid_input.
nb::dict step_refusals(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                       int rows, int positions, const std::vector<std::int64_t>& wanted) {
  CompliantBatch batch;
  static_cast<CompliantSizes&>(batch) = {problems, dimension, velocities, rows, positions};
  borrow(batch, batch, arrays);
  return refusals_of(batch, wanted, step_refusal);
}

nb::list scenarios() {
  nb::list result;
  for (const models::Scenario& scenario : models::scenarios()) {
    nb::dict entry = entry_of(scenario);
    entry["positions"] = words_of(scenario.positions);
    entry["velocities"] = words_of(scenario.velocities);
    entry["displacement"] = scenario.displacement;
    entry["sizes"] = words_of(scenario.sizes);
    entry["step_size"] = scenario.step_size;
    entry["steps"] = scenario.steps;
    result.append(entry);
  }
  return result;
}

nb::dict worlds_of(WorldsResult&& result) {
  const WorldsSizes sizes = result;
  const auto w = static_cast<std::size_t>(sizes.worlds);
  const auto numbers = static_cast<std::size_t>(sizes.positions + sizes.velocities);
  const std::size_t frames = result.frame_time.size();
  nb::dict all =
      arrays_of(static_cast<WorldsResultArrays<WorldValues>&&>(std::move(result)), sizes);
  all["backend"] = std::string(to_string(result.backend));
  all["cancelled"] = result.cancelled;
  all["seconds"] = result.seconds;
  all["steps"] = result.steps;
  all["step_size"] = result.step_size;
  all["frame_time"] = array_of(std::move(result.frame_time));
  all["frame_state"] = array_of(std::move(result.frame_state), {frames, w, numbers});
  all["frame_energy"] = array_of(std::move(result.frame_energy), {frames, w});
  return all;
}

/// The run with each world's parameters.
WorldRun run_of(const models::Scenario& scenario, const Columns& columns, const nb::dict& given) {
  auto run = settings_from<WorldRun>(given);
  for (std::size_t w = 0; w < static_cast<std::size_t>(run.worlds); ++w) {
    std::vector<double> row;
    if (run.isolate) {  // values out of range are this world's own trouble
      row = models::scenario_parameters(scenario);
      for (const auto& [parameter, value] : row_of(columns, w)) {
        row[models::parameter_index(scenario, parameter)] = value;
      }
    } else {
      try {
        row = models::scenario_parameters(scenario, row_of(columns, w));
      } catch (const InvalidInput& error) {
        of_problem(error, w, static_cast<std::size_t>(run.worlds));
      }
    }
    run.parameters.insert(run.parameters.end(), row.begin(), row.end());
  }
  return run;
}

nb::dict worlds(const std::string& name, const Columns& columns, const nb::dict& given,
                const nb::dict& settings, nb::handle backend, nb::object progress,
                nb::handle workspace) {
  const models::Scenario& scenario = models::find_scenario(name);
  WorldRun run = run_of(scenario, columns, given);
  const auto chosen = settings_from<CompliantSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  Listener listener(std::move(progress));
  run.progress = [&](const WorldProgress& at) {
    return listener.go_on(at.steps_done, at.steps_total);
  };
  WorldsResult result =
      without_gil([&] { return step_worlds(scenario, run, chosen, where, memory); });
  listener.raise();
  return worlds_of(std::move(result));
}

/// What a derivative of a run says of itself.
void put_report(WorldsDerivative& made, nb::dict& all) {
  all["status"] = array_of(std::move(made.status));
  all["first_step"] = array_of(std::move(made.first_step));
  all["residual"] = array_of(std::move(made.residual));
  all["margin"] = array_of(std::move(made.margin));
  all["condition"] = array_of(std::move(made.condition));
  all["shift"] = array_of(std::move(made.shift));
  all["touch"] = array_of(std::move(made.touch));
  all["doubtful"] = array_of(std::move(made.doubtful));
}

nb::dict propagate_run(const std::string& name, const Columns& columns, const nb::dict& given,
                       const nb::dict& solver, const nb::dict& direction,
                       const nb::dict& settings) {
  const models::Scenario& scenario = models::find_scenario(name);
  const WorldRun run = run_of(scenario, columns, given);
  const auto step = settings_from<CompliantSettings>(solver);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  WorldsDirection along;
  for (const auto& [field, array] : {std::pair{"parameters", &along.parameters},
                                     {"step_size", &along.step_size},
                                     {"position", &along.position},
                                     {"velocity", &along.velocity}}) {
    if (direction.contains(field)) *array = copied<double>(direction[field]);
  }
  WorldsTangent found =
      without_gil([&] { return propagate_worlds(scenario, run, along, step, chosen); });
  const auto w = static_cast<std::size_t>(run.worlds);
  nb::dict all;
  const std::size_t nq = found.position.size() / w, nv = found.velocity.size() / w;
  all["position"] = array_of(std::move(found.position), {w, nq});
  all["velocity"] = array_of(std::move(found.velocity), {w, nv});
  all["displacement"] = array_of(std::move(found.displacement));
  put_report(found, all);
  return all;
}

nb::dict differentiate_run(const std::string& name, const Columns& columns, const nb::dict& given,
                           const nb::dict& solver, const nb::dict& cotangent,
                           const nb::dict& settings, const std::vector<std::string>& wanted,
                           std::int64_t checkpoint) {
  const models::Scenario& scenario = models::find_scenario(name);
  const WorldRun run = run_of(scenario, columns, given);
  const auto step = settings_from<CompliantSettings>(solver);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  WorldsCotangent of_end;
  for (const auto& [field, array] : {std::pair{"position", &of_end.position},
                                     {"velocity", &of_end.velocity},
                                     {"displacement", &of_end.displacement}}) {
    if (cotangent.contains(field)) *array = copied<double>(cotangent[field]);
  }
  WorldsGradient found = without_gil([&] {
    return differentiate_worlds(scenario, run, of_end, step, chosen, wanted, checkpoint);
  });
  const auto w = static_cast<std::size_t>(run.worlds);
  nb::dict all;
  all["parameters"] = array_of(std::move(found.parameters), {w, scenario.parameters.size()});
  all["step_size"] = array_of(std::move(found.step_size));
  const std::size_t nq = found.position.size() / w, nv = found.velocity.size() / w;
  all["position"] = array_of(std::move(found.position), {w, nq});
  all["velocity"] = array_of(std::move(found.velocity), {w, nv});
  put_report(found, all);
  return all;
}

}  // namespace

void add_compliant(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("solve_compliant", step, "arrays"_a, "problems"_a, "dimension"_a, "velocities"_a,
             "rows"_a, "positions"_a, "settings"_a, "backend"_a, "workspace"_a.none());
  module.def("step_refusals", step_refusals);
  module.def("step_worlds", worlds, "scenario"_a, "parameters"_a, "run"_a, "settings"_a,
             "backend"_a, "progress"_a.none(), "workspace"_a.none());
  module.def("differentiate_worlds", differentiate_run);
  module.def("propagate_worlds", propagate_run);
  module.def("scenarios", scenarios);
  module.def("compliant_settings", described<CompliantSettings>);
  module.def("world_settings", described<WorldRun>);
}

}  // namespace carom::python
