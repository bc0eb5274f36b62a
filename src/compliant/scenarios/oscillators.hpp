#pragma once

#include <carom/device/trigonometry.hpp>

#include "compliant/scenarios/base.hpp"

/// Scenarios without contact: a spring, pendulums.
namespace carom::kernels {

/// Section 3: m x'' + b x' + k x = f; integrator 0 explicit (7)-(8), 1 semi-implicit (11)-(12), 2
/// implicit (13)-(14), which is the step itself.
struct SpringMassDamper : ScenarioBase {
  enum { kMass, kStiffness, kDamping, kPosition, kVelocity, kForce, kIntegrator, kParameters };
  template <class T>
  struct MechanismOf : PlainMechanism<1, 1, 1> {
    struct Constraint {
      T gap;
      int begin = 0, end = 1;
    };
    T mass, drive, x;
    CAROM_INLINE MechanismOf(const T* p, T, const T* q)
        : mass(p[kMass]), drive(p[kForce]), x(q[0]) {}
    CAROM_INLINE void mass_matrix(T* matrix) const { matrix[0] = mass; }
    CAROM_INLINE void inverse_mass(T* inverse) const { inverse[0] = 1.0 / mass; }
    CAROM_INLINE void force(const T*, T* f) const { f[0] = drive; }
    [[nodiscard]] CAROM_INLINE T potential() const { return -drive * x; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int) const { return {x}; }
    CAROM_INLINE void jacobian(const Constraint&, T* row, int) const { row[0] = 1.0; }
    CAROM_INLINE void jacobian_dot_v(const Constraint&, const T*, T* dot) const { dot[0] = 0.0; }
  };
  using Mechanism = MechanismOf<double>;
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    q[0] = p[kPosition];
    v[0] = p[kVelocity];
  }
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T, const MechanismOf<T>&, int,
                                                 const typename MechanismOf<T>::Constraint& c) {
    return {RowType::bilateral, c.gap, p[kStiffness], p[kDamping]};
  }
  template <class T>
  static CAROM_INLINE void advance(const T*, T h, T* q, const T* v) {
    q[0] = fused(h, v[0], q[0]);
  }
  template <class T>
  static CAROM_INLINE bool direct(const T* p, T h, T* q, T* v) {
    const T m = p[kMass];
    const T k = p[kStiffness];
    const T b = p[kDamping];
    if (p[kIntegrator] < 0.5) {
      const T x = q[0];
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
  template <class T>
  static CAROM_INLINE T displacement(const T* p, const T* q) {
    return q[0] - p[kPosition];
  }
};

/// Section 4.4: planar bob (x, y, theta) on a joint at the origin, phi = (x, y) + R(theta) (0, L).
struct PendulumJoint : ScenarioBase {
  enum { kMass, kInertia, kLength, kAngle, kVelocity, kStiffness, kDamping, kGravity, kParameters };
  static constexpr bool kSmooth = true;
  /// The joint's coordinates as two constraints of one row.
  template <class T>
  struct MechanismOf : PlainMechanism<3, 2, 1> {
    struct Constraint {
      T gap;
      int k;
      int begin = 0, end = 3;
    };
    const T* p;
    const T* q;
    T arm[2];  ///< R (0, L)
    CAROM_INLINE MechanismOf(const T* parameters, T, const T* position)
        : p(parameters), q(position), arm{-p[kLength] * sine(q[2]), p[kLength] * cosine(q[2])} {}
    CAROM_INLINE void mass_matrix(T* matrix) const {
      const T diagonal[3] = {p[kMass], p[kMass], p[kInertia]};
      put_diagonal(3, diagonal, matrix);
    }
    CAROM_INLINE void inverse_mass(T* inverse) const {
      inverse[0] = inverse[1] = 1.0 / p[kMass];
      inverse[2] = 1.0 / p[kInertia];
    }
    CAROM_INLINE void force(const T*, T* f) const {
      f[0] = f[2] = 0.0;
      f[1] = -p[kMass] * p[kGravity];
    }
    [[nodiscard]] CAROM_INLINE T potential() const { return p[kMass] * p[kGravity] * q[1]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int k) const { return {q[k] + arm[k], k}; }
    CAROM_INLINE void jacobian(const Constraint& c, T* row, int) const {
      row[c.k] = 1.0;
      row[2] = c.k == 0 ? -arm[1] : arm[0];
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const T* v, T* dot) const {
      dot[0] = -v[2] * v[2] * arm[c.k];
    }
  };
  using Mechanism = MechanismOf<double>;
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    const T angle = p[kAngle] * kPi / 180.0;
    const T s = sine(angle);
    T c = cosine(angle);
    // cos of a right angle is no rounding error: the paper starts from energy zero.
    if (p[kAngle] == 90.0 || p[kAngle] == -90.0) c -= T(number_of(c));
    q[0] = p[kLength] * s;
    q[1] = -p[kLength] * c;
    q[2] = angle;
    v[0] = p[kLength] * c * p[kVelocity];
    v[1] = p[kLength] * s * p[kVelocity];
    v[2] = p[kVelocity];
  }
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T, const MechanismOf<T>&, int,
                                                 const typename MechanismOf<T>::Constraint& c) {
    return {RowType::bilateral, c.gap, p[kStiffness], p[kDamping]};
  }
  template <class T>
  static CAROM_INLINE void advance(const T*, T h, T* q, const T* v) {
    for (int j = 0; j < 3; ++j) q[j] = fused(h, v[j], q[j]);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    return 0.5 * p[kMass] * (v[0] * v[0] + v[1] * v[1]) + 0.5 * p[kInertia] * v[2] * v[2] +
           p[kMass] * p[kGravity] * q[1];
  }
  /// Deviation of the joint from its nominal place [m].
  template <class T>
  static CAROM_INLINE T displacement(const T* p, const T* q) {
    const T x = q[0] - p[kLength] * sine(q[2]);
    const T y = q[1] + p[kLength] * cosine(q[2]);
    return square_root(x * x + y * y);
  }
};

/// Section 5.4: pendulum in its angle, soft limit theta >= 0.
struct PendulumLimit : ScenarioBase {
  enum { kMass, kLength, kAngle, kVelocity, kStiffness, kDamping, kGravity, kParameters };
  template <class T>
  struct MechanismOf : PlainMechanism<1, 1, 1> {
    struct Constraint {
      T gap;  ///< [rad]
      int begin = 0, end = 1;
    };
    const T* p;
    T angle;
    CAROM_INLINE MechanismOf(const T* parameters, T, const T* q) : p(parameters), angle(q[0]) {}
    CAROM_INLINE void mass_matrix(T* matrix) const {
      matrix[0] = p[kMass] * p[kLength] * p[kLength];
    }
    CAROM_INLINE void inverse_mass(T* inverse) const {
      inverse[0] = 1.0 / (p[kMass] * p[kLength] * p[kLength]);
    }
    CAROM_INLINE void force(const T*, T* f) const {
      f[0] = -p[kMass] * p[kGravity] * p[kLength] * sine(angle);
    }
    [[nodiscard]] CAROM_INLINE T potential() const {
      return -p[kMass] * p[kGravity] * p[kLength] * cosine(angle);
    }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int) const { return {angle}; }
    CAROM_INLINE void jacobian(const Constraint&, T* row, int) const { row[0] = 1.0; }
    CAROM_INLINE void jacobian_dot_v(const Constraint&, const T*, T* dot) const { dot[0] = 0.0; }
  };
  using Mechanism = MechanismOf<double>;
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    q[0] = p[kAngle] * kPi / 180.0;
    v[0] = p[kVelocity];
  }
  /// Ahead of the limit the row bounds phi at the end of the step; a damper touches nothing there.
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T, const MechanismOf<T>&, int,
                                                 const typename MechanismOf<T>::Constraint& c) {
    return {RowType::unilateral, c.gap, p[kStiffness], c.gap > 0.0 ? 0.0 : p[kDamping]};
  }
  template <class T>
  static CAROM_INLINE void advance(const T*, T h, T* q, const T* v) {
    q[0] = fused(h, v[0], q[0]);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double inertia = p[kMass] * p[kLength] * p[kLength];
    return 0.5 * inertia * v[0] * v[0] -
           p[kMass] * p[kGravity] * p[kLength] * kernels::cosine(q[0]);
  }
  template <class T>
  static CAROM_INLINE T displacement(const T* p, const T* q) {
    return q[0] - p[kAngle] * kPi / 180.0;
  }
};

}  // namespace carom::kernels
