#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/impact_models.hpp>

#include "call.hpp"
#include "families.hpp"
#include "impacts.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::dict steps(const nb::dict& arrays, std::int64_t problems, int dimension, int contacts,
               const nb::dict& settings, nb::handle backend, nb::handle workspace) {
  StepBatch batch;
  static_cast<StepSizes&>(batch) = {problems, dimension, contacts};
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<StepSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  return arrays_of(in_pieces<StepResult>(batch, batch,
                                         [&](const StepBatch& piece, std::int64_t) {
                                           return solve_steps(piece, chosen, where, memory);
                                         }),
                   batch);
}

nb::dict pointed(const nb::dict& arrays, int dimension, int velocities, int contacts,
                 int directions) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  Pointedness found = without_gil([&] { return pointedness(problem, directions); });
  nb::dict result;
  result["pointed"] = found.pointed;
  result["direction"] = array_of(std::move(found.direction));
  result["margin"] = found.margin;
  return result;
}

nb::dict bound(const nb::dict& arrays, int dimension, int velocities, int contacts,
               double step_size, std::int64_t k, int directions) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const TerminationBound found =
      without_gil([&] { return termination_bound(problem, step_size, k, directions); });
  nb::dict result;
  result["c"] = found.c;
  result["steps"] = found.steps;
  result["probability"] = found.probability;
  return result;
}

/// The step with several outcomes that a report names.
template <class Report>
void add_step(nb::dict& result, Report& found, int velocities) {
  result["velocity"] = array_of(std::move(found.velocity));
  result["max_impulse"] = array_of(std::move(found.max_impulse));
  std::vector<double> outcomes;
  for (const auto& each : found.outcomes) outcomes.insert(outcomes.end(), each.begin(), each.end());
  result["outcomes"] =
      array_of(std::move(outcomes), {found.outcomes.size(), static_cast<std::size_t>(velocities)});
}

nb::dict unique_steps(const nb::dict& arrays, int dimension, int velocities, int contacts,
                      const nb::dict& given, std::int64_t trajectories) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactSettings>(given);
  UniquenessReport found =
      without_gil([&] { return check_unique_step(problem, settings, trajectories); });
  nb::dict result;
  result["steps"] = found.steps;
  result["nonunique"] = found.nonunique;
  result["most_outcomes"] = found.most_outcomes;
  add_step(result, found, velocities);
  return result;
}

nb::dict decided_steps(const nb::dict& arrays, int dimension, int velocities, int contacts) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  StepUniqueness found = without_gil([&] { return decide_unique_step(problem); });
  nb::dict result;
  result["decided"] = found.decided;
  result["unique"] = found.unique;
  result["pairs"] = found.pairs;
  result["difference"] = found.difference;
  add_step(result, found, velocities);
  return result;
}

}  // namespace

void add_impact_theory(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("solve_steps", steps, "arrays"_a, "problems"_a, "dimension"_a, "contacts"_a,
             "settings"_a, "backend"_a, "workspace"_a.none());
  module.def("step_settings", described<StepSettings>);
  module.def("pointedness", pointed, "arrays"_a, "dimension"_a, "velocities"_a, "contacts"_a,
             "friction_directions"_a);
  module.def("termination_bound", bound, "arrays"_a, "dimension"_a, "velocities"_a, "contacts"_a,
             "step_size"_a, "k"_a, "friction_directions"_a);
  module.def("samples_for_epsilon_net", samples_for_epsilon_net, "n"_a, "lipschitz"_a,
             "step_size"_a, "epsilon"_a, "delta"_a);
  module.def("check_unique_step", unique_steps, "arrays"_a, "dimension"_a, "velocities"_a,
             "contacts"_a, "settings"_a, "trajectories"_a);
  module.def("decide_unique_step", decided_steps, "arrays"_a, "dimension"_a, "velocities"_a,
             "contacts"_a);
}

}  // namespace carom::python
