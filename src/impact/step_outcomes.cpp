#include "impact/step_outcomes.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/require.hpp"
#include "impact/backends.hpp"

namespace carom::dense {

namespace {

std::vector<double> to_std(const Vector& values) { return {values.begin(), values.end()}; }

}  // namespace

void fill(ImpactOutcome& outcome, const Mechanism& mechanism, Status status, const Vector& velocity,
          const Vector& impulse, double residual, const ImpactModelSettings& settings) {
  const int m = mechanism.contacts;
  const bool usable = status == Status::solved || status == Status::inaccurate;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto masked = [&](const Vector& values) {
    return to_std(usable ? values : Vector::Constant(values.size(), nan));
  };
  const Vector contact_velocity = mechanism.jacobian * velocity;
  outcome.status = status;
  outcome.velocity = masked(velocity);
  outcome.impulse = masked(impulse);
  outcome.normal_velocity = masked(contact_velocity.head(m));
  outcome.tangent_velocity = masked(contact_velocity.tail(mechanism.rows() - m));
  outcome.kinetic_energy = usable ? mechanism.kinetic_energy(velocity) : nan;
  outcome.modes = usable ? mechanism.modes(contact_velocity, settings.mode_tolerance) : 0;
  outcome.residual = residual;
}

StepModel step_model(const Mechanism& mechanism, const ImpactModelSettings& settings) {
  return {mechanism.dimension, mechanism.delassus, mechanism.friction,
          settings.friction_directions};
}

std::vector<ImpactOutcome> step_outcomes(const ImpactProblem& problem,
                                         std::span<const double> limit,
                                         const ImpactModelSettings& settings) {
  const Mechanism mechanism = make_mechanism(problem);
  require::between("contacts", mechanism.contacts, 0, kMaxEnumeratedContacts,
                   {.name = problem.name});
  const StepModel model = step_model(mechanism, settings);
  const Vector max_impulse = Eigen::Map<const Vector>(limit.data(), mechanism.contacts);
  const std::int64_t count = combinations(model, max_impulse);
  if (count > settings.max_combinations) {
    require::refuse({}, "max_combinations", {}, std::to_string(settings.max_combinations),
                    "problem \"" + problem.name + "\" has " + std::to_string(count) +
                        " combinations of contact modes");
  }
  const Vector& v = mechanism.velocity;
  const auto velocity_of = [&](const Vector& impulse) -> Vector {
    return v + mechanism.response * impulse;
  };
  std::vector<ImpactOutcome> outcomes;
  for (const StepSolution& solution :
       enumerate_step(model, mechanism.jacobian * v, max_impulse, settings.residual_tolerance,
                      velocity_of, settings.distinct_tolerance * v.cwiseAbs().maxCoeff())) {
    outcomes.emplace_back();
    fill(outcomes.back(), mechanism, Status::solved, velocity_of(solution.impulse),
         solution.impulse, solution.residual, settings);
  }
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const ImpactOutcome& a, const ImpactOutcome& b) {
                     return a.kinetic_energy < b.kinetic_energy;
                   });
  return outcomes;
}

}  // namespace carom::dense
