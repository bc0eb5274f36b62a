#pragma once

#include <vector>

#include "impact/step_solutions.hpp"
#include "support/step_problem.hpp"

namespace carom::test {

/// Distinct J v' of a step, by the dense enumeration of contact modes.
inline std::vector<Vector> enumerated(const StepProblem& step) {
  const dense::StepModel model(step.dimension, step.delassus(), step.friction, step.directions);
  const Matrix delassus = step.delassus();
  const Vector u = step.contact_velocity();
  const double speed = u.cwiseAbs().maxCoeff();
  const auto velocity_of = [&](const Vector& impulse) -> Vector { return u + delassus * impulse; };
  std::vector<Vector> outcomes;
  for (const dense::StepSolution& solution :
       dense::enumerate_step(model, u, step.limit, 1e-9, velocity_of, dense::kDistinct * speed)) {
    outcomes.push_back(solution.contact_velocity);
  }
  return outcomes;
}

}  // namespace carom::test
