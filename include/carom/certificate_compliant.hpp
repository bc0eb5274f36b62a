#pragma once

#include <carom/certificate.hpp>
#include <carom/kernels/constraint_rows.hpp>

/// Residual of a compliant step, from the problem's data alone (docs/algorithms/compliant.md).
namespace carom::certificate {

/// Mass matrix given by the diagonal of its inverse.
struct DiagonalMass {
  const double* inverse;
  CAROM_INLINE double entry(int i, int j) const { return i == j ? 1.0 / inverse[i] : 0.0; }
  static constexpr bool kDiagonal = true;
};

/// Dense mass matrix, row-major.
struct DenseMass {
  const double* matrix;
  int velocities;
  CAROM_INLINE double entry(int i, int j) const {
    return matrix[static_cast<long>(i) * velocities + j];
  }
  static constexpr bool kDiagonal = false;
};

/// Row i of M x.
template <class Mass>
CAROM_INLINE double mass_row_times(const Mass& mass, int n, int i, const double* x) {
  if constexpr (Mass::kDiagonal) return mass.entry(i, i) * x[i];
  double sum = 0.0;
  for (int j = 0; j < n; ++j) sum += mass.entry(i, j) * x[j];
  return sum;
}

/// Largest violation of
///   M (v' - v) = h f + G'p                                         relative to its largest term,
///   p = Pi_C(p - rho F),  F = G v' + h (dG/dt) v + (K phi + m)/(h K + B) + p/(h^2 K + h B),
/// relative to the largest |p_i| and rho_i times the terms of F. C: the line, the half-line, the
/// disk of radius mu p_n; rows with K = B = 0 carry nothing. rho_i is at least
/// 1/(G_i M^-1 G_i' + 1/(h^2 K + h B)), by |g|^4 <= (g'M g)(g'M^-1 g), so no inverse is taken.
/// impulse: p [N s] and centripetal: m [N], [rows.count]; scratch: [2 rows.count + velocities].
template <class Mass>
CAROM_INLINE double compliant_residual(const Mass& mass, const kernels::ConstraintRows& rows,
                                       double h, const double* force, const double* v,
                                       const double* next_v, const double* impulse,
                                       const double* centripetal, double* scratch) {
  const int nv = rows.velocities;
  double* weight = scratch;
  double* flow = scratch + rows.count;
  double* momentum = scratch + 2L * rows.count;
  MaxAbs<> worst;
  MaxAbs<> scale;
  for (int j = 0; j < nv; ++j) momentum[j] = 0.0;
  for (int i = 0; i < rows.count; ++i) {
    for (int j = rows.begin[i]; j < rows.end[i]; ++j) momentum[j] += rows.row(i)[j] * impulse[i];
  }
  for (int j = 0; j < nv; ++j) {
    const double after = mass_row_times(mass, nv, j, next_v);
    const double before = mass_row_times(mass, nv, j, v);
    worst.add(after - before - h * force[j] - momentum[j]);
    scale.add(after);
    scale.add(before);
    scale.add(h * force[j]);
    scale.add(momentum[j]);
  }
  const double balance = worst.value / (scale.value > kTiny ? scale.value : kTiny);

  worst = {};
  scale = {};
  for (int i = 0; i < rows.count; ++i) {
    const double* g = rows.row(i);
    const double rate = h * rows.stiffness[i] + rows.damping[i];
    if (rows.type[i] == RowType::none || !(h * rate > 0.0)) {
      weight[i] = 0.0;
      flow[i] = 0.0;
      continue;
    }
    double square = 0.0;
    double energy = 0.0;
    double speed = 0.0;
    double approach = 0.0;
    for (int j = rows.begin[i]; j < rows.end[i]; ++j) {
      square += g[j] * g[j];
      if constexpr (Mass::kDiagonal) {
        energy += g[j] * g[j] * mass.entry(j, j);
      } else {
        for (int k = rows.begin[i]; k < rows.end[i]; ++k) energy += g[j] * mass.entry(j, k) * g[k];
      }
      speed += g[j] * next_v[j];
      approach += g[j] * v[j];
    }
    const double mobility = energy > 0.0 ? square * square / energy : 0.0;
    weight[i] = 1.0 / (mobility + 1.0 / (h * rate));
    const double curve = h * rows.jacobian_dot_v[i];
    const double spring = (rows.stiffness[i] * rows.phi[i] + centripetal[i]) / rate;
    flow[i] = speed + curve + spring + impulse[i] / (h * rate);
    scale.add(impulse[i]);
    scale.add(weight[i] * approach);
    scale.add(weight[i] * curve);
    scale.add(weight[i] * spring);
  }
  for (int i = 0; i < rows.count; ++i) {
    const bool carries = weight[i] > 0.0;
    const double wanted = impulse[i] - weight[i] * flow[i];
    switch (rows.type[i]) {
      case RowType::bilateral:
        worst.add(carries ? weight[i] * flow[i] : impulse[i]);
        break;
      case RowType::unilateral:
      case RowType::normal:
        worst.add(carries ? impulse[i] - (wanted > 0.0 || wanted != wanted ? wanted : 0.0)
                          : impulse[i]);
        break;
      default:
        break;
    }
    if (rows.type[i] != RowType::normal) continue;
    // Tangents: those of a contact share the smaller weight, so that slip and force line up.
    int count = 0;
    bool rubs = carries;
    double common = 0.0;
    while (i + count + 1 < rows.count && rows.type[i + count + 1] == RowType::tangent) {
      ++count;
      const double w = weight[i + count];
      rubs = rubs && w > 0.0;
      common = count == 1 || w < common ? w : common;
    }
    const double radius = rubs && impulse[i] > 0.0 ? rows.friction[i] * impulse[i] : 0.0;
    double square = 0.0;
    for (int k = 1; k <= count; ++k) {
      const double t = impulse[i + k] - common * flow[i + k];
      square += t * t;
    }
    const double size = std::sqrt(square);
    const double shrink = size > radius ? radius / size : 1.0;
    for (int k = 1; k <= count; ++k) {
      const double t = impulse[i + k] - common * flow[i + k];
      worst.add(impulse[i + k] - (radius > 0.0 ? shrink * t : 0.0));
    }
  }
  const double law = worst.value / (scale.value > kTiny ? scale.value : kTiny);
  return law != law || balance <= law ? law : balance;
}

}  // namespace carom::certificate
