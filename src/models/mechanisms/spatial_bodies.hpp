#pragma once

#include <cmath>

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/rigid_body.hpp"

/// Single spatial bodies at an impact. The body's axes are the world's at the start, so that there
/// the angular velocity is the same in both.
namespace carom::kernels {

/// Moments of a uniform cuboid about its own axes.
CAROM_INLINE void cuboid_moments(double mass, double x, double y, double z, double* moments) {
  moments[0] = mass / 12.0 * (y * y + z * z);
  moments[1] = mass / 12.0 * (x * x + z * z);
  moments[2] = mass / 12.0 * (x * x + y * y);
}

/// Contact of one body with the world: of a body's point with a fixed plane, or of the body's plane
/// with a fixed point.
struct SpatialContact {
  double gap = 0.0;
  double normal[3];    ///< in the world, into the body
  double arm[3];       ///< to the touching point, in the body
  bool turns = false;  ///< the normal is the body's
  int begin = 0, end = 6;
};

/// One body with an inertia about its centre in its axes. Derived: constraint(i).
template <int kContacts>
class SpatialBody : public FreeBody {
 public:
  static constexpr int kRows = 3;
  static constexpr MechanismSizes kSizes{7, 6, kContacts};
  using Constraint = SpatialContact;
  static CAROM_INLINE MechanismSizes sizes(const double*) { return kSizes; }

  CAROM_INLINE void mass_matrix(double* matrix) const {
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        const bool turning = i > 2 && j > 2;
        matrix[6 * i + j] = turning ? inertia_[3 * (i - 3) + j - 3] : (i == j ? mass_ : 0.0);
      }
    }
  }
  CAROM_INLINE void force(const double* v, double* f) const {
    double momentum[3];
    to_world(inertia_, v + 3, momentum);
    f[0] = f[1] = 0.0;
    f[2] = -mass_ * gravity_;
    outer(momentum, v + 3, f + 3);
  }
  [[nodiscard]] CAROM_INLINE double potential() const { return mass_ * gravity_ * q_[2]; }
  [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return friction_; }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    double tangent[2][3];
    tangents_of(c.normal, tangent_axis(c.normal), tangent[0], tangent[1]);
    for (int k = 0; k < kRows; ++k) {
      const double* d = k == 0 ? c.normal : tangent[k - 1];
      double in_body[3];
      to_body(rotation_, d, in_body);
      direction_row(d, in_body, c.arm, rows + k * stride);
    }
  }
  /// A fixed point moves by -w x r - R'v in the body: what it touches changes velocity by
  /// -R (w x R'v), and the frame turns with the body's plane.
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    const double* w = v + 3;
    double direction[3][3];
    for (int j = 0; j < 3; ++j) direction[0][j] = c.normal[j];
    const int axis = tangent_axis(c.normal);
    const double size = tangents_of(c.normal, axis, direction[1], direction[2]);
    double in_body[3][3];
    for (int k = 0; k < kRows; ++k) to_body(rotation_, direction[k], in_body[k]);
    double turned[3];
    if (!c.turns) {
      centripetal_in_body(c.arm, w, turned);
      for (int k = 0; k < kRows; ++k) x[k] = component(in_body[k], turned);
      return;
    }
    double rate[3][3];
    outer(w, in_body[0], turned);
    to_world(rotation_, turned, rate[0]);
    tangent_rates(c.normal, rate[0], axis, size, direction[1], rate[1], rate[2]);
    double slip[3];
    double linear[3];
    double drift[3];
    outer(w, c.arm, turned);
    to_world(rotation_, turned, slip);
    for (int j = 0; j < 3; ++j) slip[j] += v[j];
    to_body(rotation_, v, linear);
    outer(w, linear, drift);
    for (int k = 0; k < kRows; ++k) x[k] = inner(rate[k], slip) - inner(in_body[k], drift);
  }

 protected:
  CAROM_INLINE SpatialBody(double mass, double friction, double gravity, const double* q)
      : FreeBody(q), mass_(mass), friction_(friction), gravity_(gravity) {}
  CAROM_INLINE void set_principal(const double* moments) { put_diagonal(3, moments, inertia_); }

  /// Body point r against the plane normal'z = offset.
  [[nodiscard]] CAROM_INLINE Constraint on_plane(const double* r, const double* normal,
                                                 double offset) const {
    Constraint c;
    double at[3];
    to_world(rotation_, r, at);
    for (int j = 0; j < 3; ++j) {
      c.normal[j] = normal[j];
      c.arm[j] = r[j];
      at[j] += q_[j];
    }
    c.gap = inner(normal, at) - offset;
    return c;
  }
  /// World point z against the body's plane through its point r, z below it: normal_in_body'(r -
  /// z).
  [[nodiscard]] CAROM_INLINE Constraint on_point(const double* z, const double* normal_in_body,
                                                 const double* r) const {
    Constraint c;
    double from_centre[3];
    for (int j = 0; j < 3; ++j) from_centre[j] = z[j] - q_[j];
    to_body(rotation_, from_centre, c.arm);
    to_world(rotation_, normal_in_body, c.normal);
    c.gap = inner(normal_in_body, r) - inner(normal_in_body, c.arm);
    c.turns = true;
    return c;
  }

  double inertia_[9];

 private:
  double mass_, friction_, gravity_;
};

/// Cube on the floor z = 0: its bottom corners, counter-clockwise from (-x, -y).
struct CubeDrop : SpatialBody<4> {
  enum { kMass, kWidth, kDownward, kHorizontal, kFriction, kGravity, kParameters };
  CAROM_INLINE CubeDrop(const double* p, double, const double* q)
      : SpatialBody(p[kMass], p[kFriction], p[kGravity], q), half_(p[kWidth] / 2.0) {
    double moments[3];
    cuboid_moments(p[kMass], p[kWidth], p[kWidth], p[kWidth], moments);
    set_principal(moments);
  }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    rest(p[kWidth] / 2.0, q, v);
    v[0] = p[kHorizontal];
    v[2] = -p[kDownward];
  }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const double r[3] = {i == 1 || i == 2 ? half_ : -half_, i > 1 ? half_ : -half_, -half_};
    const double up[3] = {0.0, 0.0, 1.0};
    return on_plane(r, up, 0.0);
  }

 private:
  double half_;
};

/// Disk on three massless legs. Foot k stands at azimuth 120 k degrees; its ground leans by `slope`
/// toward the azimuth 210 k, so that no two of the three grounds lean alike, and is
/// level_difference higher than foot k-1's. The origin is the centre of mass when all feet stand.
struct Tripod : SpatialBody<3> {
  enum { kMass, kRadius, kHeight, kSlope, kLevel, kDownward, kFriction, kGravity, kParameters };
  CAROM_INLINE Tripod(const double* p, double, const double* q)
      : SpatialBody(p[kMass], p[kFriction], p[kGravity], q), p_(p) {
    const double disk = p[kMass] * p[kRadius] * p[kRadius];
    const double moments[3] = {disk * 0.25, disk * 0.25, disk * 0.5};
    set_principal(moments);
  }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    rest(0.0, q, v);
    v[2] = -p[kDownward];
  }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int foot) const {
    const double slope = radians(p_[kSlope]);
    const double azimuth = foot * 2.0 * kPi / 3.0;
    const double lean = foot * 7.0 * kPi / 6.0;
    const double normal[3] = {kernels::sine(slope) * kernels::cosine(lean),
                              kernels::sine(slope) * kernels::sine(lean), kernels::cosine(slope)};
    const double r[3] = {p_[kRadius] * kernels::cosine(azimuth),
                         p_[kRadius] * kernels::sine(azimuth),
                         -p_[kHeight] + (foot - 1) * p_[kLevel]};
    return on_plane(r, normal, inner(normal, r));
  }

 private:
  const double* p_;
};

/// Bar that leans upward along +x: the ends of its lower edge against the tread of one step, its
/// underside against two points of the nosing of the next, `run` further and `rise` higher, below
/// its sides at the start. The origin is the centre of mass at the start.
struct BarOnSteps : SpatialBody<4> {
  enum {
    kMass,
    kLength,
    kWidth,
    kHeight,
    kRun,
    kRise,
    kDownward,
    kFriction,
    kGravity,
    kParameters
  };
  CAROM_INLINE BarOnSteps(const double* p, double, const double* q)
      : SpatialBody(p[kMass], p[kFriction], p[kGravity], q), p_(p) {
    const double step = kernels::square_root(p[kRun] * p[kRun] + p[kRise] * p[kRise]);
    const double c = step > 0.0 ? p[kRun] / step : 1.0;
    const double s = step > 0.0 ? p[kRise] / step : 0.0;
    // Of the bar, as columns: along, across, out of the upper face.
    const double axes[9] = {c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c};
    double moments[3];
    cuboid_moments(p[kMass], p[kLength], p[kWidth], p[kHeight], moments);
    for (int i = 0; i < 9; ++i) axes_[i] = axes[i];
    double turned[9];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) sum += axes[3 * i + k] * moments[k] * axes[3 * j + k];
        turned[3 * i + j] = sum;
      }
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        inertia_[3 * i + j] = 0.5 * (turned[3 * i + j] + turned[3 * j + i]);
      }
    }
  }
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    rest(0.0, q, v);
    v[2] = -p[kDownward];
  }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const double side = i % 2 == 0 ? -0.5 : 0.5;
    const double up[3] = {0.0, 0.0, 1.0};
    double r[3];
    underside(-p_[kLength] / 2, side, r);
    if (i < 2) return on_plane(r, up, r[2]);
    const double to_nosing = std::hypot(p_[kRun], p_[kRise]);
    const double out_of_face[3] = {axes_[2], axes_[5], axes_[8]};
    double nosing[3];
    underside(-p_[kLength] / 2 + to_nosing, side, nosing);
    return on_point(nosing, out_of_face, r);
  }

 private:
  /// Point of the underside, so far along the bar and `side` widths across.
  CAROM_INLINE void underside(double along, double side, double* r) const {
    const double in_bar[3] = {along, side * p_[kWidth], -p_[kHeight] / 2};
    to_world(axes_, in_bar, r);
  }

  const double* p_;
  double axes_[9];
};

/// Row of a sphere, v = (velocity, angular velocity) in the world: sign (t, arm d x t).
template <class T>
CAROM_INLINE void sphere_row(const T* t, const T* d, T arm, double sign, T* row) {
  for (int j = 0; j < 3; ++j) row[j] = sign * t[j];
  row[3] = sign * arm * (d[1] * t[2] - d[2] * t[1]);
  row[4] = sign * arm * (d[2] * t[0] - d[0] * t[2]);
  row[5] = sign * arm * (d[0] * t[1] - d[1] * t[0]);
}

/// Uniform ball against the floor z = 0 and the walls x = 0 and y = 0. q = (centre, angles turned
/// about the world's axes), v its rate: nothing depends on how a ball is turned.
struct BallInCorner : PlainMechanism<6, 3, 3> {
  enum { kMass, kRadius, kDownward, kHorizontal, kFriction, kGravity, kParameters };
  struct Constraint {
    double gap = 0.0;
    double normal[3];
    int begin = 0, end = 6;
  };
  CAROM_INLINE BallInCorner(const double* p, double, const double* q) : p_(p), q_(q) {}
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    for (int j = 0; j < 6; ++j) q[j] = v[j] = 0.0;
    q[0] = q[1] = q[2] = p[kRadius];
    v[0] = v[1] = -p[kHorizontal];
    v[2] = -p[kDownward];
  }
  CAROM_INLINE void mass_matrix(double* matrix) const {
    const double inertia = 0.4 * p_[kMass] * p_[kRadius] * p_[kRadius];
    const double diagonal[6] = {p_[kMass], p_[kMass], p_[kMass], inertia, inertia, inertia};
    put_diagonal(6, diagonal, matrix);
  }
  CAROM_INLINE void force(const double*, double* f) const {
    for (int j = 0; j < 6; ++j) f[j] = j == 2 ? -p_[kMass] * p_[kGravity] : 0.0;
  }
  [[nodiscard]] CAROM_INLINE double potential() const { return p_[kMass] * p_[kGravity] * q_[2]; }
  [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return p_[kFriction]; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const int axis = i == 0 ? 2 : i - 1;
    Constraint c;
    for (int j = 0; j < 3; ++j) c.normal[j] = j == axis ? 1.0 : 0.0;
    c.gap = q_[axis] - p_[kRadius];
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    double tangent[2][3];
    tangents_of(c.normal, tangent_axis(c.normal), tangent[0], tangent[1]);
    sphere_row(c.normal, c.normal, -p_[kRadius], 1.0, rows);
    for (int k = 0; k < 2; ++k) {
      sphere_row(tangent[k], c.normal, -p_[kRadius], 1.0, rows + (k + 1) * stride);
    }
  }
  CAROM_INLINE void jacobian_dot_v(const Constraint&, const double*, double* x) const {
    x[0] = x[1] = x[2] = 0.0;
  }

 private:
  const double* p_;
  const double* q_;
};

}  // namespace carom::kernels
