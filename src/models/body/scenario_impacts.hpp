#pragma once

#include <cmath>

#include "models/body/scenario_base.hpp"

/// Scenarios of spheres and of the planar block.
namespace carom::kernels {

/// Section 6.5: a column of spheres on the floor. A sphere has six coordinates: its centre and the
/// angles that it has turned through about the world's axes.
struct SphereStack : ScenarioBase {
  static constexpr int kTangents = 2;
  enum {
    kSpheres,
    kMass,
    kRadius,
    kModulus,
    kDamping,
    kFriction,
    kTangentDamping,
    kGap,
    kGravity,
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
        const double square =
            relative[0] * relative[0] + relative[1] * relative[1] + relative[2] * relative[2];
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
    kMass,
    kWidth,
    kHeight,
    kDownward,
    kFriction,
    kStiffness,
    kRatio,
    kDampingRatio,
    kAngle,
    kTangentDamping,
    kGravity,
    kParameters
  };
  static constexpr WorldSizes kSizes{3, 3, 4};
  static CAROM_INLINE WorldSizes sizes(const double*) { return kSizes; }
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
    v[1] = -square_root(at_least_zero(p[kDownward] * p[kDownward] - 2.0 * p[kGravity] * raised));
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
    inverse_mass[2] = 12.0 / (p[kMass] * (p[kWidth] * p[kWidth] + p[kHeight] * p[kHeight]));
    force[0] = force[2] = 0.0;
    force[1] = -p[kMass] * p[kGravity];
    for (int which = 0; which < 2; ++which) {
      double arm[2];
      corner(p, q, which, arm);
      const double gap = q[1] + arm[1];
      if (!may_touch(gap, v[1] + arm[0] * v[2], h, p[kGravity])) continue;
      const double k = stiffness_of(p, which);
      const double b = 2.0 * p[kDampingRatio] * square_root(k * p[kMass]);
      const int normal = rows.add(RowType::normal, 2 * which, 0, 3, gap, k, gap > 0.0 ? 0.0 : b);
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
    const double inertia = p[kMass] * (p[kWidth] * p[kWidth] + p[kHeight] * p[kHeight]) / 12.0;
    return 0.5 * p[kMass] * (v[0] * v[0] + v[1] * v[1]) + 0.5 * inertia * v[2] * v[2] +
           p[kMass] * p[kGravity] * q[1];
  }
  static CAROM_INLINE double displacement(const double* p, const double* q) {
    return q[1] - 0.5 * p[kHeight];
  }
};

}  // namespace carom::kernels
