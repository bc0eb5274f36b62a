#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/planar_bodies.hpp"

/// Planar bodies that are simulated in time.
namespace carom::kernels {

/// Body with a diagonal mass matrix whose contacts lie on the level floor y = 0.
class BodyOnFloor : public PlainMechanism<3, 2, 2> {
 public:
  CAROM_INLINE void mass_matrix(double* matrix) const {
    const double diagonal[3] = {mass_, mass_, inertia_};
    put_diagonal(3, diagonal, matrix);
  }
  CAROM_INLINE void inverse_mass(double* inverse) const {
    inverse[0] = inverse[1] = 1.0 / mass_;
    inverse[2] = 1.0 / inertia_;
  }
  CAROM_INLINE void force(const double*, double* f) const {
    f[0] = f[2] = 0.0;
    f[1] = -mass_ * gravity_;
  }
  [[nodiscard]] CAROM_INLINE double potential() const { return mass_ * gravity_ * at_[1]; }

 protected:
  CAROM_INLINE BodyOnFloor(double mass, double inertia, double gravity, const double* q)
      : mass_(mass), inertia_(inertia), gravity_(gravity), at_{q[0], q[1]} {}
  double mass_, inertia_, gravity_;
  double at_[2];
};

/// Uniform disk on the floor: its lowest point.
struct BouncingBall : BodyOnFloor {
  using Constraint = PlanarContact;
  enum { kMass, kRadius, kFriction, kGravity, kParameters };
  static constexpr MechanismSizes kSizes{3, 3, 1};
  static CAROM_INLINE MechanismSizes sizes(const double*) { return kSizes; }
  CAROM_INLINE BouncingBall(const double* p, double, const double* q)
      : BodyOnFloor(p[kMass], 0.5 * p[kMass] * p[kRadius] * p[kRadius], p[kGravity], q), p_(p) {}
  [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return p_[kFriction]; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int) const {
    Constraint c;
    c.arm[1] = -p_[kRadius];
    c.gap = at_[1] - p_[kRadius];
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    planar_rows(c, rows, stride);
  }
  /// The touching point stays below the centre.
  CAROM_INLINE void jacobian_dot_v(const Constraint&, const double*, double* x) const {
    x[0] = x[1] = 0.0;
  }

 private:
  const double* p_;
};

/// Thin uniform rod above the floor, theta from the floor counter-clockwise: its ends, that at
/// theta = 0 on the left first.
struct SlidingRod : BodyOnFloor {
  using Constraint = PlanarContact;
  enum { kMass, kLength, kFriction, kGravity, kParameters };
  CAROM_INLINE SlidingRod(const double* p, double, const double* q)
      : BodyOnFloor(p[kMass], p[kMass] * p[kLength] * p[kLength] / 12.0, p[kGravity], q),
        p_(p),
        sine_(kernels::sine(q[2])),
        cosine_(kernels::cosine(q[2])) {}
  [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return p_[kFriction]; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int end) const {
    const double along = end == 0 ? -0.5 * p_[kLength] : 0.5 * p_[kLength];
    Constraint c;
    c.arm[0] = along * cosine_;
    c.arm[1] = along * sine_;
    c.gap = at_[1] + c.arm[1];
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    planar_rows(c, rows, stride);
  }
  /// A point of the body is drawn to its centre by the square of its angular velocity.
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    x[0] = -v[2] * v[2] * c.arm[1];
    x[1] = -v[2] * v[2] * c.arm[0];
  }

 private:
  const double* p_;
  double sine_, cosine_;
};

/// Uniform rectangle, its corners counter-clockwise from the bottom left one against the floor
/// y = 0, then, with a wall, against the wall x = 0 that stands to the right, under a constant push
/// along x at its centre.
template <int kSurfaces>
class Box : public PlainMechanism<3, 4 * kSurfaces, 2> {
 public:
  using Constraint = PlanarContact;
  enum { kMass, kWidth, kHeight, kFriction, kWallFriction, kPush, kGravity, kParameters };
  CAROM_INLINE Box(const double* p, double, const double* q)
      : p_(p), at_{q[0], q[1]}, sine_(kernels::sine(q[2])), cosine_(kernels::cosine(q[2])) {}

  CAROM_INLINE void mass_matrix(double* matrix) const {
    const double diagonal[3] = {p_[kMass], p_[kMass], inertia()};
    put_diagonal(3, diagonal, matrix);
  }
  CAROM_INLINE void inverse_mass(double* inverse) const {
    inverse[0] = inverse[1] = 1.0 / p_[kMass];
    inverse[2] = 1.0 / inertia();
  }
  CAROM_INLINE void force(const double*, double* f) const {
    f[0] = p_[kPush];
    f[1] = -p_[kMass] * p_[kGravity];
    f[2] = 0.0;
  }
  [[nodiscard]] CAROM_INLINE double potential() const {
    return p_[kMass] * p_[kGravity] * at_[1] - p_[kPush] * at_[0];
  }
  [[nodiscard]] CAROM_INLINE double friction(const Constraint& c) const {
    return c.normal[1] > 0.5 ? p_[kFriction] : p_[kWallFriction];
  }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const int corner = i % 4;
    const double x = 0.5 * p_[kWidth] * (corner == 0 || corner == 3 ? -1.0 : 1.0);
    const double y = 0.5 * p_[kHeight] * (corner < 2 ? -1.0 : 1.0);
    Constraint c;
    c.arm[0] = cosine_ * x - sine_ * y;
    c.arm[1] = sine_ * x + cosine_ * y;
    if (i >= 4) {
      c.normal[0] = -1.0;
      c.normal[1] = 0.0;
    }
    c.gap = c.normal[0] * (at_[0] + c.arm[0]) + c.normal[1] * (at_[1] + c.arm[1]);
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    planar_rows(c, rows, stride);
  }
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    double tangent[2];
    planar_tangent(c.normal, tangent);
    x[0] = -v[2] * v[2] * (c.normal[0] * c.arm[0] + c.normal[1] * c.arm[1]);
    x[1] = -v[2] * v[2] * (tangent[0] * c.arm[0] + tangent[1] * c.arm[1]);
  }

 private:
  [[nodiscard]] CAROM_INLINE double inertia() const {
    return p_[kMass] * (p_[kWidth] * p_[kWidth] + p_[kHeight] * p_[kHeight]) / 12.0;
  }
  const double* p_;
  double at_[2];
  double sine_, cosine_;
};
using BoxOnFloor = Box<1>;
using BoxAndWall = Box<2>;

}  // namespace carom::kernels
