#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/mechanism.hpp"

/// Free planar bodies, q = (x, y, theta) each, theta counter-clockwise.
namespace carom::kernels {

/// Contact of a body's point with the world or with another body. The normal points into the body,
/// away from what it touches; arms lead from the centres of mass to the touching point.
template <class T>
struct PlanarContactOf {
  T gap{0.0};
  T normal[2] = {T(0.0), T(1.0)};
  T arm[2] = {T(0.0), T(0.0)};
  T other_arm[2] = {T(0.0), T(0.0)};
  int body = 0;
  int other = -1;  ///< -1: the world
  int begin = 0, end = 3;
};
using PlanarContact = PlanarContactOf<double>;

/// The normal turned by -90 degrees: +x on a floor (normal +y), +y on a wall to the right.
template <class T>
CAROM_INLINE void planar_tangent(const T* normal, T* tangent) {
  tangent[0] = normal[1];
  tangent[1] = 0.0 - normal[0];
}

/// Speed along d of the point at `arm`: sign (dx, dy, arm x d).
template <class T>
CAROM_INLINE void planar_row(const T* d, const T* arm, T sign, T* row) {
  row[0] = sign * d[0];
  row[1] = sign * d[1];
  row[2] = sign * (arm[0] * d[1] - arm[1] * d[0]);
}

template <class T>
CAROM_INLINE void planar_rows(const PlanarContactOf<T>& contact, T* rows, int stride) {
  T tangent[2];
  planar_tangent(contact.normal, tangent);
  planar_row(contact.normal, contact.arm, T(1.0), rows + 3 * contact.body);
  planar_row(tangent, contact.arm, T(1.0), rows + stride + 3 * contact.body);
  if (contact.other < 0) return;
  planar_row(contact.normal, contact.other_arm, T(-1.0), rows + 3 * contact.other);
  planar_row(tangent, contact.other_arm, T(-1.0), rows + stride + 3 * contact.other);
}

/// sqrt(x x + y y) to half a unit in the last place and little more, the same on every backend.
CAROM_INLINE double length_of(double x, double y) {
  const double xx = x * x;
  const double yy = y * y;
  const double sum = xx + yy;
  const double lost = larger(xx, yy) - sum + smaller(xx, yy);
  const double root = square_root(sum);
  const double rest = fused(-root, root, sum) + (lost + (fused(x, x, -xx) + fused(y, y, -yy)));
  return root > 0.0 ? root + rest / (root + root) : root;
}

/// Uniform rectangle, two of its corners against fixed lines.
template <class T>
class RectangleOnLinesOf : public PlainMechanism<3, 2, 2> {
 public:
  using Constraint = PlanarContactOf<T>;

  CAROM_INLINE void mass_matrix(T* matrix) const {
    const T diagonal[3] = {mass_, mass_, turning_ / 12.0};
    put_diagonal(3, diagonal, matrix);
  }
  CAROM_INLINE void inverse_mass(T* inverse) const {
    inverse[0] = inverse[1] = 1.0 / mass_;
    inverse[2] = 12.0 / turning_;
  }
  CAROM_INLINE void force(const T*, T* f) const {
    f[0] = f[2] = T(0.0);
    f[1] = -mass_ * gravity_;
  }
  [[nodiscard]] CAROM_INLINE T potential() const { return mass_ * gravity_ * at_[1]; }
  [[nodiscard]] CAROM_INLINE T friction(const Constraint&) const { return friction_; }
  CAROM_INLINE void jacobian(const Constraint& c, T* rows, int stride) const {
    planar_rows(c, rows, stride);
  }
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const T* v, T* x) const {
    T tangent[2];
    planar_tangent(c.normal, tangent);
    x[0] = -v[2] * v[2] * (c.normal[0] * c.arm[0] + c.normal[1] * c.arm[1]);
    x[1] = -v[2] * v[2] * (tangent[0] * c.arm[0] + tangent[1] * c.arm[1]);
  }

 protected:
  CAROM_INLINE RectangleOnLinesOf(T mass, T width, T height, T friction, T gravity, const T* q)
      : at_{q[0], q[1]},
        sine_(sine(q[2])),
        cosine_(cosine(q[2])),
        mass_(mass),
        turning_(mass * (width * width + height * height)),
        friction_(friction),
        gravity_(gravity) {}

  /// Corner (x, y) of the body against the line normal'z = offset.
  [[nodiscard]] CAROM_INLINE Constraint corner(T x, T y, double normal_x, double normal_y,
                                               double offset) const {
    Constraint c;
    c.arm[0] = cosine_ * x - sine_ * y;
    c.arm[1] = sine_ * x + cosine_ * y;
    c.normal[0] = T(normal_x);
    c.normal[1] = T(normal_y);
    c.gap = normal_x * (at_[0] + c.arm[0]) + normal_y * (at_[1] + c.arm[1]) - offset;
    return c;
  }

 private:
  T at_[2];
  T sine_, cosine_;
  T mass_;
  T turning_;  ///< twelve times the inertia
  T friction_, gravity_;
};
using RectangleOnLines = RectangleOnLinesOf<double>;

/// Block on the floor y = 0: bottom left corner, bottom right corner.
template <class T>
class BlockOnFloorOf : public RectangleOnLinesOf<T> {
  using Base = RectangleOnLinesOf<T>;

 public:
  CAROM_INLINE BlockOnFloorOf(T mass, T width, T height, T friction, T gravity, const T* q)
      : Base(mass, width, height, friction, gravity, q),
        half_width_(0.5 * width),
        half_height_(0.5 * height) {}
  [[nodiscard]] CAROM_INLINE typename Base::Constraint constraint(int which) const {
    return this->corner(which == 0 ? -half_width_ : half_width_, -half_height_, 0.0, 1.0, 0.0);
  }

 private:
  T half_width_, half_height_;
};
using BlockOnFloor = BlockOnFloorOf<double>;

/// Table 4 of Halm and Posa.
struct RockingBlock : BlockOnFloor {
  enum { kMass, kWidth, kHeight, kDownward, kFriction, kGravity, kParameters };
  CAROM_INLINE RockingBlock(const double* p, double, const double* q)
      : BlockOnFloor(p[kMass], p[kWidth], p[kHeight], p[kFriction], p[kGravity], q) {}
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = q[2] = v[0] = v[2] = 0.0;
    q[1] = 0.5 * p[kHeight];
    v[1] = -p[kDownward];
  }
};

/// Table 6 of Halm and Posa: the lowest corner on the floor y = 0, the rightmost on the wall x = 0.
struct BoxWall : RectangleOnLines {
  enum { kMass, kWidth, kAngle, kHorizontal, kFriction, kGravity, kParameters };
  CAROM_INLINE BoxWall(const double* p, double, const double* q)
      : RectangleOnLines(p[kMass], p[kWidth], p[kWidth], p[kFriction], p[kGravity], q),
        half_(0.5 * p[kWidth]) {}
  [[nodiscard]] CAROM_INLINE Constraint constraint(int which) const {
    return which == 0 ? corner(half_, -half_, 0.0, 1.0, 0.0) : corner(half_, half_, -1.0, 0.0, 0.0);
  }
  /// The box leans clockwise, toward the wall: then a blow at either corner turns it
  /// counter-clockwise, which is what sections 3.1 and 5.4.3 describe.
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = q[1] = 0.0;
    q[2] = -radians(p[kAngle]);
    const BoxWall unplaced(p, 0.0, q);
    q[0] = -unplaced.constraint(1).arm[0];
    q[1] = -unplaced.constraint(0).arm[1];
    v[0] = p[kHorizontal];
    v[1] = v[2] = 0.0;
  }

 private:
  double half_;
};

/// Table 8 of Halm and Posa: left, right and top disk. The origin is where the left disk's centre
/// rests on the floor, which lies at y = -radius.
class DiskStack : public PlainMechanism<9, 5, 2> {
 public:
  enum { kMass, kRadius, kDownward, kFriction, kGravity, kParameters };
  enum { kLeft, kRight, kTop, kDisks };
  struct Constraint : PlanarContact {
    double distance = 0.0;  ///< of the centres, if two disks touch
  };

  CAROM_INLINE DiskStack(const double* p, double, const double* q) : p_(p), q_(q) {}

  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    for (int j = 0; j < kSizes.velocities; ++j) q[j] = v[j] = 0.0;
    const double rise = 1.7320508075688772935 / 2.0;  // the centres form an equilateral triangle
    q[3 * kRight] = 2.0 * p[kRadius];
    q[3 * kTop] = p[kRadius];
    q[3 * kTop + 1] = 2.0 * p[kRadius] * rise;
    v[3 * kTop + 1] = -p[kDownward];
  }
  CAROM_INLINE void mass_matrix(double* matrix) const {
    double diagonal[3 * kDisks];
    for (int disk = 0; disk < kDisks; ++disk) {
      diagonal[3 * disk] = diagonal[3 * disk + 1] = p_[kMass];
      diagonal[3 * disk + 2] = p_[kMass] * p_[kRadius] * p_[kRadius] / 2.0;
    }
    put_diagonal(3 * kDisks, diagonal, matrix);
  }
  CAROM_INLINE void force(const double*, double* f) const {
    for (int disk = 0; disk < kDisks; ++disk) {
      f[3 * disk] = f[3 * disk + 2] = 0.0;
      f[3 * disk + 1] = -p_[kMass] * p_[kGravity];
    }
  }
  [[nodiscard]] CAROM_INLINE double potential() const {
    return p_[kMass] * p_[kGravity] * (q_[1] + q_[3 * kRight + 1] + q_[3 * kTop + 1]);
  }
  [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return p_[kFriction]; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    switch (i) {
      case 0:
        return on_floor(kLeft);
      case 1:
        return on_floor(kRight);
      case 2:
        return between(kRight, kLeft);
      case 3:
        return between(kTop, kLeft);
      default:
        return between(kTop, kRight);
    }
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    planar_rows(c, rows, stride);
  }
  /// The arms turn with the normal: only the centres' relative motion bends a row.
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    x[0] = x[1] = 0.0;
    if (c.other < 0) return;
    double tangent[2];
    planar_tangent(c.normal, tangent);
    double along = 0.0;
    double across = 0.0;
    for (int j = 0; j < 2; ++j) {
      const double relative = v[3 * c.body + j] - v[3 * c.other + j];
      along = fused(c.normal[j], relative, along);
      across = fused(tangent[j], relative, across);
    }
    x[0] = across * across / c.distance;
    x[1] = -across * along / c.distance;
  }

 private:
  [[nodiscard]] CAROM_INLINE Constraint on_floor(int disk) const {
    Constraint c;
    c.gap = q_[3 * disk + 1];
    c.arm[1] = -p_[kRadius];
    c.body = disk;
    c.begin = 3 * disk;
    c.end = 3 * disk + 3;
    return c;
  }
  /// Disks of equal radius touch halfway between their centres; the normal points into `upper`.
  [[nodiscard]] CAROM_INLINE Constraint between(int upper, int lower) const {
    const double x = q_[3 * upper] - q_[3 * lower];
    const double y = q_[3 * upper + 1] - q_[3 * lower + 1];
    Constraint c;
    c.distance = length_of(x, y);
    c.gap = c.distance - 2.0 * p_[kRadius];
    c.normal[0] = x / c.distance;
    c.normal[1] = y / c.distance;
    for (int j = 0; j < 2; ++j) {
      c.arm[j] = -p_[kRadius] * c.normal[j];
      c.other_arm[j] = p_[kRadius] * c.normal[j];
    }
    c.body = upper;
    c.other = lower;
    c.begin = 3 * lower;
    c.end = 3 * upper + 3;
    return c;
  }

  const double* p_;
  const double* q_;
};

}  // namespace carom::kernels
