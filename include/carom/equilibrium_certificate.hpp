#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Proofs about spatial postures, recomputed in the world frame from the posture itself. No solver
/// calls or shares this code. V: double, or a pack of doubles, as is W, the posture's
/// numbers.
///
/// A pair (a, b) of vectors in R^3 whose fields w_i = a + b x x_i lie in the dual friction cones of
/// all contacts proves, for every centre of mass x that contact forces can hold,
///   (f x b) . x <= -a . f - b . tau,
/// because the contact forces' power in the field, sum_i f_i . w_i >= 0, is minus the external
/// wrench's, a . f + b . (x cross f + tau).
namespace carom::certificate {

template <class V>
CAROM_INLINE V inner_product(const V* a, const V* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class V>
CAROM_INLINE void vector_product(const V* a, const V* b, V* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/// |f_t| - mu f_n of a contact force: not positive inside the friction cone.
template <class V, class W>
CAROM_INLINE V cone_excess(W friction, const W* normal, const V* force) {
  using kernels::square_root;
  const V n[3] = {V(normal[0]), V(normal[1]), V(normal[2])};
  V tangential[3];
  vector_product(n, force, tangential);
  return square_root(inner_product(tangential, tangential)) - V(friction) * inner_product(n, force);
}

/// w_i = a + b x x_i of dual (a, b), [6].
template <class V, class W>
CAROM_INLINE void dual_field(const V* dual, const W* position, V* w) {
  const V x[3] = {V(position[0]), V(position[1]), V(position[2])};
  vector_product(dual + 3, x, w);
  for (int j = 0; j < 3; ++j) w[j] = dual[j] + w[j];
}

/// Smallest w . f over the friction cone's forces with f_n = 1: not negative inside the dual cone.
template <class V, class W>
CAROM_INLINE V dual_slack(W friction, const W* normal, const V* w) {
  using kernels::square_root;
  const V n[3] = {V(normal[0]), V(normal[1]), V(normal[2])};
  V tangential[3];
  vector_product(n, w, tangential);
  return inner_product(n, w) - V(friction) * square_root(inner_product(tangential, tangential));
}

/// The same over the cone whose section is the polygon with vertices friction * direction[j] in the
/// tangents t1, t2.
template <class V, class W>
CAROM_INLINE V dual_slack(W friction, const W* normal, const W* t1, const W* t2,
                          const double (*direction)[2], int sides, const V* w) {
  using kernels::select;
  const V n[3] = {V(normal[0]), V(normal[1]), V(normal[2])};
  const V s[3] = {V(t1[0]), V(t1[1]), V(t1[2])};
  const V t[3] = {V(t2[0]), V(t2[1]), V(t2[2])};
  const V first = inner_product(s, w);
  const V second = inner_product(t, w);
  V least(kernels::kInfinity);
  for (int j = 0; j < sides; ++j) {
    const V along = V(direction[j][0]) * first + V(direction[j][1]) * second;
    least = select(along < least, along, least);
  }
  return inner_product(n, w) + V(friction) * least;
}

/// Offset of the half-space that dual (a, b) proves for the external wrench (f, tau), [6].
template <class V, class W>
CAROM_INLINE V half_space_offset(const V* dual, const W* wrench) {
  const V f[3] = {V(wrench[0]), V(wrench[1]), V(wrench[2])};
  const V torque[3] = {V(wrench[3]), V(wrench[4]), V(wrench[5])};
  return -(inner_product(dual, f) + inner_product(dual + 3, torque));
}

/// Largest component of the resultant of contact forces and external wrench, forces relative to
/// |f_ext| (`force`) and torques about `centre` relative to force * length. A contact without force
/// may be left out: forces of `k` contacts at `position`. x: centre of mass.
template <class V, class W>
CAROM_INLINE V balance_residual(int k, const W* position, const V* forces, const W* wrench,
                                const V* x, const W* centre, W force, W length) {
  using kernels::magnitude;
  using kernels::select;
  V sum[3];
  V torque[3];
  V arm[3];
  for (int j = 0; j < 3; ++j) {
    sum[j] = V(wrench[j]);
    arm[j] = x[j] - V(centre[j]);
  }
  vector_product(arm, sum, torque);
  for (int j = 0; j < 3; ++j) torque[j] = torque[j] + V(wrench[3 + j]);
  for (int i = 0; i < k; ++i) {
    const V* f = forces + 3 * i;
    V moment[3];
    for (int j = 0; j < 3; ++j) arm[j] = V(position[3 * i + j] - centre[j]);
    vector_product(arm, f, moment);
    for (int j = 0; j < 3; ++j) {
      sum[j] = sum[j] + f[j];
      torque[j] = torque[j] + moment[j];
    }
  }
  V worst(0.0);
  const auto add = [&](V value, W scale) {
    const V size = magnitude(value) / V(scale);
    worst = select(size <= worst, worst, size);  // keeps NaN
  };
  for (int j = 0; j < 3; ++j) {
    add(sum[j], force);
    add(torque[j], force * length);
  }
  return worst;
}

}  // namespace carom::certificate
