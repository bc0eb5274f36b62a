#pragma once

#include <cmath>

#include "models/body/scenario_base.hpp"

/// Scenarios of one free rigid body.
namespace carom::kernels {

// Free rigid bodies: q = (x, y, z, w, i, j, k), v = (velocity in the world, angular in the body).

CAROM_INLINE void rotation_of(const double* quaternion, double* r) {
  const double w = quaternion[0];
  const double x = quaternion[1];
  const double y = quaternion[2];
  const double z = quaternion[3];
  r[0] = 1.0 - 2.0 * (y * y + z * z);
  r[1] = 2.0 * (x * y - w * z);
  r[2] = 2.0 * (x * z + w * y);
  r[3] = 2.0 * (x * y + w * z);
  r[4] = 1.0 - 2.0 * (x * x + z * z);
  r[5] = 2.0 * (y * z - w * x);
  r[6] = 2.0 * (x * z - w * y);
  r[7] = 2.0 * (y * z + w * x);
  r[8] = 1.0 - 2.0 * (x * x + y * y);
}

/// Row of the speed along world axis `axis` of body point r (body frame): (e, r x R'e).
CAROM_INLINE void point_row(const double* rotation, int axis, const double* r, double* row) {
  const double* d = rotation + 3 * axis;  // R'e
  row[axis] = 1.0;
  row[3] = r[1] * d[2] - r[2] * d[1];
  row[4] = r[2] * d[0] - r[0] * d[2];
  row[5] = r[0] * d[1] - r[1] * d[0];
}

/// Component along `axis` of the centripetal acceleration R (w x (w x r)).
CAROM_INLINE double point_centripetal(const double* rotation, int axis, const double* r,
                                      const double* w) {
  const double along = w[0] * r[0] + w[1] * r[1] + w[2] * r[2];
  const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  const double* d = rotation + 3 * axis;
  double sum = 0.0;
  for (int j = 0; j < 3; ++j) sum = fused(d[j], w[j] * along - r[j] * square, sum);
  return sum;
}

/// q' = q + h N v', the quaternion brought back to unit length.
CAROM_INLINE void advance_body(double h, double* q, const double* v) {
  for (int j = 0; j < 3; ++j) q[j] = fused(h, v[j], q[j]);
  const double w = q[3];
  const double x = q[4];
  const double y = q[5];
  const double z = q[6];
  const double* a = v + 3;
  const double half = 0.5 * h;
  q[3] = w - half * (x * a[0] + y * a[1] + z * a[2]);
  q[4] = x + half * (w * a[0] + y * a[2] - z * a[1]);
  q[5] = y + half * (w * a[1] + z * a[0] - x * a[2]);
  q[6] = z + half * (w * a[2] + x * a[1] - y * a[0]);
  const double size = square_root(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  for (int j = 3; j < 7; ++j) q[j] /= size;
}

/// Torque -w x (I w) of a body with principal inertias.
CAROM_INLINE void gyroscopic(const double* inertia, const double* w, double* torque) {
  torque[0] = (inertia[1] - inertia[2]) * w[1] * w[2];
  torque[1] = (inertia[2] - inertia[0]) * w[2] * w[0];
  torque[2] = (inertia[0] - inertia[1]) * w[0] * w[1];
}

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
  static constexpr WorldSizes kSizes{7, 6, 12};
  static CAROM_INLINE WorldSizes sizes(const double*) { return kSizes; }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    for (int j = 0; j < 7; ++j) q[j] = 0.0;
    for (int j = 0; j < 6; ++j) v[j] = 0.0;
    q[2] = 0.5 * p[kHeight];
    q[3] = 1.0;
  }
  static CAROM_INLINE void inertia_of(const double* p, double* inertia) {
    const double l = p[kLength] * p[kLength];
    const double w = p[kWidth] * p[kWidth];
    const double t = p[kHeight] * p[kHeight];
    inertia[0] = p[kMass] / 12.0 * (w + t);
    inertia[1] = p[kMass] / 12.0 * (l + t);
    inertia[2] = p[kMass] / 12.0 * (l + w);
  }
  static CAROM_INLINE void evaluate(const double* p, double, double h, const double* q,
                                    const double* v, double* inverse_mass, double* force,
                                    ConstraintRows& rows) {
    const double slope = p[kAngle] * kPi / 180.0;
    double inertia[3];
    inertia_of(p, inertia);
    for (int j = 0; j < 3; ++j) {
      inverse_mass[j] = 1.0 / p[kMass];
      inverse_mass[3 + j] = 1.0 / inertia[j];
    }
    force[0] = p[kMass] * p[kGravity] * std::sin(slope);
    force[1] = 0.0;
    force[2] = -p[kMass] * p[kGravity] * std::cos(slope);
    gyroscopic(inertia, v + 3, force + 3);
    double rotation[9];
    rotation_of(q + 3, rotation);
    for (int foot = 0; foot < 4; ++foot) {
      const double r[3] = {(foot & 1) != 0 ? 0.5 * p[kLength] : -0.5 * p[kLength],
                           (foot & 2) != 0 ? 0.5 * p[kWidth] : -0.5 * p[kWidth], -0.5 * p[kHeight]};
      const double gap = q[2] + rotation[6] * r[0] + rotation[7] * r[1] + rotation[8] * r[2];
      double row[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      point_row(rotation, 2, r, row);
      double speed = 0.0;
      for (int j = 0; j < 6; ++j) speed = fused(row[j], v[j], speed);
      if (!may_touch(gap, speed, h, p[kGravity])) continue;
      // (122), (123): a pseudo-stiffness E sqrt(r) on the depth to the power 3/2.
      const double phi = gap < 0.0 ? -std::pow(-gap, p[kExponent]) : gap;
      const int normal = rows.add(RowType::normal, 3 * foot, 0, 6, phi, p[kStiffness],
                                  gap > 0.0 ? 0.0 : p[kDamping]);
      rows.friction[normal] = p[kFriction];
      for (int j = 0; j < 6; ++j) rows.row(normal)[j] = row[j];
      rows.jacobian_dot_v[normal] = point_centripetal(rotation, 2, r, v + 3);
      for (int k = 0; k < 2; ++k) {
        const int i =
            rows.add(RowType::tangent, 3 * foot + 1 + k, 0, 6, 0.0, 0.0, p[kTangentDamping] / h);
        point_row(rotation, k, r, rows.row(i));
        rows.jacobian_dot_v[i] = point_centripetal(rotation, k, r, v + 3);
      }
    }
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    advance_body(h, q, v);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double slope = p[kAngle] * kPi / 180.0;
    double inertia[3];
    inertia_of(p, inertia);
    double sum = 0.0;
    for (int j = 0; j < 3; ++j) {
      sum += 0.5 * (p[kMass] * v[j] * v[j] + inertia[j] * v[3 + j] * v[3 + j]);
    }
    return sum + p[kMass] * p[kGravity] * (q[2] * std::cos(slope) - q[0] * std::sin(slope));
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
  static CAROM_INLINE int per_side(const double* p) {
    return static_cast<int>(p[kElementsPerSide] + 0.5);
  }
  static CAROM_INLINE WorldSizes sizes(const double* p) {
    return {7, 6, per_side(p) * per_side(p)};
  }
  static CAROM_INLINE double mass(const double* p) {
    return p[kDensity] * p[kSide] * p[kSide] * p[kSide];
  }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    for (int j = 0; j < 7; ++j) q[j] = 0.0;
    for (int j = 0; j < 6; ++j) v[j] = 0.0;
    q[2] = 0.5 * p[kSide];
    q[3] = 1.0;
  }
  static CAROM_INLINE void evaluate(const double* p, double t, double h, const double* q,
                                    const double* v, double* inverse_mass, double* force,
                                    ConstraintRows& rows) {
    const double m = mass(p);
    const double inertia = m * p[kSide] * p[kSide] / 6.0;
    for (int j = 0; j < 3; ++j) {
      inverse_mass[j] = 1.0 / m;
      inverse_mass[3 + j] = 1.0 / inertia;
    }
    double rotation[9];
    rotation_of(q + 3, rotation);
    const double half = 0.5 * p[kSide];
    const double at[3] = {half * std::cos(p[kFrequency] * t), half * std::sin(p[kFrequency] * t),
                          half};
    double torque[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    point_row(rotation, 2, at, torque);
    force[0] = force[1] = 0.0;
    force[2] = -m * p[kGravity] - p[kLoad];
    for (int j = 3; j < 6; ++j) force[j] = -p[kLoad] * torque[j];
    const int n = per_side(p);
    const double edge = p[kSide] / n;
    const double stiffness = p[kModulus] * edge * edge / p[kDepth];
    const double fall = p[kGravity] + p[kLoad] / m;
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        const double r[3] = {(a + 0.5) * edge - half, (b + 0.5) * edge - half, -half};
        const double gap = q[2] + rotation[6] * r[0] + rotation[7] * r[1] + rotation[8] * r[2];
        double row[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        point_row(rotation, 2, r, row);
        double speed = 0.0;
        for (int j = 2; j < 6; ++j) speed = fused(row[j], v[j], speed);
        if (!may_touch(gap, speed, h, 4.0 * fall)) continue;
        const int i = rows.add(RowType::unilateral, a * n + b, 2, 6, gap, stiffness,
                               gap > 0.0 ? 0.0 : p[kDamping]);
        for (int j = 2; j < 6; ++j) rows.row(i)[j] = row[j];
        rows.jacobian_dot_v[i] = point_centripetal(rotation, 2, r, v + 3);
      }
    }
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    advance_body(h, q, v);
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
    const double stiffness = p[kModulus] * edge * edge / p[kDepth];
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        const double gap = q[2] + rotation[6] * ((a + 0.5) * edge - half) +
                           rotation[7] * ((b + 0.5) * edge - half) - rotation[8] * half;
        if (gap < 0.0) sum += 0.5 * stiffness * gap * gap;
      }
    }
    return sum;
  }
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[2] - 0.5 * p[kSide];
  }
};

}  // namespace carom::kernels
