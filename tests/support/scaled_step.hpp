#pragma once

#include "impact/friction_polygon.hpp"
#include "impact/prepare.hpp"
#include "support/step_problem.hpp"

namespace carom::test {

/// A step with contacts scaled as the drivers do, ready for a body.
template <int Dim>
struct ScaledStep {
  explicit ScaledStep(const StepProblem& step)
      : delassus(step.delassus()),
        scale(Dim * step.contacts),
        polygon(friction_polygon(Dim, step.directions)) {
    const int m = step.contacts;
    for (int i = 0; i < m; ++i) {
      const double s = kernels::contact_scale<Dim>(delassus.data(), m, i);
      scale[i] = s;
      scale.segment(m + (Dim - 1) * i, Dim - 1).setConstant(s);
    }
    delassus = (scale.asDiagonal() * delassus * scale.asDiagonal()).eval();
    u = scale.cwiseProduct(step.contact_velocity());
    limit = step.limit.cwiseQuotient(scale.head(m));
  }

  Matrix delassus;
  Vector scale;  ///< impulse = scale * scaled impulse, velocity = scaled velocity / scale
  Vector u;
  Vector limit;
  kernels::FrictionPolygon polygon;
};

}  // namespace carom::test
