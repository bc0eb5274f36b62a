#include <cmath>

#include <carom/certificate.hpp>
#include <carom/certificate_sliders.hpp>

#include "core/parallel.hpp"
#include "programs/sliders/backends.hpp"

namespace carom::reference {

/// By cases, as a textbook has them: a block sticks if friction can stop it, else it slides on.
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings) {
  auto result = allocate<SliderResult>(batch);
  fill_nan(result);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t problem) {
    const auto p = static_cast<std::size_t>(problem);
    const certificate::Slider<double> s{batch.mass.host()[p], batch.velocity.host()[p],
                                        batch.impulse.host()[p], batch.friction.host()[p],
                                        batch.normal_impulse.host()[p]};
    Status& status = result.status.host()[p];
    status = Status::invalid_input;
    if (!certificate::is_slider(s)) return;
    const double momentum = s.mass * s.velocity + s.impulse;
    const double limit = s.friction * s.normal_impulse;
    double velocity = 0.0;
    double friction = -momentum;
    if (std::fabs(momentum) > limit) {
      friction = std::copysign(limit, -momentum);
      velocity = std::copysign(std::fabs(momentum) - limit, momentum) / s.mass;
    }
    const double residual = certificate::slider_residual(s, velocity, friction);
    status = Status::numerical_error;
    if (!std::isfinite(residual)) return;
    status =
        certificate::within(residual, settings.tolerance) ? Status::solved : Status::inaccurate;
    result.next_velocity.host()[p] = velocity;
    result.friction_impulse.host()[p] = friction;
    result.residual.host()[p] = residual;
  });
  return result;
}

template <>
const SliderEntries& entries() {
  static constexpr SliderEntries kEntries{solve_sliders};
  return kEntries;
}

}  // namespace carom::reference
