#pragma once

#include <vector>

#include "impact/kernels/contact_path.hpp"
#include "support/scaled_step.hpp"
#include "support/step_problem.hpp"

/// The contact path's body on one problem, without any driver.
namespace carom::test {

struct PathRun {
  bool found = false;
  int pivots = 0;
  int corrections = 0;
  Vector impulse;
};

/// Scales as the drivers do, follows the path in `Real` on `lanes`, and corrects until the tests'
/// own residual is within `tolerance`, three times at most.
template <int Dim, class Real, class Lanes>
PathRun follow_path(const StepProblem& step, const Lanes& lanes, double tolerance = 1e-12) {
  const int m = step.contacts;
  const int rows = Dim * m;
  const ScaledStep<Dim> scaled(step);
  std::vector<Real> reals(static_cast<std::size_t>(kernels::path_real_workspace(Dim, m)));
  std::vector<int> ints(static_cast<std::size_t>(kernels::path_int_workspace(Dim, m)));
  kernels::ContactPath<Dim, Real, Lanes> path(lanes, m, scaled.polygon, step.friction.data(),
                                              reals.data(), ints.data());
  Vector impulse = Vector::Zero(rows);
  const kernels::PathOutcome outcome = path.run(
      scaled.delassus.data(), scaled.u.data(), scaled.limit.data(), 12 * rows + 20, impulse.data());
  PathRun run{outcome.found, outcome.pivots, 0, scaled.scale.cwiseProduct(impulse)};
  while (run.found && run.corrections < 3 && !(full_residual(step, run.impulse) <= tolerance)) {
    if (!path.correct(scaled.delassus.data(), scaled.u.data(), impulse.data())) break;
    ++run.corrections;
    run.impulse = scaled.scale.cwiseProduct(impulse);
  }
  return run;
}

template <class Real, class Lanes>
PathRun follow_path(const StepProblem& step, const Lanes& lanes) {
  return step.dimension == 2 ? follow_path<2, Real>(step, lanes)
                             : follow_path<3, Real>(step, lanes);
}

}  // namespace carom::test
