#pragma once

#include <cmath>

#include <carom/device/trigonometry.hpp>

#include "compliant/scenarios/base.hpp"
#include "models/mechanisms/rigid_body.hpp"

/// Scenarios of one free rigid body.
namespace carom::kernels {

/// Section 6.4: box on four spherical feet, on a plane; x downhill, z normal to the plane.
struct InclinedBlock : ScenarioBase {
  static constexpr int kTangents = 2;
  static constexpr int kContacts = 4;
  enum {
    kMass,
    kLength,
    kWidth,
    kHeight,
    kAngle,
    kFriction,
    kStiffness,
    kExponent,
    kDamping,
    kTangentDamping,
    kGravity,
    kParameters
  };
  template <class T>
  static CAROM_INLINE void inertia_of(const T* p, T* inertia) {
    const T l = p[kLength] * p[kLength];
    const T w = p[kWidth] * p[kWidth];
    const T t = p[kHeight] * p[kHeight];
    inertia[0] = p[kMass] / 12.0 * (w + t);
    inertia[1] = p[kMass] / 12.0 * (l + t);
    inertia[2] = p[kMass] / 12.0 * (l + w);
  }
  /// Gravity is inclined in the (x, z) plane.
  template <class T>
  struct MechanismOf : BodyOnPlaneOf<T> {
    using Base = BodyOnPlaneOf<T>;
    using Constraint = typename Base::Constraint;
    using Base::inertia_, Base::rotation_, Base::q_, Base::mass_;
    static constexpr int kRows = 3;
    static constexpr MechanismSizes kSizes{7, 6, 4};
    static CAROM_INLINE MechanismSizes sizes(const T*) { return kSizes; }
    CAROM_INLINE MechanismOf(const T* parameters, T, const T* q)
        : BodyOnPlaneOf<T>(parameters[kMass], q), p(parameters) {
      inertia_of(p, inertia_);
    }
    CAROM_INLINE void force(const T* v, T* f) const {
      const T slope = p[kAngle] * kPi / 180.0;
      f[0] = p[kMass] * p[kGravity] * sine(slope);
      f[1] = 0.0;
      f[2] = -p[kMass] * p[kGravity] * cosine(slope);
      gyroscopic(inertia_, v + 3, f + 3);
    }
    [[nodiscard]] CAROM_INLINE T potential() const {
      const T slope = p[kAngle] * kPi / 180.0;
      return p[kMass] * p[kGravity] * (q_[2] * cosine(slope) - q_[0] * sine(slope));
    }
    [[nodiscard]] CAROM_INLINE T friction(const Constraint&) const { return p[kFriction]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int foot) const {
      return this->point((foot & 1) != 0 ? 0.5 * p[kLength] : -0.5 * p[kLength],
                         (foot & 2) != 0 ? 0.5 * p[kWidth] : -0.5 * p[kWidth], -0.5 * p[kHeight]);
    }
    CAROM_INLINE void jacobian(const Constraint& c, T* rows, int stride) const {
      point_row(rotation_, 2, c.r, rows);
      point_row(rotation_, 0, c.r, rows + stride);
      point_row(rotation_, 1, c.r, rows + 2 * stride);
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const T* v, T* x) const {
      T turning[3];
      centripetal_in_body(c.r, v + 3, turning);
      x[0] = component(rotation_ + 6, turning);
      x[1] = component(rotation_, turning);
      x[2] = component(rotation_ + 3, turning);
    }
    CAROM_INLINE T normal_speed(const Constraint& c, const T* v) const {
      T row[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation_, 2, c.r, row);
      T speed = 0.0;
      for (int j = 0; j < 6; ++j) speed = fused(row[j], v[j], speed);
      return speed;
    }

   private:
    const T* p;
  };
  using Mechanism = MechanismOf<double>;
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    FreeBodyOf<T>::rest(0.5 * p[kHeight], q, v);
  }
  template <class T>
  static CAROM_INLINE bool acts(const T* p, T h, const MechanismOf<T>& at,
                                const LevelContactOf<T>& c, const T* v) {
    return may_touch(c.gap, at.normal_speed(c, v), h, p[kGravity]);
  }
  /// (122), (123): a pseudo-stiffness E sqrt(r) on the depth to the power 3/2.
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T h, const MechanismOf<T>&, int,
                                                 const LevelContactOf<T>& c) {
    const T phi = c.gap < 0.0 ? -power(-c.gap, p[kExponent]) : c.gap;
    return {RowType::normal, phi, p[kStiffness], c.gap > 0.0 ? 0.0 : p[kDamping],
            p[kTangentDamping] / h};
  }
  template <class T>
  static CAROM_INLINE void advance(const T*, T h, T* q, const T* v) {
    FreeBodyOf<T>::advance(h, q, v);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double slope = p[kAngle] * kPi / 180.0;
    double inertia[3];
    inertia_of(p, inertia);
    double sum = 0.0;
    for (int j = 0; j < 3; ++j) {
      sum += 0.5 * (p[kMass] * v[j] * v[j] + inertia[j] * v[3 + j] * v[3 + j]);
    }
    return sum +
           p[kMass] * p[kGravity] * (q[2] * kernels::cosine(slope) - q[0] * kernels::sine(slope));
  }
  template <class T>
  static CAROM_INLINE T displacement(const T*, const T* q) {
    return q[0];
  }
};

/// Section 5.5: cube on a Winkler foundation of side x side springs, pressed down at a circling
/// point of its top. Frictionless.
struct ElasticFoundation : ScenarioBase {
  static constexpr bool kMany = true;
  enum {
    kElementsPerSide,
    kModulus,
    kDepth,
    kDamping,
    kDensity,
    kSide,
    kLoad,
    kFrequency,
    kGravity,
    kParameters
  };
  template <class T>
  static CAROM_INLINE int per_side(const T* p) {
    return whole(p[kElementsPerSide]);
  }
  template <class T>
  static CAROM_INLINE T mass(const T* p) {
    return p[kDensity] * p[kSide] * p[kSide] * p[kSide];
  }
  /// Springs act along z, their columns 0 and 1 are zero. The load is no part of the potential.
  template <class T>
  struct MechanismOf : BodyOnPlaneOf<T> {
    using Base = BodyOnPlaneOf<T>;
    using Constraint = typename Base::Constraint;
    using Base::inertia_, Base::rotation_, Base::q_, Base::mass_;
    static constexpr int kRows = 1;
    static CAROM_INLINE MechanismSizes sizes(const T* p) {
      return {7, 6, per_side(p) * per_side(p)};
    }
    CAROM_INLINE MechanismOf(const T* parameters, T time, const T* q)
        : BodyOnPlaneOf<T>(ElasticFoundation::mass(parameters), q),
          p(parameters),
          t(time),
          half(0.5 * p[kSide]),
          per_row(per_side(p)),
          edge(p[kSide] / per_row),
          stiffness(ElasticFoundation::stiffness(p)),
          fall(p[kGravity] + p[kLoad] / mass_) {
      inertia_[0] = inertia_[1] = inertia_[2] = mass_ * p[kSide] * p[kSide] / 6.0;
    }
    CAROM_INLINE void force(const T*, T* f) const {
      const T at[3] = {half * cosine(p[kFrequency] * t), half * sine(p[kFrequency] * t), half};
      T torque[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation_, 2, at, torque);
      f[0] = f[1] = 0.0;
      f[2] = -mass_ * p[kGravity] - p[kLoad];
      for (int j = 3; j < 6; ++j) f[j] = -p[kLoad] * torque[j];
    }
    [[nodiscard]] CAROM_INLINE T potential() const { return mass_ * p[kGravity] * q_[2]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
      const int row = i / per_row;
      const int column = i % per_row;
      Constraint c = this->point((row + 0.5) * edge - half, (column + 0.5) * edge - half, -half);
      c.begin = 2;
      return c;
    }
    CAROM_INLINE void jacobian(const Constraint& c, T* row, int) const {
      point_row(rotation_, 2, c.r, row);
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const T* v, T* x) const {
      T turning[3];
      centripetal_in_body(c.r, v + 3, turning);
      x[0] = component(rotation_ + 6, turning);
    }
    CAROM_INLINE T normal_speed(const Constraint& c, const T* v) const {
      T row[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation_, 2, c.r, row);
      T speed = 0.0;
      for (int j = 2; j < 6; ++j) speed = fused(row[j], v[j], speed);
      return speed;
    }

   private:
    const T* p;
    T t;
    T half;
    int per_row;
    T edge;

   public:
    T stiffness;  ///< of one spring
    T fall;       ///< acceleration downward
  };
  using Mechanism = MechanismOf<double>;
  template <class T>
  static CAROM_INLINE T stiffness(const T* p) {
    const T edge = p[kSide] / per_side(p);
    return p[kModulus] * edge * edge / p[kDepth];
  }
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    FreeBodyOf<T>::rest(0.5 * p[kSide], q, v);
  }
  template <class T>
  static CAROM_INLINE bool acts(const T*, T h, const MechanismOf<T>& at, const LevelContactOf<T>& c,
                                const T* v) {
    return may_touch(c.gap, at.normal_speed(c, v), h, 4.0 * at.fall);
  }
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T, const MechanismOf<T>& at, int,
                                                 const LevelContactOf<T>& c) {
    return {RowType::unilateral, c.gap, at.stiffness, c.gap > 0.0 ? 0.0 : p[kDamping]};
  }
  template <class T>
  static CAROM_INLINE void advance(const T*, T h, T* q, const T* v) {
    FreeBodyOf<T>::advance(h, q, v);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double m = mass(p);
    const double inertia = m * p[kSide] * p[kSide] / 6.0;
    double sum = m * p[kGravity] * (q[2] - 0.5 * p[kSide]);
    for (int j = 0; j < 3; ++j) sum += 0.5 * (m * v[j] * v[j] + inertia * v[3 + j] * v[3 + j]);
    double rotation[9];
    rotation_of(q + 3, rotation);
    const int n = per_side(p);
    const double half = 0.5 * p[kSide];
    const double edge = p[kSide] / n;
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        const double gap = q[2] + rotation[6] * ((a + 0.5) * edge - half) +
                           rotation[7] * ((b + 0.5) * edge - half) - rotation[8] * half;
        if (gap < 0.0) sum += 0.5 * stiffness(p) * gap * gap;
      }
    }
    return sum;
  }
  template <class T>
  static CAROM_INLINE T displacement(const T* p, const T* q) {
    return q[2] - 0.5 * p[kSide];
  }
};

}  // namespace carom::kernels
