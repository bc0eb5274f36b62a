#pragma once

#include <carom/device/numeric.hpp>

/// Second-order cones in the arithmetic of the homogeneous method: products, the scaling of
/// Nesterov and Todd (1997) in the form of Vandenberghe, "The CVXOPT linear and quadratic cone
/// program solvers" (2010), section 4 and 5. A vector (t, v) of `size` numbers.
namespace carom::kernels::soc {

template <class Real>
CAROM_INLINE Real tail_product(const Real* a, const Real* b, int size) {
  Real sum(0.0);
  for (int i = 1; i < size; ++i) sum += a[i] * b[i];
  return sum;
}
template <class Real>
CAROM_INLINE Real tail_norm(const Real* a, int size) {
  return square_root(tail_product(a, a, size));
}
/// t^2 - |v|^2, by its factors: exact where it is small.
template <class Real>
CAROM_INLINE Real determinant(const Real* a, int size) {
  const Real tail = tail_norm(a, size);
  return (a[0] - tail) * (a[0] + tail);
}

/// a o b = (a'b, a0 b1 + b0 a1). May overwrite either.
template <class Real>
CAROM_INLINE void product(const Real* a, const Real* b, int size, Real* result) {
  const Real head = a[0] * b[0] + tail_product(a, b, size);
  const Real a0 = a[0];
  const Real b0 = b[0];
  for (int i = 1; i < size; ++i) result[i] = a0 * b[i] + b0 * a[i];
  result[0] = head;
}
/// x with a o x = b; a has the determinant `det`. May overwrite b.
template <class Real>
CAROM_INLINE void quotient(const Real* a, const Real& det, const Real* b, int size, Real* x) {
  const Real head = (a[0] * b[0] - tail_product(a, b, size)) / det;
  for (int i = 1; i < size; ++i) x[i] = (b[i] - head * a[i]) / a[0];
  x[0] = head;
}

/// W = eta [w0, w1'; w1, I + w1 w1' / (1 + w0)], w of determinant 1: W z = W^-1 s.
template <class Real>
struct Scaling {
  Real eta;
  const Real* w;
  int size;

  /// May overwrite.
  CAROM_INLINE void apply(const Real* from, Real* to) const {
    const Real dot = tail_product(w, from, size);
    const Real head = w[0] * from[0] + dot;
    const Real share = from[0] + dot / (Real(1.0) + w[0]);
    for (int i = 1; i < size; ++i) to[i] = eta * (from[i] + w[i] * share);
    to[0] = eta * head;
  }
  CAROM_INLINE void apply_inverse(const Real* from, Real* to) const {
    const Real dot = tail_product(w, from, size);
    const Real head = w[0] * from[0] - dot;
    const Real share = dot / (Real(1.0) + w[0]) - from[0];
    for (int i = 1; i < size; ++i) to[i] = (from[i] + w[i] * share) / eta;
    to[0] = head / eta;
  }
};

/// w and eta of s and z, both inside.
template <class Real>
CAROM_INLINE Real find_scaling(const Real* s, const Real* z, int size, Real* w) {
  const Real s_root = square_root(determinant(s, size));
  const Real z_root = square_root(determinant(z, size));
  const Real dot = (s[0] * z[0] + tail_product(s, z, size)) / (s_root * z_root);
  const Real gamma = Real(2.0) * square_root((Real(1.0) + dot) * Real(0.5));
  for (int i = 1; i < size; ++i) w[i] = (s[i] / s_root - z[i] / z_root) / gamma;
  // Of determinant 1 whatever was rounded.
  w[0] = square_root(Real(1.0) + tail_product(w, w, size));
  return square_root(s_root / z_root);
}

/// 1 / largest step from a along d, 0 or less where it is endless: with a = 1 at the unit,
/// |rho1| - rho0 of the transformed direction (Vandenberghe, section 8).
template <class Real>
CAROM_INLINE Real inverse_step(const Real* a, const Real* d, int size) {
  const Real root = square_root(determinant(a, size));
  const Real head = (a[0] * d[0] - tail_product(a, d, size)) / (root * root);
  const Real share = (head * root + d[0]) / (a[0] + root);
  Real sum(0.0);
  for (int i = 1; i < size; ++i) {
    const Real rho = (d[i] - share * a[i]) / root;
    sum += rho * rho;
  }
  return square_root(sum) - head;
}

}  // namespace carom::kernels::soc
