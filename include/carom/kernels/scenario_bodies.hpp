#pragma once

#include <cmath>
#include <cstdint>

#include <carom/kernels/constraint_rows.hpp>
#include <carom/kernels/numeric.hpp>

/// Scenarios as functors: M, f, G, (dG/dt) v, phi from (q, v), on host and device. Parameters come
/// in the order of the enumerations; names, units and ranges stand in src/models/scenarios.cpp. All
/// masses are diagonal in the chosen velocities; positions follow q' = q + h N v'.
namespace carom::kernels {

struct WorldSizes {
  int positions, velocities, rows;
};

inline constexpr double kPi = 3.14159265358979323846;

/// What a scenario that leaves a hook alone gets.
struct ScenarioBase {
  static constexpr int kTangents = 1;     ///< rows behind a normal row
  static constexpr bool kMany = false;    ///< CompliantMany instead of CompliantStep
  static CAROM_INLINE bool direct(const double*, double, double*, double*) { return false; }
  static CAROM_INLINE bool finished(const double*, const double*, const double*) { return false; }
};

/// Section 3: m x'' + b x' + k x = f; integrator 0 explicit (7)-(8), 1 semi-implicit (11)-(12), 2
/// implicit (13)-(14), which is the step itself.
struct SpringMassDamper : ScenarioBase {
  enum { kMass, kStiffness, kDamping, kPosition, kVelocity, kForce, kIntegrator, kParameters };
  static CAROM_INLINE WorldSizes sizes(const double*) { return {1, 1, 1}; }
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
  enum {
    kMass, kInertia, kLength, kAngle, kVelocity, kStiffness, kDamping, kGravity, kParameters
  };
  static CAROM_INLINE WorldSizes sizes(const double*) { return {3, 3, 2}; }
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
  static CAROM_INLINE WorldSizes sizes(const double*) { return {1, 1, 1}; }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = p[kAngle] * kPi / 180.0;
    v[0] = p[kVelocity];
  }
  static CAROM_INLINE void evaluate(const double* p, double, double, const double* q, const double*,
                                    double* inverse_mass, double* force, ConstraintRows& rows) {
    inverse_mass[0] = 1.0 / (p[kMass] * p[kLength] * p[kLength]);
    force[0] = -p[kMass] * p[kGravity] * p[kLength] * std::sin(q[0]);
    // Ahead of the limit the row bounds phi at the end of the step; a damper touches nothing there.
    const int i = rows.add(RowType::unilateral, 0, 0, 1, q[0], p[kStiffness],
                           q[0] > 0.0 ? 0.0 : p[kDamping]);
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
  const double size =
      square_root(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  for (int j = 3; j < 7; ++j) q[j] /= size;
}

/// Torque -w x (I w) of a body with principal inertias.
CAROM_INLINE void gyroscopic(const double* inertia, const double* w, double* torque) {
  torque[0] = (inertia[1] - inertia[2]) * w[1] * w[2];
  torque[1] = (inertia[2] - inertia[0]) * w[2] * w[0];
  torque[2] = (inertia[0] - inertia[1]) * w[0] * w[1];
}

/// A row ahead of its contact is there where the gap may close within the step.
CAROM_INLINE bool may_touch(double gap, double speed, double h, double fall) {
  return gap + h * (speed - h * fall) <= 0.0 || gap <= 0.0;
}

/// Section 6.4: box on four spherical feet, on a plane; x downhill, z normal to the plane.
struct InclinedBlock : ScenarioBase {
  static constexpr int kTangents = 2;
  enum {
    kMass, kLength, kWidth, kHeight, kAngle, kFriction, kStiffness, kExponent, kDamping,
    kTangentDamping, kGravity, kParameters
  };
  static CAROM_INLINE WorldSizes sizes(const double*) { return {7, 6, 12}; }
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
                           (foot & 2) != 0 ? 0.5 * p[kWidth] : -0.5 * p[kWidth],
                           -0.5 * p[kHeight]};
      const double gap =
          q[2] + rotation[6] * r[0] + rotation[7] * r[1] + rotation[8] * r[2];
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
    kElementsPerSide, kModulus, kDepth, kDamping, kDensity, kSide, kLoad, kFrequency, kGravity,
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
        const double gap =
            q[2] + rotation[6] * r[0] + rotation[7] * r[1] + rotation[8] * r[2];
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

/// Section 6.5: a column of spheres on the floor. A sphere has six coordinates: its centre and the
/// angles that it has turned through about the world's axes.
struct SphereStack : ScenarioBase {
  static constexpr int kTangents = 2;
  enum {
    kSpheres, kMass, kRadius, kModulus, kDamping, kFriction, kTangentDamping, kGap, kGravity,
    kParameters
  };
  static CAROM_INLINE int count(const double* p) { return static_cast<int>(p[kSpheres] + 0.5); }
  static CAROM_INLINE WorldSizes sizes(const double* p) {
    return {6 * count(p), 6 * count(p), 3 * count(p)};
  }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    for (int j = 0; j < 6 * count(p); ++j) q[j] = v[j] = 0.0;
    for (int i = 0; i < count(p); ++i) {
      q[6 * i + 2] = p[kRadius] * (2 * i + 1) + p[kGap] * (i + 1);
    }
  }
  static CAROM_INLINE void evaluate(const double* p, double, double h, const double* q,
                                    const double* v, double* inverse_mass, double* force,
                                    ConstraintRows& rows) {
    const double radius = p[kRadius];
    const double inertia = 0.4 * p[kMass] * radius * radius;
    for (int i = 0; i < count(p); ++i) {
      for (int j = 0; j < 3; ++j) {
        inverse_mass[6 * i + j] = 1.0 / p[kMass];
        inverse_mass[6 * i + 3 + j] = 1.0 / inertia;
        force[6 * i + j] = j == 2 ? -p[kMass] * p[kGravity] : 0.0;
        force[6 * i + 3 + j] = 0.0;
      }
    }
    for (int i = 0; i < count(p); ++i) {
      const double* upper = q + 6 * i;
      const double* lower = upper - 6;
      double d[3] = {0.0, 0.0, 1.0};
      double distance = upper[2];
      double gap = upper[2] - radius;
      if (i > 0) {
        for (int j = 0; j < 3; ++j) d[j] = upper[j] - lower[j];
        distance = square_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int j = 0; j < 3; ++j) d[j] /= distance;
        gap = distance - 2.0 * radius;
      }
      double relative[3];
      double speed = 0.0;
      for (int j = 0; j < 3; ++j) {
        relative[j] = v[6 * i + j] - (i > 0 ? v[6 * (i - 1) + j] : 0.0);
        speed = fused(d[j], relative[j], speed);
      }
      // The sphere below may be stopped within the step: what it does now bounds nothing.
      if (gap > radius && !may_touch(gap, speed, h, p[kGravity])) continue;
      const int first = i > 0 ? 6 * (i - 1) : 0;
      const int normal = rows.add(RowType::normal, 3 * i, first, 6 * (i + 1), gap,
                                  p[kModulus] * radius, gap > 0.0 ? 0.0 : p[kDamping]);
      rows.friction[normal] = p[kFriction];
      for (int j = 0; j < 3; ++j) {
        rows.row(normal)[6 * i + j] = d[j];
        if (i > 0) rows.row(normal)[6 * (i - 1) + j] = -d[j];
      }
      if (i > 0) {
        const double square = relative[0] * relative[0] + relative[1] * relative[1] +
                              relative[2] * relative[2];
        rows.jacobian_dot_v[normal] = (square - speed * speed) / distance;
      }
      // Tangents: the world's x made normal to d, and d x that.
      const double along = d[0];
      double t[3] = {1.0 - along * d[0], -along * d[1], -along * d[2]};
      const double size = square_root(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
      for (int j = 0; j < 3; ++j) t[j] /= size;
      for (int k = 0; k < 2; ++k) {
        const int row = rows.add(RowType::tangent, 3 * i + 1 + k, first, 6 * (i + 1), 0.0, 0.0,
                                 p[kTangentDamping] / h);
        contact_row(rows.row(row), i, t, d, -radius, 1.0);
        if (i > 0) contact_row(rows.row(row), i - 1, t, d, radius, -1.0);
        const double next[3] = {d[1] * t[2] - d[2] * t[1], d[2] * t[0] - d[0] * t[2],
                                d[0] * t[1] - d[1] * t[0]};
        for (int j = 0; j < 3; ++j) t[j] = next[j];
      }
    }
  }
  /// sign * speed along t of the point at arm * d on sphere i: (t, arm d x t).
  static CAROM_INLINE void contact_row(double* row, int i, const double* t, const double* d,
                                       double arm, double sign) {
    double* part = row + 6 * i;
    for (int j = 0; j < 3; ++j) part[j] = sign * t[j];
    part[3] = sign * arm * (d[1] * t[2] - d[2] * t[1]);
    part[4] = sign * arm * (d[2] * t[0] - d[0] * t[2]);
    part[5] = sign * arm * (d[0] * t[1] - d[1] * t[0]);
  }
  static CAROM_INLINE void advance(const double* p, double h, double* q, const double* v) {
    for (int j = 0; j < 6 * count(p); ++j) q[j] = fused(h, v[j], q[j]);
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double inertia = 0.4 * p[kMass] * p[kRadius] * p[kRadius];
    double sum = 0.0;
    for (int i = 0; i < count(p); ++i) {
      sum += p[kMass] * p[kGravity] * q[6 * i + 2];
      for (int j = 0; j < 3; ++j) {
        sum += 0.5 * (p[kMass] * v[6 * i + j] * v[6 * i + j] +
                      inertia * v[6 * i + 3 + j] * v[6 * i + 3 + j]);
      }
    }
    return sum;
  }
  /// Height of the top sphere above where it touched without deformation.
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[6 * (count(p) - 1) + 2] - p[kRadius] * (2 * count(p) - 1);
  }
};

/// Section 5.4.1 of Halm and Posa: planar block (x, y, theta) falling on the floor, corners A
/// (bottom left) and B (bottom right) as Kelvin-Voigt springs (88) with tangential dampers (89).
struct CompliantBlockImpact : ScenarioBase {
  enum {
    kMass, kWidth, kHeight, kDownward, kFriction, kStiffness, kRatio, kDampingRatio, kAngle,
    kTangentDamping, kGravity, kParameters
  };
  static CAROM_INLINE WorldSizes sizes(const double*) { return {3, 3, 4}; }
  static CAROM_INLINE void corner(const double* p, const double* q, int which, double* arm) {
    const double x = which == 0 ? -0.5 * p[kWidth] : 0.5 * p[kWidth];
    const double y = -0.5 * p[kHeight];
    const double s = std::sin(q[2]);
    const double c = std::cos(q[2]);
    arm[0] = c * x - s * y;
    arm[1] = s * x + c * y;
  }
  /// The lower corner touches; the height that this costs is taken from the speed.
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = 0.0;
    q[2] = p[kAngle] * kPi / 180.0;
    double a[2];
    double b[2];
    corner(p, q, 0, a);
    corner(p, q, 1, b);
    q[1] = -smaller(a[1], b[1]);
    const double raised = q[1] - 0.5 * p[kHeight];
    v[0] = v[2] = 0.0;
    v[1] = -square_root(
        at_least_zero(p[kDownward] * p[kDownward] - 2.0 * p[kGravity] * raised));
  }
  static CAROM_INLINE double stiffness_of(const double* p, int which) {
    const double ratio = p[kRatio];  // k_A / k_B, the smaller of the two is kStiffness
    if (which == 0) return p[kStiffness] * larger(ratio, 1.0);
    return p[kStiffness] * larger(1.0 / ratio, 1.0);
  }
  static CAROM_INLINE void evaluate(const double* p, double, double h, const double* q,
                                    const double* v, double* inverse_mass, double* force,
                                    ConstraintRows& rows) {
    inverse_mass[0] = inverse_mass[1] = 1.0 / p[kMass];
    inverse_mass[2] =
        12.0 / (p[kMass] * (p[kWidth] * p[kWidth] + p[kHeight] * p[kHeight]));
    force[0] = force[2] = 0.0;
    force[1] = -p[kMass] * p[kGravity];
    for (int which = 0; which < 2; ++which) {
      double arm[2];
      corner(p, q, which, arm);
      const double gap = q[1] + arm[1];
      if (!may_touch(gap, v[1] + arm[0] * v[2], h, p[kGravity])) continue;
      const double k = stiffness_of(p, which);
      const double b = 2.0 * p[kDampingRatio] * square_root(k * p[kMass]);
      const int normal =
          rows.add(RowType::normal, 2 * which, 0, 3, gap, k, gap > 0.0 ? 0.0 : b);
      rows.friction[normal] = p[kFriction];
      rows.row(normal)[1] = 1.0;
      rows.row(normal)[2] = arm[0];
      rows.jacobian_dot_v[normal] = -v[2] * v[2] * arm[1];
      const int tangent =
          rows.add(RowType::tangent, 2 * which + 1, 0, 3, 0.0, 0.0, p[kTangentDamping]);
      rows.row(tangent)[0] = 1.0;
      rows.row(tangent)[2] = -arm[1];
      rows.jacobian_dot_v[tangent] = -v[2] * v[2] * arm[0];
    }
  }
  static CAROM_INLINE void advance(const double*, double h, double* q, const double* v) {
    for (int j = 0; j < 3; ++j) q[j] = fused(h, v[j], q[j]);
  }
  /// The impact is over when no corner approaches faster than delta = 1e-3 m/s kg / (min k m).
  static CAROM_INLINE bool finished(const double* p, const double* q, const double* v) {
    const double delta = 1e-3 * p[kMass] / p[kStiffness];
    for (int which = 0; which < 2; ++which) {
      double arm[2];
      corner(p, q, which, arm);
      if (v[1] + arm[0] * v[2] < -delta) return false;
    }
    return true;
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double inertia =
        p[kMass] * (p[kWidth] * p[kWidth] + p[kHeight] * p[kHeight]) / 12.0;
    return 0.5 * p[kMass] * (v[0] * v[0] + v[1] * v[1]) + 0.5 * inertia * v[2] * v[2] +
           p[kMass] * p[kGravity] * q[1];
  }
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[1] - 0.5 * p[kHeight];
  }
};

}  // namespace carom::kernels
