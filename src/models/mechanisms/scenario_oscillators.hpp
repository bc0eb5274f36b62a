#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/scenario_base.hpp"

/// Scenarios without contact: a spring, pendulums.
namespace carom::kernels {

/// Section 3: m x'' + b x' + k x = f; integrator 0 explicit (7)-(8), 1 semi-implicit (11)-(12), 2
/// implicit (13)-(14), which is the step itself.
struct SpringMassDamper : ScenarioBase {
  enum { kMass, kStiffness, kDamping, kPosition, kVelocity, kForce, kIntegrator, kParameters };
  struct Mechanism : PlainMechanism<1, 1, 1> {
    struct Constraint {
      double gap;
      int begin = 0, end = 1;
    };
    double mass, drive, x;
    CAROM_INLINE Mechanism(const double* p, double, const double* q)
        : mass(p[kMass]), drive(p[kForce]), x(q[0]) {}
    CAROM_INLINE void mass_matrix(double* matrix) const { matrix[0] = mass; }
    CAROM_INLINE void inverse_mass(double* inverse) const { inverse[0] = 1.0 / mass; }
    CAROM_INLINE void force(const double*, double* f) const { f[0] = drive; }
    [[nodiscard]] CAROM_INLINE double potential() const { return -drive * x; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int) const { return {x}; }
    CAROM_INLINE void jacobian(const Constraint&, double* row, int) const { row[0] = 1.0; }
    CAROM_INLINE void jacobian_dot_v(const Constraint&, const double*, double* dot) const {
      dot[0] = 0.0;
    }
  };
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = p[kPosition];
    v[0] = p[kVelocity];
  }
  static CAROM_INLINE Compliance compliance(const double* p, double, const Mechanism&, int,
                                            const Mechanism::Constraint& c) {
    return {RowType::bilateral, c.gap, p[kStiffness], p[kDamping]};
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
  /// The joint's coordinates as two constraints of one row.
  struct Mechanism : PlainMechanism<3, 2, 1> {
    struct Constraint {
      double gap;
      int k;
      int begin = 0, end = 3;
    };
    const double* p;
    const double* q;
    double arm[2];  ///< R (0, L)
    CAROM_INLINE Mechanism(const double* parameters, double, const double* position)
        : p(parameters),
          q(position),
          arm{-p[kLength] * kernels::sine(q[2]), p[kLength] * kernels::cosine(q[2])} {}
    CAROM_INLINE void mass_matrix(double* matrix) const {
      const double diagonal[3] = {p[kMass], p[kMass], p[kInertia]};
      put_diagonal(3, diagonal, matrix);
    }
    CAROM_INLINE void inverse_mass(double* inverse) const {
      inverse[0] = inverse[1] = 1.0 / p[kMass];
      inverse[2] = 1.0 / p[kInertia];
    }
    CAROM_INLINE void force(const double*, double* f) const {
      f[0] = f[2] = 0.0;
      f[1] = -p[kMass] * p[kGravity];
    }
    [[nodiscard]] CAROM_INLINE double potential() const { return p[kMass] * p[kGravity] * q[1]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int k) const { return {q[k] + arm[k], k}; }
    CAROM_INLINE void jacobian(const Constraint& c, double* row, int) const {
      row[c.k] = 1.0;
      row[2] = c.k == 0 ? -arm[1] : arm[0];
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* dot) const {
      dot[0] = -v[2] * v[2] * arm[c.k];
    }
  };
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    const double angle = p[kAngle] * kPi / 180.0;
    const double s = kernels::sine(angle);
    // cos of a right angle is no rounding error: the paper starts from energy zero.
    const double c = p[kAngle] == 90.0 || p[kAngle] == -90.0 ? 0.0 : kernels::cosine(angle);
    q[0] = p[kLength] * s;
    q[1] = -p[kLength] * c;
    q[2] = angle;
    v[0] = p[kLength] * c * p[kVelocity];
    v[1] = p[kLength] * s * p[kVelocity];
    v[2] = p[kVelocity];
  }
  static CAROM_INLINE Compliance compliance(const double* p, double, const Mechanism&, int,
                                            const Mechanism::Constraint& c) {
    return {RowType::bilateral, c.gap, p[kStiffness], p[kDamping]};
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
    const double x = q[0] - p[kLength] * kernels::sine(q[2]);
    const double y = q[1] + p[kLength] * kernels::cosine(q[2]);
    return square_root(x * x + y * y);
  }
};

/// Section 5.4: pendulum in its angle, soft limit theta >= 0.
struct PendulumLimit : ScenarioBase {
  enum { kMass, kLength, kAngle, kVelocity, kStiffness, kDamping, kGravity, kParameters };
  struct Mechanism : PlainMechanism<1, 1, 1> {
    struct Constraint {
      double gap;  ///< [rad]
      int begin = 0, end = 1;
    };
    const double* p;
    double angle;
    CAROM_INLINE Mechanism(const double* parameters, double, const double* q)
        : p(parameters), angle(q[0]) {}
    CAROM_INLINE void mass_matrix(double* matrix) const {
      matrix[0] = p[kMass] * p[kLength] * p[kLength];
    }
    CAROM_INLINE void inverse_mass(double* inverse) const {
      inverse[0] = 1.0 / (p[kMass] * p[kLength] * p[kLength]);
    }
    CAROM_INLINE void force(const double*, double* f) const {
      f[0] = -p[kMass] * p[kGravity] * p[kLength] * kernels::sine(angle);
    }
    [[nodiscard]] CAROM_INLINE double potential() const {
      return -p[kMass] * p[kGravity] * p[kLength] * kernels::cosine(angle);
    }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int) const { return {angle}; }
    CAROM_INLINE void jacobian(const Constraint&, double* row, int) const { row[0] = 1.0; }
    CAROM_INLINE void jacobian_dot_v(const Constraint&, const double*, double* dot) const {
      dot[0] = 0.0;
    }
  };
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = p[kAngle] * kPi / 180.0;
    v[0] = p[kVelocity];
  }
  /// Ahead of the limit the row bounds phi at the end of the step; a damper touches nothing there.
  static CAROM_INLINE Compliance compliance(const double* p, double, const Mechanism&, int,
                                            const Mechanism::Constraint& c) {
    return {RowType::unilateral, c.gap, p[kStiffness], c.gap > 0.0 ? 0.0 : p[kDamping]};
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    q[0] = fused(h, v[0], q[0]);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double inertia = p[kMass] * p[kLength] * p[kLength];
    return 0.5 * inertia * v[0] * v[0] -
           p[kMass] * p[kGravity] * p[kLength] * kernels::cosine(q[0]);
  }
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[0] - p[kAngle] * kPi / 180.0;
  }
};

}  // namespace carom::kernels
