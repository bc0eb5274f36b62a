#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/impact_bounces.hpp>
#include <carom/impact_models.hpp>

#include "call.hpp"
#include "families.hpp"
#include "impacts.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

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
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  std::vector<ImpactOutcome> outcomes =
      without_gil([&] { return simultaneous_impacts(problem, settings); });
  nb::list result;
  for (ImpactOutcome& outcome : outcomes) result.append(outcome_of(std::move(outcome), problem));
  return result;
}

nb::list step_outcomes_of(const nb::dict& arrays, int dimension, int velocities, int contacts,
                          nb::handle max_impulse, const nb::dict& given) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  const std::vector<double> bounds = copied<double>(max_impulse);
  std::vector<ImpactOutcome> outcomes =
      without_gil([&] { return step_outcomes(problem, bounds, settings); });
  nb::list result;
  for (ImpactOutcome& outcome : outcomes) result.append(outcome_of(std::move(outcome), problem));
  return result;
}

nb::dict one_simultaneous(const nb::dict& arrays, int dimension, int velocities, int contacts,
                          const nb::dict& given) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  return outcome_of(without_gil([&] { return simultaneous_impact(problem, settings); }), problem);
}

nb::dict sequential(const nb::dict& arrays, int dimension, int velocities, int contacts,
                    const std::vector<int>& order, const nb::dict& given) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
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

nb::dict with_impacts(SequentialOutcome&& outcome, const ImpactProblem& problem) {
  const int impacts = outcome.impacts;
  nb::dict result = outcome_of(std::move(outcome), problem);
  result["impacts"] = impacts;
  return result;
}

/// model: "sequential", "springs", or rounds by their word.
nb::dict bounce(const nb::dict& arrays, int dimension, int velocities, int contacts,
                const std::string& model, const std::vector<int>& order, nb::handle stiffness,
                double exponent, nb::handle gaps, double step, const nb::dict& given) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  if (model == "sequential") {
    return with_impacts(without_gil([&] { return bouncing_sequence(problem, order, settings); }),
                        problem);
  }
  if (model == "springs") {
    const CompliantContacts springs{copied<double>(stiffness), exponent, copied<double>(gaps),
                                    step};
    return with_impacts(without_gil([&] { return compliant_bounce(problem, springs, settings); }),
                        problem);
  }
  const auto rounds = enumerator<BounceRounds>("model", nb::str(model.c_str()));
  return with_impacts(without_gil([&] { return bouncing_rounds(problem, rounds, settings); }),
                      problem);
}

nb::dict newton(const nb::dict& arrays, int dimension, int velocities, int contacts, int contact,
                double restitution, const nb::dict& given) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const auto settings = settings_from<ImpactModelSettings>(given);
  return outcome_of(
      without_gil([&] { return newton_impact(problem, contact, restitution, settings); }), problem);
}

}  // namespace

void add_impact_models(nb::module_& module) {
  module.def("simultaneous_impacts", simultaneous);
  module.def("simultaneous_impact", one_simultaneous);
  module.def("step_outcomes", step_outcomes_of);
  module.def("sequential_impact", sequential);
  module.def("newton_impact", newton);
  module.def("bounce", bounce);
  module.def("impact_model_settings", described<ImpactModelSettings>);
}

}  // namespace carom::python
