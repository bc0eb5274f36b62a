#pragma once

#include <cmath>

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/rigid_body.hpp"
#include "models/mechanisms/scenario_base.hpp"

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
  static CAROM_INLINE void inertia_of(const double* p, double* inertia) {
    const double l = p[kLength] * p[kLength];
    const double w = p[kWidth] * p[kWidth];
    const double t = p[kHeight] * p[kHeight];
    inertia[0] = p[kMass] / 12.0 * (w + t);
    inertia[1] = p[kMass] / 12.0 * (l + t);
    inertia[2] = p[kMass] / 12.0 * (l + w);
  }
  /// Gravity is inclined in the (x, z) plane.
  struct Mechanism : BodyOnPlane {
    static constexpr int kRows = 3;
    static constexpr MechanismSizes kSizes{7, 6, 4};
    static CAROM_INLINE MechanismSizes sizes(const double*) { return kSizes; }
    CAROM_INLINE Mechanism(const double* parameters, double, const double* q)
        : BodyOnPlane(parameters[kMass], q), p(parameters) {
      inertia_of(p, inertia_);
    }
    CAROM_INLINE void force(const double* v, double* f) const {
      const double slope = p[kAngle] * kPi / 180.0;
      f[0] = p[kMass] * p[kGravity] * kernels::sine(slope);
      f[1] = 0.0;
      f[2] = -p[kMass] * p[kGravity] * kernels::cosine(slope);
      gyroscopic(inertia_, v + 3, f + 3);
    }
    [[nodiscard]] CAROM_INLINE double potential() const {
      const double slope = p[kAngle] * kPi / 180.0;
      return p[kMass] * p[kGravity] *
             (q_[2] * kernels::cosine(slope) - q_[0] * kernels::sine(slope));
    }
    [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return p[kFriction]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int foot) const {
      return point((foot & 1) != 0 ? 0.5 * p[kLength] : -0.5 * p[kLength],
                   (foot & 2) != 0 ? 0.5 * p[kWidth] : -0.5 * p[kWidth], -0.5 * p[kHeight]);
    }
    CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
      point_row(rotation_, 2, c.r, rows);
      point_row(rotation_, 0, c.r, rows + stride);
      point_row(rotation_, 1, c.r, rows + 2 * stride);
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
      x[0] = centripetal(rotation_ + 6, c.r, v + 3);
      x[1] = centripetal(rotation_, c.r, v + 3);
      x[2] = centripetal(rotation_ + 3, c.r, v + 3);
    }
    CAROM_INLINE double normal_speed(const Constraint& c, const double* v) const {
      double row[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation_, 2, c.r, row);
      double speed = 0.0;
      for (int j = 0; j < 6; ++j) speed = fused(row[j], v[j], speed);
      return speed;
    }

   private:
    const double* p;
  };
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    FreeBody::rest(0.5 * p[kHeight], q, v);
  }
  static CAROM_INLINE bool acts(const double* p, double h, const Mechanism& at,
                                const LevelContact& c, const double* v) {
    return may_touch(c.gap, at.normal_speed(c, v), h, p[kGravity]);
  }
  /// (122), (123): a pseudo-stiffness E sqrt(r) on the depth to the power 3/2.
  static CAROM_INLINE Compliance compliance(const double* p, double h, const Mechanism&, int,
                                            const LevelContact& c) {
    const double phi = c.gap < 0.0 ? -std::pow(-c.gap, p[kExponent]) : c.gap;
    return {RowType::normal, phi, p[kStiffness], c.gap > 0.0 ? 0.0 : p[kDamping],
            p[kTangentDamping] / h};
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    FreeBody::advance(h, q, v);
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
  static CAROM_INLINE double displacement(const double*, const double* q) { return q[0]; }
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
  static CAROM_INLINE int per_side(const double* p) { return whole(p[kElementsPerSide]); }
  static CAROM_INLINE double mass(const double* p) {
    return p[kDensity] * p[kSide] * p[kSide] * p[kSide];
  }
  /// Springs act along z, their columns 0 and 1 are zero. The load is no part of the potential.
  struct Mechanism : BodyOnPlane {
    static constexpr int kRows = 1;
    static CAROM_INLINE MechanismSizes sizes(const double* p) {
      return {7, 6, per_side(p) * per_side(p)};
    }
    CAROM_INLINE Mechanism(const double* parameters, double time, const double* q)
        : BodyOnPlane(ElasticFoundation::mass(parameters), q),
          p(parameters),
          t(time),
          half(0.5 * p[kSide]),
          per_row(per_side(p)),
          edge(p[kSide] / per_row),
          stiffness(ElasticFoundation::stiffness(p)),
          fall(p[kGravity] + p[kLoad] / mass_) {
      inertia_[0] = inertia_[1] = inertia_[2] = mass_ * p[kSide] * p[kSide] / 6.0;
    }
    CAROM_INLINE void force(const double*, double* f) const {
      const double at[3] = {half * kernels::cosine(p[kFrequency] * t),
                            half * kernels::sine(p[kFrequency] * t), half};
      double torque[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation_, 2, at, torque);
      f[0] = f[1] = 0.0;
      f[2] = -mass_ * p[kGravity] - p[kLoad];
      for (int j = 3; j < 6; ++j) f[j] = -p[kLoad] * torque[j];
    }
    [[nodiscard]] CAROM_INLINE double potential() const { return mass_ * p[kGravity] * q_[2]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
      const int row = i / per_row;
      const int column = i % per_row;
      Constraint c = point((row + 0.5) * edge - half, (column + 0.5) * edge - half, -half);
      c.begin = 2;
      return c;
    }
    CAROM_INLINE void jacobian(const Constraint& c, double* row, int) const {
      point_row(rotation_, 2, c.r, row);
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
      x[0] = centripetal(rotation_ + 6, c.r, v + 3);
    }
    CAROM_INLINE double normal_speed(const Constraint& c, const double* v) const {
      double row[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation_, 2, c.r, row);
      double speed = 0.0;
      for (int j = 2; j < 6; ++j) speed = fused(row[j], v[j], speed);
      return speed;
    }

   private:
    const double* p;
    double t;
    double half;
    int per_row;
    double edge;

   public:
    double stiffness;  ///< of one spring
    double fall;       ///< acceleration downward
  };
  static CAROM_INLINE double stiffness(const double* p) {
    const double edge = p[kSide] / per_side(p);
    return p[kModulus] * edge * edge / p[kDepth];
  }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    FreeBody::rest(0.5 * p[kSide], q, v);
  }
  static CAROM_INLINE bool acts(const double*, double h, const Mechanism& at, const LevelContact& c,
                                const double* v) {
    return may_touch(c.gap, at.normal_speed(c, v), h, 4.0 * at.fall);
  }
  static CAROM_INLINE Compliance compliance(const double* p, double, const Mechanism& at, int,
                                            const LevelContact& c) {
    return {RowType::unilateral, c.gap, at.stiffness, c.gap > 0.0 ? 0.0 : p[kDamping]};
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    FreeBody::advance(h, q, v);
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
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[2] - 0.5 * p[kSide];
  }
};

}  // namespace carom::kernels
