#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Judges sliders; no solver shares its text.
namespace carom::certificate {

/// The numbers of one problem, or of a pack of them (sliders.hpp).
template <class V>
struct Slider {
  V mass, velocity, impulse, friction, normal_impulse;
};

/// Whether the numbers are those of a problem.
CAROM_INLINE bool is_slider(const Slider<double>& s) {
  using kernels::is_finite;
  return is_finite(s.mass) && s.mass > 0.0 && is_finite(s.velocity) && is_finite(s.impulse) &&
         is_finite(s.friction) && s.friction >= 0.0 && is_finite(s.normal_impulse) &&
         s.normal_impulse >= 0.0;
}

/// Violation of momentum balance and of Coulomb's law, relative to the largest impulse of the
/// problem: |m (v' - v) - p - f| + |f - clamp(f - m v', -mu N, mu N)|. The second term is zero
/// where f is what v' allows. NaN where a number is.
template <class V>
CAROM_INLINE V slider_residual(const Slider<V>& s, V next_velocity, V friction_impulse) {
  using kernels::larger;
  using kernels::magnitude;
  using kernels::select;
  using kernels::smaller;
  const V limit = s.friction * s.normal_impulse;
  const V balance = s.mass * (next_velocity - s.velocity) - s.impulse - friction_impulse;
  const V wanted = friction_impulse - s.mass * next_velocity;
  const V law = friction_impulse - smaller(larger(wanted, -limit), limit);
  const V scale = larger(larger(magnitude(s.mass * s.velocity), magnitude(s.impulse)), limit);
  return (magnitude(balance) + magnitude(law)) / select(scale > V(0.0), scale, V(1.0));
}

}  // namespace carom::certificate
