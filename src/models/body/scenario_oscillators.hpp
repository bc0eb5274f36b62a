#pragma once

#include <cmath>

#include "models/body/scenario_base.hpp"

/// Scenarios without contact: a spring, pendulums.
namespace carom::kernels {

/// Section 3: m x'' + b x' + k x = f; integrator 0 explicit (7)-(8), 1 semi-implicit (11)-(12), 2
/// implicit (13)-(14), which is the step itself.
struct SpringMassDamper : ScenarioBase {
  enum { kMass, kStiffness, kDamping, kPosition, kVelocity, kForce, kIntegrator, kParameters };
  static constexpr WorldSizes kSizes{1, 1, 1};
  static CAROM_INLINE WorldSizes sizes(const double*) { return kSizes; }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = p[kPosition];
    v[0] = p[kVelocity];
  }
  static CAROM_INLINE void evaluate(const double* p, double, double, const double* q, const double*,
                                    double* inverse_mass, double* force, ConstraintRows& rows) {
    inverse_mass[0] = 1.0 / p[kMass];
    force[0] = p[kForce];
    const int i = rows.add(RowType::bilateral, 0, 0, 1, q[0], p[kStiffness], p[kDamping]);
    rows.row(i)[0] = 1.0;
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    q[0] = fused(h, v[0], q[0]);
  }
  static CAROM_INLINE bool direct(const double* p, double h, double* q, double* v) {
    const double m = p[kMass];
    const double k = p[kStiffness];
    const double b = p[kDamping];
    if (p[kIntegrator] < 0.5) {
      const double x = q[0];
      q[0] = x + h * v[0];
      v[0] = v[0] + h / m * (p[kForce] - b * v[0] - k * x);
      return true;
    }
    if (p[kIntegrator] < 1.5) {
      v[0] = (v[0] + h / m * (p[kForce] - k * q[0])) / (1.0 + h * b / m);
      q[0] = q[0] + h * v[0];
      return true;
    }
    return false;
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    return 0.5 * p[kMass] * v[0] * v[0] + 0.5 * p[kStiffness] * q[0] * q[0];
  }
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[0] - p[kPosition];
  }
};

/// Section 4.4: planar bob (x, y, theta) on a joint at the origin, phi = (x, y) + R(theta) (0, L).
struct PendulumJoint : ScenarioBase {
  enum { kMass, kInertia, kLength, kAngle, kVelocity, kStiffness, kDamping, kGravity, kParameters };
  static constexpr bool kSmooth = true;
  static constexpr WorldSizes kSizes{3, 3, 2};
  static CAROM_INLINE WorldSizes sizes(const double*) { return kSizes; }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    const double angle = p[kAngle] * kPi / 180.0;
    const double s = std::sin(angle);
    // cos of a right angle is no rounding error: the paper starts from energy zero.
    const double c = p[kAngle] == 90.0 || p[kAngle] == -90.0 ? 0.0 : std::cos(angle);
    q[0] = p[kLength] * s;
    q[1] = -p[kLength] * c;
    q[2] = angle;
    v[0] = p[kLength] * c * p[kVelocity];
    v[1] = p[kLength] * s * p[kVelocity];
    v[2] = p[kVelocity];
  }
  static CAROM_INLINE void evaluate(const double* p, double, double, const double* q,
                                    const double* v, double* inverse_mass, double* force,
                                    ConstraintRows& rows) {
    inverse_mass[0] = inverse_mass[1] = 1.0 / p[kMass];
    inverse_mass[2] = 1.0 / p[kInertia];
    force[0] = force[2] = 0.0;
    force[1] = -p[kMass] * p[kGravity];
    const double x = -p[kLength] * std::sin(q[2]);  // R (0, L)
    const double y = p[kLength] * std::cos(q[2]);
    const double arm[2] = {x, y};
    const double turn[2] = {-y, x};
    for (int k = 0; k < 2; ++k) {
      const int i =
          rows.add(RowType::bilateral, k, 0, 3, q[k] + arm[k], p[kStiffness], p[kDamping]);
      rows.row(i)[k] = 1.0;
      rows.row(i)[2] = turn[k];
      rows.jacobian_dot_v[i] = -v[2] * v[2] * arm[k];
    }
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    for (int j = 0; j < 3; ++j) q[j] = fused(h, v[j], q[j]);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    return 0.5 * p[kMass] * (v[0] * v[0] + v[1] * v[1]) + 0.5 * p[kInertia] * v[2] * v[2] +
           p[kMass] * p[kGravity] * q[1];
  }
  /// Deviation of the joint from its nominal place [m].
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    const double x = q[0] - p[kLength] * std::sin(q[2]);
    const double y = q[1] + p[kLength] * std::cos(q[2]);
    return square_root(x * x + y * y);
  }
};

/// Section 5.4: pendulum in its angle, soft limit theta >= 0.
struct PendulumLimit : ScenarioBase {
  enum { kMass, kLength, kAngle, kVelocity, kStiffness, kDamping, kGravity, kParameters };
  static constexpr WorldSizes kSizes{1, 1, 1};
  static CAROM_INLINE WorldSizes sizes(const double*) { return kSizes; }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = p[kAngle] * kPi / 180.0;
    v[0] = p[kVelocity];
  }
  static CAROM_INLINE void evaluate(const double* p, double, double, const double* q, const double*,
                                    double* inverse_mass, double* force, ConstraintRows& rows) {
    inverse_mass[0] = 1.0 / (p[kMass] * p[kLength] * p[kLength]);
    force[0] = -p[kMass] * p[kGravity] * p[kLength] * std::sin(q[0]);
    // Ahead of the limit the row bounds phi at the end of the step; a damper touches nothing there.
    const int i =
        rows.add(RowType::unilateral, 0, 0, 1, q[0], p[kStiffness], q[0] > 0.0 ? 0.0 : p[kDamping]);
    rows.row(i)[0] = 1.0;
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    q[0] = fused(h, v[0], q[0]);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double inertia = p[kMass] * p[kLength] * p[kLength];
    return 0.5 * inertia * v[0] * v[0] - p[kMass] * p[kGravity] * p[kLength] * std::cos(q[0]);
  }
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[0] - p[kAngle] * kPi / 180.0;
  }
};

}  // namespace carom::kernels
