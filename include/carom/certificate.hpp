#pragma once

#include <cmath>
#include <limits>

#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/packed.hpp>
#include <carom/device/row_products.hpp>

/// Residuals recomputed from the problem data. No solver calls or shares this code. Every answer is
/// checked by it, in double, for any precision of the solver.
namespace carom::certificate {

/// The least number with all its digits. Scales below it are treated as it: a relative residual
/// never divides by zero.
inline constexpr double kTiny = 0x1p-1022;

/// NaN-proof test of a residual: false for NaN.
CAROM_INLINE bool within(double residual, double tolerance) { return residual <= tolerance; }

/// Running maximum of magnitudes that keeps a NaN once it has met one. V: double, or a pack of
/// them.
template <class V = double>
struct MaxAbs {
  V value = V(0.0);
  CAROM_INLINE void add(V x) {
    using kernels::magnitude;
    using kernels::select;
    const V size = magnitude(x);
    value = select(value != value, value, select(size <= value, value, size));
  }
};

/// Largest |min(a_i z_i, b_i w_i)| with w = M z + q. M: row-major [n, n]; q, z: [n]; of_unknown(i),
/// of_row(i): a_i and b_i > 0, which bring unknown i and its row to one unit.
template <class OfUnknown, class OfRow>
CAROM_INLINE double lcp_residual_in_units(int n, const double* matrix, const double* vector,
                                          const double* z, const OfUnknown& of_unknown,
                                          const OfRow& of_row) {
  MaxAbs<> worst;
  for (int i = 0; i < n; ++i) {
    double w = vector[i];
    for (int j = 0; j < n; ++j) w += matrix[static_cast<long>(i) * n + j] * z[j];
    const double own = of_unknown(i) * z[i], other = of_row(i) * w;
    worst.add(own < other ? own : other);  // a NaN in z is one in w
  }
  return worst.value;
}

/// Largest |min(z, M z + q)| over max|q|: the natural residual in one unit for all rows, for LCPs
/// whose rows have the same unit.
CAROM_INLINE double lcp_natural_residual(int n, const double* matrix, const double* vector,
                                         const double* z) {
  const auto same = [](int) { return 1.0; };
  MaxAbs<> scale;
  for (int i = 0; i < n; ++i) scale.add(vector[i]);
  return lcp_residual_in_units(n, matrix, vector, z, same, same) /
         (scale.value > kTiny ? scale.value : kTiny);
}

/// What is known of one impulse step. V: double, or a pack of doubles with its masks.
template <class V = double, class Mask = bool>
struct StepCertificate {
  V residual;       ///< natural residual of (75) in speeds, relative to the fastest contact
  V energy_change;  ///< K(v') - K(v) [J]; Theorem 7: not positive
  Mask advances;    ///< Lemma 13: a contact is fully activated or none approaches
};

/// min(a, b) of a complementary pair.
template <class V>
CAROM_INLINE void add_pair(MaxAbs<V>& worst, V a, V b) {
  using kernels::select;
  worst.add(select(a != a, a, select(a < b, a, b)));
}

/// The rows of beta = max(0, -u_n') and lambda_n of one contact.
template <class V>
CAROM_INLINE void add_normal_rows(MaxAbs<V>& worst, V limit, V normal, V next_normal) {
  using kernels::larger;
  using kernels::select;
  const V zero(0.0);
  const V beta = larger(-next_normal, zero);
  add_pair(worst, beta, limit - normal);
  add_pair(worst, normal, next_normal + select(limit < V(kernels::kInfinity), beta, zero));
}

/// Speed per impulse of a contact [1/kg], to a power of two: impulses times it are compared with
/// speeds, whatever the problem's units. scale: the contact's S, see contact_scale.
CAROM_INLINE double contact_mobility(double scale) { return 1.0 / (scale * scale); }

/// Natural residual [m/s] of one contact's rows of (75), not yet relative, in the original
/// unknowns: beta = max(0, -u_n'), lambda_D >= 0 with sum_j d_j lambda_D,j = lambda_t, and the
/// smallest gamma that the sliding velocity allows. An infinite limit means that the row of beta is
/// not there. limit, normal (lambda_n), impulse_t: times the contact's mobility; impulse_t, next_t:
/// [1]; next_normal: (Jn v')_i. friction: of all that V holds, or a V.
template <class V, class Friction>
CAROM_INLINE V planar_contact_residual(Friction friction, V limit, V normal, V impulse_t,
                                       V next_normal, V next_t) {
  using kernels::larger;
  using kernels::magnitude;
  using kernels::select;
  MaxAbs<V> worst;
  const auto complementary = [&worst](V a, V b) { add_pair(worst, a, b); };
  const V zero(0.0);
  add_normal_rows(worst, limit, normal, next_normal);
  const V gamma = magnitude(next_t);
  const V share = magnitude(impulse_t);
  complementary(share, select(impulse_t >= zero, next_t, -next_t) + gamma);
  complementary(gamma, V(friction) * normal - share);
  return worst.value;
}

/// The same for a spatial contact with the polygon's directions.
template <class V, class Friction>
CAROM_INLINE V spatial_contact_residual(const kernels::FrictionPolygon& polygon, Friction friction,
                                        V limit, V normal, const V* impulse_t, V next_normal,
                                        const V* next_t) {
  using kernels::larger;
  using kernels::select;
  MaxAbs<V> worst;
  const auto complementary = [&worst](V a, V b) { add_pair(worst, a, b); };
  const V zero(0.0);
  add_normal_rows(worst, limit, normal, next_normal);
  const auto along = [&](int j, const V* t) {
    return V(polygon.direction[j][0]) * t[0] + V(polygon.direction[j][1]) * t[1];
  };
  const int k = polygon.count;
  V gamma = zero;
  // The direction nearest to lambda_t, its two neighbours, and their indices.
  V nearest = zero;
  V next = V(1.0);
  V previous = V(static_cast<double>(k - 1));
  V d[2], after[2], before[2];
  for (int c = 0; c < 2; ++c) {
    d[c] = V(polygon.direction[0][c]);
    after[c] = V(polygon.direction[1][c]);
    before[c] = V(polygon.direction[k - 1][c]);
  }
  V farthest = along(0, impulse_t);
  gamma = larger(-along(0, next_t), gamma);
  for (int j = 1; j < k; ++j) {
    gamma = larger(-along(j, next_t), gamma);
    const V reach = along(j, impulse_t);
    const auto farther = reach > farthest;
    farthest = select(farther, reach, farthest);
    const int n = j + 1 == k ? 0 : j + 1;
    nearest = select(farther, V(static_cast<double>(j)), nearest);
    next = select(farther, V(static_cast<double>(n)), next);
    previous = select(farther, V(static_cast<double>(j - 1)), previous);
    for (int c = 0; c < 2; ++c) {
      d[c] = select(farther, V(polygon.direction[j][c]), d[c]);
      after[c] = select(farther, V(polygon.direction[n][c]), after[c]);
      before[c] = select(farther, V(polygon.direction[j - 1][c]), before[c]);
    }
  }
  // Only the two directions around lambda_t carry impulse: that needs the least of it.
  const V side = d[0] * impulse_t[1] - d[1] * impulse_t[0];
  const auto left = side >= zero;
  const V neighbour = select(left, next, previous);
  const V e[2] = {select(left, after[0], before[0]), select(left, after[1], before[1])};
  const V area = d[0] * e[1] - d[1] * e[0];
  const V first = (impulse_t[0] * e[1] - impulse_t[1] * e[0]) / area;
  const V second = side / area;
  for (int j = 0; j < k; ++j) {
    const V index(static_cast<double>(j));
    const V share = select(nearest != index, select(neighbour != index, zero, second), first);
    complementary(share, along(j, next_t) + gamma);
  }
  complementary(gamma, V(friction) * normal - first - second);
  return worst.value;
}

/// Residual [m/s] of contact i from the arrays of a step; t is the index of its first tangent row.
/// mobility: of the contact [1/kg].
template <int Dim, class V, class Friction>
CAROM_INLINE V contact_residual(const kernels::FrictionPolygon& polygon, Friction friction,
                                V mobility, int i, int t, const V* limit, const V* impulse,
                                const V* next_u) {
  if constexpr (Dim == 2) {
    return planar_contact_residual<V>(friction, mobility * limit[i], mobility * impulse[i],
                                      mobility * impulse[t], next_u[i], next_u[t]);
  } else {
    const V tangent[2] = {mobility * impulse[t], mobility * impulse[t + 1]};
    return spatial_contact_residual<V>(polygon, friction, mobility * limit[i],
                                       mobility * impulse[i], tangent, next_u[i], next_u + t);
  }
}

/// Residual of a step in contact coordinates, relative to max|u|; next_u = u + A impulse is filled.
/// delassus: A, [rows, rows]; contact_scale: S of each contact, [m]. V, of kWidth doubles: contacts
/// that are looked at side by side.
template <int Dim, class V = double, int kWidth = 1>
CAROM_INLINE double step_residual(const kernels::FrictionPolygon& polygon, int m,
                                  const double* delassus, const double* contact_scale,
                                  const double* u, const double* friction, const double* limit,
                                  const double* impulse, double* next_u) {
  const int rows = Dim * m;
  MaxAbs<V> worst;
  MaxAbs<> scale;
  for (int i = 0; i < rows; ++i) {
    double sum = u[i];
    for (int j = 0; j < rows; ++j) {
      sum = kernels::fused(delassus[static_cast<long>(i) * rows + j], impulse[j], sum);
    }
    next_u[i] = sum;
    scale.add(u[i]);
  }
  for (int first = 0; first < m; first += kWidth) {
    alignas(8 * kWidth) double side[3 + 2 * Dim][kWidth] = {};  // no contact: no residual
    for (int lane = 0; lane < kWidth && first + lane < m; ++lane) {
      const int i = first + lane;
      side[0][lane] = limit[i];
      side[1][lane] = friction[i];
      side[2][lane] = contact_mobility(contact_scale[i]);
      for (int c = 0; c < Dim; ++c) {
        const int row = c == 0 ? i : m + (Dim - 1) * i + c - 1;
        side[3 + c][lane] = impulse[row];
        side[3 + Dim + c][lane] = next_u[row];
      }
    }
    V of[3 + 2 * Dim];
    for (int c = 0; c < 3 + 2 * Dim; ++c) of[c] = kernels::load<V>(side[c]);
    worst.add(contact_residual<Dim>(polygon, of[1], of[2], 0, 1, of, of + 3, of + 3 + Dim));
  }
  alignas(8 * kWidth) double part[kWidth];
  kernels::store(part, worst.value);
  MaxAbs<> most;
  for (int lane = 0; lane < kWidth; ++lane) most.add(part[lane]);
  return most.value / (scale.value > kTiny ? scale.value : kTiny);
}

/// Takes the step v' = v + M^-1 J' lambda and certifies it from the problem's own data.
/// jacobian: [rows, nv], the m normals first; response: M^-1 J', [nv, rows]; v, next_v: [nv];
/// u = J v, next_u: [rows]; limit: lambda_max, [m]; impulse: [rows]; contact_scale: S of each
/// contact, [m]; least_speed: slower ones count as this fast [m/s].
template <int Dim, class V, class Lanes>
CAROM_INLINE auto certify_step(const Lanes& lanes, int nv, int m,
                               const kernels::FrictionPolygon& polygon, const double* jacobian,
                               const double* response, const double* contact_scale,
                               const double* friction, double least_speed, const V* v, const V* u,
                               const V* limit, const V* impulse, V* next_v, V* next_u) {
  using kernels::fused;
  using kernels::larger;
  using kernels::select;
  const int rows = Dim * m;
  kernels::add_row_products(
      lanes, nv, rows, response, impulse, [&](int i) { return v[i]; }, next_v);
  kernels::add_row_products(
      lanes, rows, nv, jacobian, next_v, [](int) { return V(0.0); }, next_u);
  MaxAbs<V> scale{V(least_speed)};
  MaxAbs<V> worst;
  for (int i = 0; i < m; ++i) {
    const int t = m + (Dim - 1) * i;
    scale.add(u[i]);
    for (int c = 0; c < Dim - 1; ++c) scale.add(u[t + c]);
    worst.add(contact_residual<Dim>(polygon, friction[i], V(contact_mobility(contact_scale[i])), i,
                                    t, limit, impulse, next_u));
  }
  V work(0.0);
  for (int j = 0; j < rows; ++j) work = fused(impulse[j], u[j] + next_u[j], work);
  auto activated = impulse[0] >= limit[0] * V(1.0 - 1e-12);
  auto separated = next_u[0] >= V(-1e-9) * scale.value;
  for (int i = 1; i < m; ++i) {
    activated = activated | (impulse[i] >= limit[i] * V(1.0 - 1e-12));
    separated = separated & (next_u[i] >= V(-1e-9) * scale.value);
  }
  const V residual = worst.value / larger(scale.value, V(kTiny));
  return StepCertificate<V, decltype(activated)>{
      residual, V(0.5) * work, static_cast<decltype(activated)>(activated | separated)};
}

}  // namespace carom::certificate
