#include <cmath>
#include <cstdio>
#include <string>

#include <carom/error.hpp>
#include <carom/impact_models.hpp>

#include "analysis/dense_models.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

std::string all_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void require_positive(const char* field, double value) {
  if (!(value > 0.0 && std::isfinite(value))) {
    require::refuse({}, field, {}, all_digits(value), "must be > 0 and finite");
  }
}

void check(const ImpactProblem& problem, int friction_directions) {
  validate(problem);
  if (problem.dimension == 2) return;
  require::between("friction_directions", friction_directions, 4, kMaxFrictionDirections);
}

}  // namespace

Pointedness pointedness(const ImpactProblem& problem, int friction_directions) {
  check(problem, friction_directions);
  return dense::pointedness(problem, friction_directions);
}

TerminationBound termination_bound(const ImpactProblem& problem, double step_size, std::int64_t k,
                                   int friction_directions) {
  require_positive("step_size", step_size);
  require::at_least("k", k, 0);
  check(problem, friction_directions);
  return dense::termination_bound(problem, step_size, k, friction_directions);
}

double samples_for_epsilon_net(int n, double lipschitz, double step_size, double epsilon,
                               double delta) {
  require::at_least("n", n, 1);
  if (!(lipschitz >= 0.0 && std::isfinite(lipschitz))) {
    require::refuse({}, "lipschitz", {}, all_digits(lipschitz), "must be >= 0 and finite");
  }
  require_positive("step_size", step_size);
  require_positive("epsilon", epsilon);
  if (!(delta > 0.0 && delta < 1.0)) {
    require::refuse({}, "delta", {}, all_digits(delta), "must be in (0, 1)");
  }
  return dense::samples_for_epsilon_net(n, lipschitz, step_size, epsilon, delta);
}

UniquenessReport check_unique_step(const ImpactProblem& problem, const ImpactSettings& settings,
                                   std::int64_t trajectories) {
  validate(problem);
  settings.validate();
  require::at_least("trajectories", trajectories, 1);
  return dense::check_unique_step(problem, settings, trajectories);
}

StepUniqueness decide_unique_step(const ImpactProblem& problem) {
  validate(problem);
  if (problem.dimension != 2) {
    require::refuse({}, "dimension", {}, std::to_string(problem.dimension), "must be 2");
  }
  require::between("contacts", problem.contacts, 0, kMaxUniqueContacts);
  return dense::decide_unique_step(problem);
}

}  // namespace carom
