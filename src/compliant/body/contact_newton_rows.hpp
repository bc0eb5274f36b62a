#pragma once

#include <carom/device/numeric.hpp>

/// Newton's equations of one contact and the inverse of their block.
namespace carom::kernels {

/// Row of the Newton matrix: gain times W's rows of the contact, what stands on the diagonal
/// block beside it, and the right-hand side.
template <class V>
struct NewtonRow {
  V gain[3];
  V fixed[3];
  V wanted;
};

/// Closed: rho F_n = 0. Open: p_n = 0. force: p - rho F; slip: F; weight: rho.
template <class V>
CAROM_INLINE void newton_normal_row(V p, V force, V slip, V weight, NewtonRow<V>& row) {
  const auto closed = force > V(0.0);
  row.gain[0] = select(closed, weight, V(0.0));
  row.fixed[0] = select(closed, V(0.0), V(1.0));
  row.wanted = select(closed, -weight * slip, -p);
}

/// Two tangents of a spatial contact, all arrays normal first; sliding: p_t = mu p_n d(p), d the
/// direction of p_t - rho F_t, whose length is `size`.
template <class V>
CAROM_INLINE void newton_disk_rows(const V (&p)[3], const V (&force)[3], const V (&slip)[3], V rho,
                                   V mu, V size, NewtonRow<V>* row) {
  const V zero(0.0);
  const V one(1.0);
  const V inverse = one / size;
  const auto closed = force[0] > zero;
  const auto sticks = closed & (size <= mu * force[0]);
  const V d[2] = {force[1] * inverse, force[2] * inverse};
  const V bend = smaller(mu * larger(p[0], zero) * inverse, one);
  for (int k = 0; k < 2; ++k) {
    row[k].gain[0] = zero;
    row[k].fixed[0] = select(sticks, zero, select(closed, -(mu * d[k]), zero));
    for (int l = 0; l < 2; ++l) {
      const V unit = k == l ? one : zero;
      const V across = bend * (unit - d[k] * d[l]);
      row[k].gain[1 + l] = select(sticks, unit * rho, select(closed, across * rho, zero));
      row[k].fixed[1 + l] = select(sticks, zero, select(closed, unit - across, unit));
    }
    row[k].wanted = select(sticks, -rho * slip[1 + k],
                           select(closed, fused(mu * p[0], d[k], -p[1 + k]), -p[1 + k]));
  }
}

/// Inverse of a contact's diagonal block, by cofactors.
template <class V>
CAROM_INLINE void invert_block(const V (&m)[3][3], V (&inverse)[3][3]) {
  V cofactor[3][3];
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3;
    const int c = (a + 2) % 3;
    for (int l = 0; l < 3; ++l) {
      const int k = (l + 1) % 3;
      const int q = (l + 2) % 3;
      cofactor[a][l] = fused(m[b][k], m[c][q], -(m[b][q] * m[c][k]));
    }
  }
  const V determinant =
      fused(m[0][0], cofactor[0][0], fused(m[0][1], cofactor[0][1], m[0][2] * cofactor[0][2]));
  const V scale = V(1.0) / determinant;
  for (int a = 0; a < 3; ++a) {
    for (int l = 0; l < 3; ++l) inverse[a][l] = cofactor[l][a] * scale;
  }
}

}  // namespace carom::kernels
