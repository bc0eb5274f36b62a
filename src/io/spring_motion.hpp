#pragma once

#include <array>
#include <cmath>

namespace carom::io {

/// Exact motion of m x'' + b x' + k x = f from x(0), x'(0); m > 0, k >= 0, b >= 0.
class SpringMotion {
 public:
  SpringMotion(double mass, double stiffness, double damping, double position, double velocity,
               double force)
      : mass_(mass),
        stiffness_(stiffness),
        damping_(damping),
        position_(position),
        velocity_(velocity),
        force_(force) {}
  explicit SpringMotion(const std::array<double, 6>& n)
      : SpringMotion(n[0], n[1], n[2], n[3], n[4], n[5]) {}

  /// The constructor's arguments.
  [[nodiscard]] std::array<double, 6> numbers() const {
    return {mass_, stiffness_, damping_, position_, velocity_, force_};
  }

  [[nodiscard]] double position(double t) const {
    const double decay = damping_ / (2.0 * mass_);
    if (stiffness_ == 0.0) return without_spring(t, damping_ / mass_);
    const double rest = force_ / stiffness_;
    const double x = position_ - rest;
    const double square = stiffness_ / mass_ - decay * decay;  // of the damped frequency
    const double s = std::sqrt(std::fabs(square));
    const double speed = velocity_ + decay * x;
    if (s * t < 1e-8) return rest + std::exp(-decay * t) * (x + speed * t);
    if (square > 0.0) {
      return rest + std::exp(-decay * t) * (x * std::cos(s * t) + speed / s * std::sin(s * t));
    }
    // Both rates by a quotient that keeps the slow one's digits where damping is large.
    const double fast = -(decay + s);
    const double slow = stiffness_ / mass_ / fast;
    const double a = (velocity_ - slow * x) / (fast - slow);
    return rest + a * std::exp(fast * t) + (x - a) * std::exp(slow * t);
  }

 private:
  [[nodiscard]] double without_spring(double t, double rate) const {
    if (rate * t < 1e-8) return position_ + velocity_ * t + 0.5 * force_ / mass_ * t * t;
    const double drift = force_ / damping_;
    return position_ + drift * t + (drift - velocity_) * std::expm1(-rate * t) / rate;
  }

  double mass_, stiffness_, damping_, position_, velocity_, force_;
};

}  // namespace carom::io
