#pragma once

#include <cmath>

#include <carom/kernels/contact_geometry.hpp>
#include <carom/kernels/host_device.hpp>

/// Residuals recomputed from the problem data. No solver calls or shares this code; every answer is
/// judged by it, in double, whatever the solver's precision.
namespace carom::certificate {

/// Scales below this are treated as this: a relative residual never divides by zero.
inline constexpr double kTiny = 1e-300;

/// NaN-proof test of a residual: false for NaN.
CAROM_HOST_DEVICE inline bool within(double residual, double tolerance) {
  return residual <= tolerance;
}

/// Running maximum of magnitudes that keeps a NaN once it has met one.
struct MaxAbs {
  double value = 0.0;
  CAROM_HOST_DEVICE void add(double x) {
    const double magnitude = std::fabs(x);
    if (!(magnitude <= value)) value = (value != value) ? value : magnitude;
  }
};

/// Natural residual of LCP(M, q) at z: max|min(z, M z + q)| / max(|q|_inf, tiny).
/// M: row-major [n, n]; q, z: [n].
CAROM_HOST_DEVICE inline double lcp_residual(int n, const double* matrix, const double* vector,
                                             const double* z) {
  MaxAbs worst;
  MaxAbs scale;
  for (int i = 0; i < n; ++i) {
    double w = vector[i];
    for (int j = 0; j < n; ++j) w += matrix[static_cast<long>(i) * n + j] * z[j];
    worst.add(w < z[i] || w != w ? w : z[i]);
    scale.add(vector[i]);
  }
  return worst.value / (scale.value > kTiny ? scale.value : kTiny);
}

/// What is known of one impulse step.
struct StepCertificate {
  double residual = 0.0;       ///< natural residual of (75), relative to max|w|
  double energy_change = 0.0;  ///< K(v') - K(v) [J]; Theorem 7: not positive
  bool advances = true;        ///< Lemma 13: a contact is fully activated or none approaches
};

/// Natural residual of one contact's rows of (75), not yet relative, in the original unknowns:
/// beta = max(0, -u_n'), lambda_D >= 0 with sum_j d_j lambda_D,j = lambda_t, and the smallest gamma
/// that the sliding velocity allows.
/// impulse_t, next_t: [Dim-1]; normal: lambda_n; next_normal: (Jn v')_i.
template <int Dim>
CAROM_HOST_DEVICE inline double contact_residual(const kernels::FrictionPolygon& polygon,
                                                 double friction, double limit, double normal,
                                                 const double* impulse_t, double next_normal,
                                                 const double* next_t) {
  MaxAbs worst;
  const auto complementary = [&worst](double a, double b) { worst.add(a < b || a != a ? a : b); };
  const double beta = next_normal < 0.0 ? -next_normal : 0.0;
  if (limit < kernels::kInfinity) complementary(beta, limit - normal);
  else worst.add(beta);
  complementary(normal, next_normal + (limit < kernels::kInfinity ? beta : 0.0));
  const auto along = [&](int j, const double* t) {
    double sum = polygon.direction[j][0] * t[0];
    if constexpr (Dim == 3) sum += polygon.direction[j][1] * t[1];
    return sum;
  };
  const int k = polygon.count;
  double gamma = 0.0;
  int nearest = 0;
  for (int j = 0; j < k; ++j) {
    if (-along(j, next_t) > gamma) gamma = -along(j, next_t);
    if (along(j, impulse_t) > along(nearest, impulse_t)) nearest = j;
  }
  // Only the two directions around lambda_t carry impulse: that needs the least of it.
  double first = along(nearest, impulse_t);
  double second = 0.0;
  int neighbour = nearest;
  if constexpr (Dim == 3) {
    const double* d = polygon.direction[nearest];
    const double side = d[0] * impulse_t[1] - d[1] * impulse_t[0];
    neighbour = side >= 0.0 ? (nearest + 1) % k : (nearest + k - 1) % k;
    const double* e = polygon.direction[neighbour];
    const double area = d[0] * e[1] - d[1] * e[0];
    second = side / area;
    first = (impulse_t[0] * e[1] - impulse_t[1] * e[0]) / area;
  }
  for (int j = 0; j < k; ++j) {
    const double share = j == nearest ? first : (j == neighbour ? second : 0.0);
    complementary(share, along(j, next_t) + gamma);
  }
  complementary(gamma, friction * normal - first - second);
  return worst.value;
}

/// Takes the step v' = v + M^-1 J' lambda and certifies it from the problem's own data.
/// jacobian: [rows, nv], the m normals first; response: M^-1 J', [nv, rows]; v, next_v: [nv];
/// u = J v, next_u: [rows]; limit: lambda_max, [m]; impulse: [rows].
template <int Dim, class Lanes>
CAROM_HOST_DEVICE StepCertificate certify_step(const Lanes& lanes, int nv, int m,
                                               const kernels::FrictionPolygon& polygon,
                                               const double* jacobian, const double* response,
                                               const double* friction, const double* v,
                                               const double* u, const double* limit,
                                               const double* impulse, double* next_v,
                                               double* next_u) {
  const int rows = Dim * m;
  lanes.for_each(nv, [&](int i) {
    double sum = v[i];
    for (int j = 0; j < rows; ++j) {
      sum = kernels::fused(response[static_cast<long>(i) * rows + j], impulse[j], sum);
    }
    next_v[i] = sum;
  });
  lanes.for_each(rows, [&](int i) {
    double sum = 0.0;
    for (int j = 0; j < nv; ++j) {
      sum = kernels::fused(jacobian[static_cast<long>(i) * nv + j], next_v[j], sum);
    }
    next_u[i] = sum;
  });
  MaxAbs scale;
  MaxAbs worst;
  double work = 0.0;
  bool activated = false;
  bool separated = true;
  for (int i = 0; i < m; ++i) {
    const int t = m + (Dim - 1) * i;
    if (limit[i] < kernels::kInfinity) scale.add(limit[i]);
    scale.add(u[i]);
    for (int c = 0; c < Dim - 1; ++c) scale.add(u[t + c]);
    worst.add(contact_residual<Dim>(polygon, friction[i], limit[i], impulse[i], impulse + t,
                                    next_u[i], next_u + t));
    activated = activated || impulse[i] >= limit[i] * (1.0 - 1e-12);
    separated = separated && next_u[i] >= -1e-9 * scale.value;
  }
  for (int j = 0; j < rows; ++j) work = kernels::fused(impulse[j], u[j] + next_u[j], work);
  return {worst.value / (scale.value > kTiny ? scale.value : kTiny), 0.5 * work,
          activated || separated};
}

}  // namespace carom::certificate
