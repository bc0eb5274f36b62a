#pragma once

#include "models/mechanisms/mechanism.hpp"

/// Free rigid bodies: q = (x, y, z, w, i, j, k), v = (velocity in the world, angular in the body).
namespace carom::kernels {

template <class T>
CAROM_INLINE void rotation_of(const T* quaternion, T* r) {
  const T w = quaternion[0];
  const T x = quaternion[1];
  const T y = quaternion[2];
  const T z = quaternion[3];
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

template <class T>
CAROM_INLINE T inner(const T* a, const T* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
/// a x b.
template <class T>
CAROM_INLINE void outer(const T* a, const T* b, T* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}
/// R a of a vector in the body.
template <class T>
CAROM_INLINE void to_world(const T* rotation, const T* a, T* out) {
  for (int i = 0; i < 3; ++i) out[i] = inner(rotation + 3 * i, a);
}
/// R'd of a vector in the world.
template <class T>
CAROM_INLINE void to_body(const T* rotation, const T* d, T* out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = rotation[i] * d[0] + rotation[3 + i] * d[1] + rotation[6 + i] * d[2];
  }
}

/// Row of the speed along d of body point r: (d, r x R'd), zeros in the first three before.
template <class T>
CAROM_INLINE void direction_row(const T* d, const T* d_in_body, const T* r, T* row) {
  for (int j = 0; j < 3; ++j) row[j] = d[j];
  outer(r, d_in_body, row + 3);
}

/// The same along world axis `axis`.
template <class T>
CAROM_INLINE void point_row(const T* rotation, int axis, const T* r, T* row) {
  row[axis] = T(1.0);
  outer(r, rotation + 3 * axis, row + 3);
}

/// Centripetal acceleration w x (w x r) of body point r, in the body.
template <class T>
CAROM_INLINE void centripetal_in_body(const T* r, const T* w, T* out) {
  const T along = w[0] * r[0] + w[1] * r[1] + w[2] * r[2];
  const T square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  for (int j = 0; j < 3; ++j) out[j] = w[j] * along - r[j] * square;
}
/// Component along d of a vector.
template <class T>
CAROM_INLINE T component(const T* d, const T* vector) {
  T sum(0.0);
  for (int j = 0; j < 3; ++j) sum = fused(d[j], vector[j], sum);
  return sum;
}

/// Orthonormal tangents of a unit normal, right-handed: t1 x t2 = n. t1 is world x made orthogonal
/// to n, or world y where n is close to x; so (x, y) on a level floor.
template <class T>
CAROM_INLINE int tangent_axis(const T* n) {
  return magnitude(n[0]) < 0.9 ? 0 : 1;
}
template <class T>
CAROM_INLINE T tangents_of(const T* n, int axis, T* t1, T* t2) {
  for (int j = 0; j < 3; ++j) t1[j] = T(j == axis ? 1.0 : 0.0) - n[axis] * n[j];
  const T size = square_root(t1[0] * t1[0] + t1[1] * t1[1] + t1[2] * t1[2]);
  for (int j = 0; j < 3; ++j) t1[j] /= size;
  outer(n, t1, t2);
  return size;
}
/// Their rates where the normal turns at the rate n_dot; `size` is what tangents_of returned.
template <class T>
CAROM_INLINE void tangent_rates(const T* n, const T* n_dot, int axis, T size, const T* t1,
                                T* t1_dot, T* t2_dot) {
  T u_dot[3];
  for (int j = 0; j < 3; ++j) u_dot[j] = -n_dot[axis] * n[j] - n[axis] * n_dot[j];
  const T along = inner(t1, u_dot);
  for (int j = 0; j < 3; ++j) t1_dot[j] = (u_dot[j] - along * t1[j]) / size;
  T turned[3];
  outer(n_dot, t1, t2_dot);
  outer(n, t1_dot, turned);
  for (int j = 0; j < 3; ++j) t2_dot[j] += turned[j];
}

/// Torque -w x (I w) of a body with principal inertias.
template <class T>
CAROM_INLINE void gyroscopic(const T* inertia, const T* w, T* torque) {
  torque[0] = (inertia[1] - inertia[2]) * w[1] * w[2];
  torque[1] = (inertia[2] - inertia[0]) * w[2] * w[0];
  torque[2] = (inertia[0] - inertia[1]) * w[0] * w[1];
}

/// Rate of a quaternion from the angular velocity in the body: half the product of both.
template <class T>
CAROM_INLINE void quaternion_rate(const T* quaternion, const T* a, T* rate) {
  const T w = quaternion[0];
  const T x = quaternion[1];
  const T y = quaternion[2];
  const T z = quaternion[3];
  rate[0] = -0.5 * (x * a[0] + y * a[1] + z * a[2]);
  rate[1] = 0.5 * (w * a[0] + y * a[2] - z * a[1]);
  rate[2] = 0.5 * (w * a[1] + z * a[0] - x * a[2]);
  rate[3] = 0.5 * (w * a[2] + x * a[1] - y * a[0]);
}

/// What mechanisms of one free body share.
template <class T>
class FreeBodyOf {
 public:
  static CAROM_INLINE int quaternions(const double*, int* first) {
    first[0] = 3;
    return 1;
  }
  /// q' = (velocity, rate of the quaternion).
  CAROM_INLINE void rates(const T* v, T* q_dot) const {
    for (int j = 0; j < 3; ++j) q_dot[j] = v[j];
    quaternion_rate(q_ + 3, v + 3, q_dot + 3);
  }
  /// q + h q', the quaternion brought back to unit length.
  static CAROM_INLINE void advance(T h, T* q, const T* v) {
    T rate[4];
    quaternion_rate(q + 3, v + 3, rate);
    for (int j = 0; j < 3; ++j) q[j] = fused(h, v[j], q[j]);
    for (int j = 0; j < 4; ++j) q[3 + j] = q[3 + j] + h * rate[j];
    const T size = square_root(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int j = 3; j < 7; ++j) q[j] /= size;
  }
  /// At rest with the world's axes.
  static CAROM_INLINE void rest(T height, T* q, T* v) {
    for (int j = 0; j < 7; ++j) q[j] = 0.0;
    for (int j = 0; j < 6; ++j) v[j] = 0.0;
    q[2] = height;
    q[3] = 1.0;
  }

 protected:
  explicit CAROM_INLINE FreeBodyOf(const T* q) : q_(q) { rotation_of(q + 3, rotation_); }

  const T* q_;
  T rotation_[9];
};
using FreeBody = FreeBodyOf<double>;

/// A body's point r against a level plane: the tangents are the world's x and y.
template <class T>
struct LevelContactOf {
  T gap{0.0};
  T r[3];
  int begin = 0, end = 6;
};

/// Body with principal inertias whose points touch the plane z = 0. Derived: force, potential,
/// constraint.
template <class T>
class BodyOnPlaneOf : public FreeBodyOf<T> {
 public:
  using Constraint = LevelContactOf<T>;

  CAROM_INLINE void mass_matrix(T* matrix) const {
    const T diagonal[6] = {mass_, mass_, mass_, inertia_[0], inertia_[1], inertia_[2]};
    put_diagonal(6, diagonal, matrix);
  }
  CAROM_INLINE void inverse_mass(T* inverse) const {
    for (int j = 0; j < 3; ++j) {
      inverse[j] = 1.0 / mass_;
      inverse[3 + j] = 1.0 / inertia_[j];
    }
  }

 protected:
  /// Derived: inertia_.
  CAROM_INLINE BodyOnPlaneOf(T mass, const T* q) : FreeBodyOf<T>(q), mass_(mass) {}

  [[nodiscard]] CAROM_INLINE Constraint point(T x, T y, T z) const {
    const T* up = this->rotation_ + 6;
    return {this->q_[2] + up[0] * x + up[1] * y + up[2] * z, {x, y, z}};
  }

  T mass_;
  T inertia_[3];
};

}  // namespace carom::kernels
