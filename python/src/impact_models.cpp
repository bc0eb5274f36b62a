#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/impact_models.hpp>

#include "call.hpp"
#include "families.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

/// One problem from its arrays, by name.
ImpactProblem problem_of(const nb::dict& arrays, int dimension, int velocities, int contacts) {
  ImpactBatch batch;
  static_cast<ImpactSizes&>(batch) = {1, dimension, velocities, contacts};
  borrow(batch, batch, arrays);
  ImpactProblem problem;
  problem.dimension = dimension;
  problem.velocities = velocities;
  problem.contacts = contacts;
  ImpactBatch::each_array(
      batch, [](const char*, const Extents&, auto& to, const auto& from) { to = from.to_vector(); },
      problem, batch);
  return problem;
}

nb::dict outcome_of(ImpactOutcome&& outcome, const ImpactProblem& problem) {
  nb::dict result;
  result["status"] = static_cast<int>(outcome.status);
  result["velocity"] = array_of(std::move(outcome.velocity));
  result["impulse"] = array_of(std::move(outcome.impulse));
  result["normal_velocity"] = array_of(std::move(outcome.normal_velocity));
  result["tangent_velocity"] = array_of(std::move(outcome.tangent_velocity));
  result["kinetic_energy"] = outcome.kinetic_energy;
  result["modes"] = mode_words(outcome.modes, problem.contacts, problem.dimension);
  result["residual"] = outcome.residual;
  return result;
}

nb::list simultaneous(const nb::dict& arrays, int dimension, int velocities, int contacts,
                      const nb::dict& given) {
  const ImpactProblem problem = problem_of(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  std::vector<ImpactOutcome> outcomes =
      without_gil([&] { return simultaneous_impacts(problem, settings); });
  nb::list result;
  for (ImpactOutcome& outcome : outcomes) result.append(outcome_of(std::move(outcome), problem));
  return result;
}

nb::dict sequential(const nb::dict& arrays, int dimension, int velocities, int contacts,
                    const std::vector<int>& order, const nb::dict& given) {
  const ImpactProblem problem = problem_of(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  SequentialOutcome outcome =
      without_gil([&] { return sequential_impact(problem, order, settings); });
  nb::list tried;
  for (const int contact : outcome.order) tried.append(contact);
  const int impacts = outcome.impacts;
  nb::dict result = outcome_of(std::move(outcome), problem);
  result["order"] = nb::tuple(tried);
  result["impacts"] = impacts;
  return result;
}

nb::dict newton(const nb::dict& arrays, int dimension, int velocities, int contacts, int contact,
                double restitution, const nb::dict& given) {
  const ImpactProblem problem = problem_of(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  return outcome_of(
      without_gil([&] { return newton_impact(problem, contact, restitution, settings); }), problem);
}

}  // namespace

void add_impact_models(nb::module_& module) {
  module.def("simultaneous_impacts", simultaneous);
  module.def("sequential_impact", sequential);
  module.def("newton_impact", newton);
  module.def("impact_model_settings", described<ImpactModelSettings>);
}

}  // namespace carom::python
