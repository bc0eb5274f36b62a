#pragma once

#include <carom/device/numeric.hpp>

/// Newton's equations of one contact and the inverse of their block.
namespace carom::kernels {

/// Row of the Newton matrix: gain times W's rows of the contact, what the diagonal
/// block has in addition, and the right-hand side.
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
  const auto slides = closed & (size > mu * force[0]);
  const V d[2] = {select(slides, force[1] * inverse, zero),
                  select(slides, force[2] * inverse, zero)};
  const V bend = smaller(mu * larger(p[0], zero) * inverse, one);
  // Share of rho F in the equation: all of it where the contact sticks, none where it is open.
  const V held = select(sticks, one, zero);
  const V mixed = select(slides, bend * (zero - d[0] * d[1]), zero);
  const V along[2] = {select(slides, bend * (one - d[0] * d[0]), held),
                      select(slides, bend * (one - d[1] * d[1]), held)};
  for (int k = 0; k < 2; ++k) {
    row[k].gain[0] = zero;
    row[k].gain[1 + k] = along[k] * rho;
    row[k].gain[2 - k] = mixed * rho;
    row[k].fixed[0] = -(mu * d[k]);
    row[k].fixed[1 + k] = one - along[k];
    row[k].fixed[2 - k] = zero - mixed;
    row[k].wanted = select(sticks, -rho * slip[1 + k], fused(mu * p[0], d[k], -p[1 + k]));
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
