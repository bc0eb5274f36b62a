#pragma once

#include <vector>

#include <carom/kernels/contact_path_body.hpp>

#include "friction_polygon.hpp"
#include "impact_prepare.hpp"
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
  Matrix delassus = step.delassus();
  Vector scale(rows);
  for (int i = 0; i < m; ++i) {
    const double s = kernels::contact_scale<Dim>(delassus.data(), m, i);
    scale[i] = s;
    scale.segment(m + (Dim - 1) * i, Dim - 1).setConstant(s);
  }
  delassus = (scale.asDiagonal() * delassus * scale.asDiagonal()).eval();
  const Vector u = scale.cwiseProduct(step.contact_velocity());
  const Vector limit = step.limit.cwiseQuotient(scale.head(m));
  const kernels::FrictionPolygon polygon = friction_polygon(Dim, step.directions);
  std::vector<Real> reals(static_cast<std::size_t>(kernels::path_real_workspace(Dim, m)));
  std::vector<int> ints(static_cast<std::size_t>(kernels::path_int_workspace(Dim, m)));
  kernels::ContactPath<Dim, Real, Lanes> path(lanes, m, polygon, step.friction.data(), reals.data(),
                                              ints.data());
  Vector impulse = Vector::Zero(rows);
  const kernels::PathOutcome outcome =
      path.run(delassus.data(), u.data(), limit.data(), 12 * rows + 20, impulse.data());
  PathRun run{outcome.found, outcome.pivots, 0, scale.cwiseProduct(impulse)};
  while (run.found && run.corrections < 3 && !(full_residual(step, run.impulse) <= tolerance)) {
    if (!path.correct(delassus.data(), u.data(), impulse.data())) break;
    ++run.corrections;
    run.impulse = scale.cwiseProduct(impulse);
  }
  return run;
}

template <class Real, class Lanes>
PathRun follow_path(const StepProblem& step, const Lanes& lanes) {
  return step.dimension == 2 ? follow_path<2, Real>(step, lanes)
                             : follow_path<3, Real>(step, lanes);
}

}  // namespace carom::test
