#pragma once

#include <carom/certificate.hpp>
#include <carom/device/constraint_rows.hpp>

/// Residual of a compliant step, from the problem's data only (docs/explanation/compliant.md).
namespace carom::certificate {

/// Mass matrix given by the diagonal of its inverse. Values: an array, or memory of packs.
template <class Values = const double*>
struct DiagonalMass {
  Values inverse;
  static constexpr bool kDiagonal = true;
};

/// Dense mass matrix, row-major.
template <class Values = const double*>
struct DenseMass {
  Values matrix;
  int velocities;
  static constexpr bool kDiagonal = false;
};

/// Sum over j in [begin, end) of M_ij x(j).
template <class V, class Mass, class X>
CAROM_INLINE V mass_row_times(const Mass& mass, int i, int begin, int end, const X& x) {
  using kernels::fused;
  if constexpr (Mass::kDiagonal) {
    return x(i) / mass.inverse[i];
  } else {
    V sum(0.0);
    const long row = static_cast<long>(i) * mass.velocities;
    for (int j = begin; j < end; ++j) sum = fused(mass.matrix[row + j], x(j), sum);
    return sum;
  }
}

/// The rows of one world.
struct RowsOfWorld {
  const kernels::ConstraintRows& rows;
  [[nodiscard]] CAROM_INLINE int count() const { return rows.count; }
  [[nodiscard]] CAROM_INLINE int velocities() const { return rows.velocities; }
  [[nodiscard]] CAROM_INLINE RowType type(int i) const { return rows.type[i]; }
  [[nodiscard]] CAROM_INLINE int begin(int i) const { return rows.begin[i]; }
  [[nodiscard]] CAROM_INLINE int end(int i) const { return rows.end[i]; }
  [[nodiscard]] CAROM_INLINE double jacobian(int i, int j) const { return rows.row(i)[j]; }
  [[nodiscard]] CAROM_INLINE double jacobian_dot_v(int i) const { return rows.jacobian_dot_v[i]; }
  [[nodiscard]] CAROM_INLINE double phi(int i) const { return rows.phi[i]; }
  [[nodiscard]] CAROM_INLINE double stiffness(int i) const { return rows.stiffness[i]; }
  [[nodiscard]] CAROM_INLINE double damping(int i) const { return rows.damping[i]; }
  [[nodiscard]] CAROM_INLINE double friction(int i) const { return rows.friction[i]; }
};

/// Largest violation of some equations and the largest of their terms.
template <class V>
struct Violation {
  MaxAbs<V> worst;
  MaxAbs<V> scale;

  /// Compared among each other before they wait for the terms before them.
  CAROM_INLINE void add_terms(V x, V y, V z, V u) {
    MaxAbs<V> these;
    MaxAbs<V> others;
    these.add(x);
    others.add(y);
    these.add(z);
    others.add(u);
    these.add(others.value);
    scale.add(these.value);
  }
  [[nodiscard]] CAROM_INLINE V relative() const {
    using kernels::select;
    return worst.value / select(scale.value > V(kTiny), scale.value, V(kTiny));
  }
};

/// Equations [begin, end) of M (v' - v) = h f + G'p. momentum: scratch, [velocities].
template <class V, class Mass, class Rows, class Values, class Memory>
CAROM_INLINE void add_balance(Violation<V>& sum, const Mass& mass, const Rows& rows, V h,
                              const Values& force, const Values& v, const Values& next_v,
                              const Values& impulse, const Memory& momentum, int begin, int end) {
  using kernels::fused;
  const int nv = rows.velocities();
  for (int j = begin; j < end; ++j) momentum[j] = V(0.0);
  for (int i = 0; i < rows.count(); ++i) {
    const V p = impulse[i];
    const int first = rows.begin(i) > begin ? rows.begin(i) : begin;
    const int last = rows.end(i) < end ? rows.end(i) : end;
    for (int j = first; j < last; ++j) momentum[j] = fused(rows.jacobian(i, j), p, momentum[j]);
  }
  for (int j = begin; j < end; ++j) {
    const V after = mass_row_times<V>(mass, j, 0, nv, [&](int k) { return V(next_v[k]); });
    const V before = mass_row_times<V>(mass, j, 0, nv, [&](int k) { return V(v[k]); });
    const V pushed = h * force[j];
    sum.worst.add(after - before - pushed - momentum[j]);
    sum.add_terms(after, before, pushed, momentum[j]);
  }
}

/// Whether rows say of themselves that none has K = B = 0.
template <class Rows>
inline constexpr bool kAllCarry = false;
template <class Rows>
requires Rows::kAllCarry inline constexpr bool kAllCarry<Rows> = true;

/// The laws of rows [begin, end), of whole contacts. weight, flow: scratch, [rows].
template <class V, class Mass, class Rows, class Values, class Memory>
CAROM_INLINE void add_laws(Violation<V>& sum, const Mass& mass, const Rows& rows, V h,
                           const Values& v, const Values& next_v, const Values& impulse,
                           const Values& centripetal, const Memory& weight, const Memory& flow,
                           int begin, int end) {
  using kernels::fused;
  using kernels::select;
  using kernels::square_root;
  const V zero(0.0);
  for (int i = begin; i < end; ++i) {
    if (rows.type(i) == RowType::none) {
      weight[i] = zero;
      flow[i] = zero;
      continue;
    }
    const V rate = fused(h, rows.stiffness(i), rows.damping(i));
    const auto carries = h * rate > zero;
    const int first = rows.begin(i);
    const int last = rows.end(i);
    V square(0.0);
    V energy(0.0);
    V speed(0.0);
    V approach(0.0);
    for (int j = first; j < last; ++j) {
      const V g = rows.jacobian(i, j);
      square = fused(g, g, square);
      energy = fused(
          g, mass_row_times<V>(mass, j, first, last, [&](int k) { return V(rows.jacobian(i, k)); }),
          energy);
      speed = fused(g, next_v[j], speed);
      approach = fused(g, v[j], approach);
    }
    const V softness = V(1.0) / (h * rate);
    const V rho = select(energy > zero, energy / fused(softness, energy, square * square),
                         select(carries, h * rate, zero));
    const V curve = h * rows.jacobian_dot_v(i);
    const V spring = fused(rows.stiffness(i), rows.phi(i), centripetal[i]) * (h * softness);
    const auto where = [&](V x) {
      if constexpr (kAllCarry<Rows>) return x;
      return select(carries, x, zero);
    };
    weight[i] = where(rho);
    flow[i] = where(fused(impulse[i], softness, speed + curve + spring));
    sum.add_terms(where(impulse[i]), where(rho * approach), where(rho * curve),
                  where(rho * spring));
  }
  for (int i = begin; i < end; ++i) {
    const RowType type = rows.type(i);
    if (type == RowType::none || type == RowType::tangent) continue;
    const V p = impulse[i];
    const auto carries = weight[i] > zero;
    const V pull = weight[i] * flow[i];
    if (type == RowType::bilateral) {
      sum.worst.add(select(carries, pull, p));
      continue;
    }
    const V wanted = p - pull;
    sum.worst.add(select(carries, p - select(wanted <= zero, zero, wanted), p));
    if (type != RowType::normal) continue;
    // Tangents: those of a contact share the smaller weight, so that slip and force line up.
    int tangents = 0;
    V common = weight[i];
    while (i + tangents + 1 < end && rows.type(i + tangents + 1) == RowType::tangent) {
      ++tangents;
      const V w = weight[i + tangents];
      common = tangents == 1 ? w : select(w < common, w, common);
    }
    const V radius = select((carries & (common > zero)) & (p > zero), rows.friction(i) * p, zero);
    V square(0.0);
    for (int k = 1; k <= tangents; ++k) {
      const V t = fused(-common, flow[i + k], impulse[i + k]);
      square = fused(t, t, square);
    }
    const V size = square_root(square);
    const V shrink = select(size > radius, radius / size, V(1.0));
    for (int k = 1; k <= tangents; ++k) {
      const V t = fused(-common, flow[i + k], impulse[i + k]);
      sum.worst.add(impulse[i + k] - select(radius > zero, shrink * t, zero));
    }
  }
}

/// The larger of the two, NaN where the laws' is; `balance` counts as larger where it is NaN.
template <class V>
CAROM_INLINE V joined_residual(V balance, V law) {
  using kernels::select;
  return select(law != law, law, select(balance <= law, law, balance));
}

/// Largest violation of
///   M (v' - v) = h f + G'p                                         relative to its largest term,
///   p = Pi_C(p - rho F),  F = G v' + h (dG/dt) v + (K phi + m)/(h K + B) + p/(h^2 K + h B),
/// relative to the largest |p_i| and rho_i times the terms of F. C: the line, the half-line, the
/// disk of radius mu p_n; rows with K = B = 0 carry nothing. rho_i is at least
/// 1/(G_i M^-1 G_i' + 1/(h^2 K + h B)), by |g|^4 <= (g'M g)(g'M^-1 g), so no inverse is taken.
/// impulse: p [N s] and centripetal: m [N], [rows]; scratch: [2 rows + velocities]. V: double, or a
/// pack of worlds whose rows are of the same types.
template <class V, class Mass, class Rows, class Values, class Memory>
CAROM_INLINE V step_law_residual(const Mass& mass, const Rows& rows, V h, const Values& force,
                                 const Values& v, const Values& next_v, const Values& impulse,
                                 const Values& centripetal, const Memory& scratch) {
  const int count = rows.count();
  Violation<V> balance;
  add_balance(balance, mass, rows, h, force, v, next_v, impulse, scratch + 2L * count, 0,
              rows.velocities());
  Violation<V> laws;
  add_laws(laws, mass, rows, h, v, next_v, impulse, centripetal, scratch + 0L, scratch + 1L * count,
           0, count);
  return joined_residual(balance.relative(), laws.relative());
}

/// The same for one world.
template <class Mass>
CAROM_INLINE double compliant_residual(const Mass& mass, const kernels::ConstraintRows& rows,
                                       double h, const double* force, const double* v,
                                       const double* next_v, const double* impulse,
                                       const double* centripetal, double* scratch) {
  return step_law_residual<double>(mass, RowsOfWorld{rows}, h, force, v, next_v, impulse,
                                   centripetal, scratch);
}

}  // namespace carom::certificate
