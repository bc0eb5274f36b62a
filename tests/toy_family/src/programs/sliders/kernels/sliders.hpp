#pragma once

#include <limits>

#include <carom/certificate.hpp>
#include <carom/certificate_sliders.hpp>
#include <carom/types/sliders.hpp>
#include <carom/types/status.hpp>

#include "core/pointers.hpp"

/// The step of a slider, written once for a double and for a pack of them.
namespace carom::kernels {

template <class V>
struct SliderStep {
  V velocity, friction_impulse;
};

/// Friction takes what momentum it can: f is -(m v + p), clamped to what mu N allows.
template <class V>
CAROM_INLINE SliderStep<V> step_slider(const certificate::Slider<V>& s) {
  const V momentum = fused(s.mass, s.velocity, s.impulse);
  const V limit = s.friction * s.normal_impulse;
  const V friction = smaller(larger(-momentum, -limit), limit);
  return {(momentum + friction) / s.mass, friction};
}

/// A batch and its result as a body sees them.
struct SliderView : SliderBatchArrays<ConstPointer>, SliderResultArrays<Pointer> {
  double tolerance;

  /// Writes what was found for problem p, or NaN and why not.
  CAROM_INLINE void write(std::int64_t p, const SliderStep<double>& step, double found) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const bool usable = certificate::is_slider(problem(p));
    const bool answered = usable && is_finite(found);
    next_velocity[p] = answered ? step.velocity : kNan;
    friction_impulse[p] = answered ? step.friction_impulse : kNan;
    residual[p] = answered ? found : kNan;
    status[p] = !usable                                 ? Status::invalid_input
                : !answered                             ? Status::numerical_error
                : certificate::within(found, tolerance) ? Status::solved
                                                        : Status::inaccurate;
  }

  [[nodiscard]] CAROM_INLINE certificate::Slider<double> problem(std::int64_t p) const {
    return {mass[p], velocity[p], impulse[p], friction[p], normal_impulse[p]};
  }

  /// Problem p by itself.
  CAROM_INLINE void solve(std::int64_t p) const {
    const certificate::Slider<double> slider = problem(p);
    const SliderStep<double> step = step_slider(slider);
    write(p, step, certificate::slider_residual(slider, step.velocity, step.friction_impulse));
  }
};

}  // namespace carom::kernels
