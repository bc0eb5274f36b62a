#pragma once

#include <cmath>

#include "compliant/scenarios/base.hpp"
#include "models/mechanisms/planar_bodies.hpp"
#include "models/mechanisms/spatial_bodies.hpp"

/// Scenarios of spheres and of the planar block.
namespace carom::kernels {

/// Section 6.5: a column of spheres on the floor. A sphere has six coordinates: its centre and the
/// angles that it has turned through about the world's axes.
struct SphereStack : ScenarioBase {
  static constexpr int kTangents = 2;
  static constexpr bool kTangentsTurn = false;
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
  template <class T>
  static CAROM_INLINE int count(const T* p) {
    return whole(p[kSpheres]);
  }
  /// Constraint i: sphere i with the one below, or with the floor z = 0. The tangents are the
  /// world's x made normal to the line of centres, and that line times it.
  template <class T>
  struct MechanismOf {
    static constexpr int kRows = 3;
    struct Constraint {
      T gap;
      T d[3];      ///< from the centre below, up
      T distance;  ///< of the centres
      int i;
      int begin, end;
    };
    const T* p;
    const T* q;
    T inertia;
    CAROM_INLINE MechanismOf(const T* parameters, T, const T* position)
        : p(parameters), q(position), inertia(0.4 * p[kMass] * p[kRadius] * p[kRadius]) {}
    static CAROM_INLINE MechanismSizes sizes(const T* p) {
      return {6 * count(p), 6 * count(p), count(p)};
    }
    CAROM_INLINE void mass_matrix(T* matrix) const {
      const int n = 6 * count(p);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          matrix[i * n + j] = i != j ? 0.0 : (i % 6 < 3 ? p[kMass] : inertia);
        }
      }
    }
    CAROM_INLINE void inverse_mass(T* inverse) const {
      for (int i = 0; i < count(p); ++i) {
        for (int j = 0; j < 3; ++j) {
          inverse[6 * i + j] = 1.0 / p[kMass];
          inverse[6 * i + 3 + j] = 1.0 / inertia;
        }
      }
    }
    CAROM_INLINE void force(const T*, T* f) const {
      for (int i = 0; i < count(p); ++i) {
        for (int j = 0; j < 6; ++j) f[6 * i + j] = j == 2 ? -p[kMass] * p[kGravity] : 0.0;
      }
    }
    [[nodiscard]] CAROM_INLINE T potential() const {
      T sum = 0.0;
      for (int i = 0; i < count(p); ++i) sum += p[kMass] * p[kGravity] * q[6 * i + 2];
      return sum;
    }
    CAROM_INLINE void rates(const T* v, T* q_dot) const {
      for (int j = 0; j < 6 * count(p); ++j) q_dot[j] = v[j];
    }
    [[nodiscard]] CAROM_INLINE T friction(const Constraint&) const { return p[kFriction]; }
    [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
      const T* upper = q + 6 * i;
      const T* lower = upper - 6;
      Constraint c{upper[2] - p[kRadius], {0.0, 0.0, 1.0}, upper[2], i, 0, 6 * (i + 1)};
      if (i == 0) return c;
      for (int j = 0; j < 3; ++j) c.d[j] = upper[j] - lower[j];
      c.distance = square_root(c.d[0] * c.d[0] + c.d[1] * c.d[1] + c.d[2] * c.d[2]);
      for (int j = 0; j < 3; ++j) c.d[j] /= c.distance;
      c.gap = c.distance - 2.0 * p[kRadius];
      c.begin = 6 * (i - 1);
      return c;
    }
    CAROM_INLINE void jacobian(const Constraint& c, T* rows, int stride) const {
      T tangent[2][3];
      tangents_of(c.d, 0, tangent[0], tangent[1]);
      for (int j = 0; j < 3; ++j) {
        rows[6 * c.i + j] = c.d[j];
        if (c.i > 0) rows[6 * (c.i - 1) + j] = -c.d[j];
      }
      for (int k = 0; k < 2; ++k) {
        T* row = rows + (k + 1) * stride + 6 * c.i;
        sphere_row(tangent[k], c.d, -p[kRadius], 1.0, row);
        if (c.i > 0) sphere_row(tangent[k], c.d, p[kRadius], -1.0, row - 6);
      }
    }
    /// Sphere i's velocity seen from the one below; the speed along d.
    CAROM_INLINE T relative_speed(const Constraint& c, const T* v, T* relative) const {
      T speed = 0.0;
      for (int j = 0; j < 3; ++j) {
        relative[j] = v[6 * c.i + j] - (c.i > 0 ? v[6 * (c.i - 1) + j] : 0.0);
        speed = fused(c.d[j], relative[j], speed);
      }
      return speed;
    }
    CAROM_INLINE void jacobian_dot_v(const Constraint& c, const T* v, T* x) const {
      x[0] = x[1] = x[2] = 0.0;
      if (c.i == 0) return;
      T relative[3];
      const T speed = relative_speed(c, v, relative);
      const T square =
          relative[0] * relative[0] + relative[1] * relative[1] + relative[2] * relative[2];
      x[0] = (square - speed * speed) / c.distance;
      T d_dot[3];
      T spin[3];
      for (int j = 0; j < 3; ++j) {
        d_dot[j] = (relative[j] - speed * c.d[j]) / c.distance;
        spin[j] = v[6 * c.i + 3 + j] + v[6 * c.i - 3 + j];
      }
      T t[2][3];
      T t_dot[2][3];
      const T size = tangents_of(c.d, 0, t[0], t[1]);
      tangent_rates(c.d, d_dot, 0, size, t[0], t_dot[0], t_dot[1]);
      for (int k = 0; k < 2; ++k) {
        T lever[3];
        T turned[3];
        outer(d_dot, t[k], lever);
        outer(c.d, t_dot[k], turned);
        for (int j = 0; j < 3; ++j) lever[j] += turned[j];
        x[1 + k] = inner(t_dot[k], relative) - p[kRadius] * inner(lever, spin);
      }
    }
  };
  using Mechanism = MechanismOf<double>;
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    for (int j = 0; j < 6 * count(p); ++j) q[j] = v[j] = 0.0;
    for (int i = 0; i < count(p); ++i) {
      q[6 * i + 2] = p[kRadius] * (2 * i + 1) + p[kGap] * (i + 1);
    }
  }
  /// The sphere below may be stopped within the step: what it does now bounds nothing.
  template <class T>
  static CAROM_INLINE bool acts(const T* p, T h, const MechanismOf<T>& at,
                                const typename MechanismOf<T>::Constraint& c, const T* v) {
    T relative[3];
    const T speed = at.relative_speed(c, v, relative);
    return c.gap <= p[kRadius] || may_touch(c.gap, speed, h, p[kGravity]);
  }
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T h, const MechanismOf<T>&, int,
                                                 const typename MechanismOf<T>::Constraint& c) {
    return {RowType::normal, c.gap, p[kModulus] * p[kRadius], c.gap > 0.0 ? 0.0 : p[kDamping],
            p[kTangentDamping] / h};
  }
  template <class T>
  static CAROM_INLINE void advance(const T* p, T h, T* q, const T* v) {
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
  template <class T>
  static CAROM_INLINE T displacement(const T* p, const T* q) {
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
  template <class T>
  struct MechanismOf : BlockOnFloorOf<T> {
    CAROM_INLINE MechanismOf(const T* p, T, const T* q)
        : BlockOnFloorOf<T>(p[kMass], p[kWidth], p[kHeight], p[kFriction], p[kGravity], q) {}
  };
  using Mechanism = MechanismOf<double>;
  static constexpr WorldSizes kSizes = world_sizes(Mechanism::kSizes, Mechanism::kRows);
  /// The lower corner touches; the height that this costs is taken from the speed.
  template <class T>
  static CAROM_INLINE void start(const T* p, T* q, T* v) {
    q[0] = 0.0;
    q[2] = p[kAngle] * kPi / 180.0;
    q[1] = 0.0;
    const MechanismOf<T> unplaced(p, 0.0, q);
    q[1] = -smaller(unplaced.constraint(0).arm[1], unplaced.constraint(1).arm[1]);
    const T raised = q[1] - 0.5 * p[kHeight];
    v[0] = v[2] = 0.0;
    v[1] = -square_root(at_least_zero(p[kDownward] * p[kDownward] - 2.0 * p[kGravity] * raised));
  }
  template <class T>
  static CAROM_INLINE T stiffness_of(const T* p, int which) {
    const T ratio = p[kRatio];  // k_A / k_B, the smaller of the two is kStiffness
    if (which == 0) return p[kStiffness] * larger(ratio, T(1.0));
    return p[kStiffness] * larger(1.0 / ratio, T(1.0));
  }
  template <class T>
  static CAROM_INLINE T approach(const PlanarContactOf<T>& c, const T* v) {
    return v[1] + c.arm[0] * v[2];
  }
  template <class T>
  static CAROM_INLINE bool acts(const T* p, T h, const MechanismOf<T>&, const PlanarContactOf<T>& c,
                                const T* v) {
    return may_touch(c.gap, approach(c, v), h, p[kGravity]);
  }
  template <class T>
  static CAROM_INLINE ComplianceOf<T> compliance(const T* p, T, const MechanismOf<T>&, int which,
                                                 const PlanarContactOf<T>& c) {
    const T k = stiffness_of(p, which);
    const T b = 2.0 * p[kDampingRatio] * square_root(k * p[kMass]);
    return {RowType::normal, c.gap, k, c.gap > 0.0 ? 0.0 : b, p[kTangentDamping]};
  }
  template <class T>
  static CAROM_INLINE void advance(const T*, T h, T* q, const T* v) {
    for (int j = 0; j < 3; ++j) q[j] = fused(h, v[j], q[j]);
  }
  /// The impact is over when no corner approaches faster than delta = 1e-3 m/s kg / (min k m).
  static CAROM_INLINE bool finished(const double* p, const double* q, const double* v) {
    const double delta = 1e-3 * p[kMass] / p[kStiffness];
    const Mechanism at(p, 0.0, q);
    for (int which = 0; which < 2; ++which) {
      if (approach(at.constraint(which), v) < -delta) return false;
    }
    return true;
  }
  static CAROM_INLINE double energy(const double* p, const double* q, const double* v) {
    const double inertia = p[kMass] * (p[kWidth] * p[kWidth] + p[kHeight] * p[kHeight]) / 12.0;
    return 0.5 * p[kMass] * (v[0] * v[0] + v[1] * v[1]) + 0.5 * inertia * v[2] * v[2] +
           p[kMass] * p[kGravity] * q[1];
  }
  template <class T>
  static CAROM_INLINE T displacement(const T* p, const T* q) {
    return q[1] - 0.5 * p[kHeight];
  }
};

}  // namespace carom::kernels
