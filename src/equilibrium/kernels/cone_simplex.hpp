#pragma once

#include <type_traits>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/orthonormal_frame.hpp>

/// Simplex method with four rows whose columns are generated: the support function of the set of
/// centres of mass that contact forces can hold (docs/explanation/equilibrium_spatial.md).
///
/// Units: force |f_ext|, length the contacts' largest distance from their mean. Frame: (u, v, e)
/// with e against the external force, origin at the contacts' mean. Unknown: forces g_i in cones,
///   maximise sum_i d . (p_x g_z - p_z g_x, p_y g_z - p_z g_y)
///   over     sum_i (g_x, g_y, g_z, p_x g_y - p_y g_x) = (0, 0, 1, b_4).
/// V: double, or a pack of doubles that holds one direction or one posture a lane.
namespace carom::kernels {

inline constexpr int kMaxConeSides = 64;
/// Multipliers below this count as zero in the ratio test.
inline constexpr double kSnap = 1e-12;
/// Smallest pivot, relative to the column's largest entry.
inline constexpr double kPivotThreshold = 1e-10;
/// Sum of the artificial variables at which phase 1 has found a feasible basis.
inline constexpr double kFeasible = 1e-11;

/// The extreme rays n + mu stretch t(theta) of a friction cone: all angles, or those of a polygon.
struct ConeRule {
  int sides = 0;         ///< 0: the exact cone
  double stretch = 1.0;  ///< 1 exact or inscribed, 1 / cos(pi / sides) circumscribed
  double direction[kMaxConeSides][2] = {};
};

/// One contact in the scaled frame. N: double, or a pack that holds a posture a lane.
template <class N>
struct SupportContactOf {
  N position[3];
  N normal[3];
  N tangent[2][3];
  N friction;  ///< mu stretch
};
using SupportContact = SupportContactOf<double>;

/// A ray as a column: its force, its torque about e, and the torques that move the centre of mass.
template <class V>
struct SupportColumn {
  V wrench[6];
  V contact;  ///< index, -1 for an artificial column
};

template <class V>
struct SupportBasis {
  SupportColumn<V> column[4];
};
/// Doubles of a basis in memory.
inline constexpr int kBasisReals = 28;

inline constexpr double kRunning = 0.0;
inline constexpr double kOptimal = 1.0;
inline constexpr double kUnbounded = 2.0;
inline constexpr double kBroken = 3.0;

template <class V>
CAROM_INLINE auto equals(V a, V b) {
  return (a <= b) & (a >= b);
}

template <class V>
CAROM_INLINE void ray_wrench(const V* p, const V* r, V* wrench) {
  for (int j = 0; j < 3; ++j) wrench[j] = r[j];
  wrench[3] = fused(p[0], r[1], -(p[1] * r[0]));
  wrench[4] = fused(p[0], r[2], -(p[2] * r[0]));
  wrench[5] = fused(p[1], r[2], -(p[2] * r[1]));
}

/// The smallest value of y'A r - d'm over all rays r of all contacts, and that ray's column: the
/// reduced costs of a whole cone in closed form. `vector` is w_i = A_i'y - c_i of Section 2.
template <class V, class N>
CAROM_INLINE V price(int contacts, const SupportContactOf<N>* contact, const ConeRule& rule,
                     const V* y, const V* d, SupportColumn<V>& column) {
  const V zero(0.0);
  const V one(1.0);
  V least(kInfinity);
  V at = zero;
  V chosen[2] = {zero, zero};
  for (int i = 0; i < contacts; ++i) {
    const SupportContactOf<N>& c = contact[i];
    const V px(c.position[0]);
    const V py(c.position[1]);
    const V pz(c.position[2]);
    const V w[3] = {fused(d[0], pz, fused(-py, y[3], y[0])), fused(d[1], pz, fused(px, y[3], y[1])),
                    fused(-d[1], py, fused(-d[0], px, y[2]))};
    const V normal = dot3(c.normal, w);
    const V a = dot3(c.tangent[0], w);
    const V b = dot3(c.tangent[1], w);
    V slack = normal;
    V first = a;
    V second = b;
    if (rule.sides == 0) {
      const V size = square_root(fused(a, a, b * b));
      slack = fused(V(-c.friction), size, normal);
    } else {
      V lowest(kInfinity);
      for (int j = 0; j < rule.sides; ++j) {
        const V x(rule.direction[j][0]);
        const V z(rule.direction[j][1]);
        const V along = fused(a, x, b * z);
        const auto better = along < lowest;
        lowest = select(better, along, lowest);
        first = select(better, x, first);
        second = select(better, z, second);
      }
      slack = fused(V(c.friction), lowest, normal);
    }
    const auto better = slack < least;
    least = select(better, slack, least);
    at = select(better, V(static_cast<double>(i)), at);
    chosen[0] = select(better, first, chosen[0]);
    chosen[1] = select(better, second, chosen[1]);
  }
  if (rule.sides == 0) {
    const V size = square_root(fused(chosen[0], chosen[0], chosen[1] * chosen[1]));
    const auto some = size > zero;
    const V scale = select(some, -one / size, zero);
    chosen[0] = select(some, chosen[0] * scale, one);
    chosen[1] = chosen[1] * scale;
  }
  V p[3];
  V n[3];
  V t[2][3];
  V mu;
  const auto take = [&](const SupportContactOf<N>& c) {
    for (int j = 0; j < 3; ++j) {
      p[j] = V(c.position[j]);
      n[j] = V(c.normal[j]);
      t[0][j] = V(c.tangent[0][j]);
      t[1][j] = V(c.tangent[1][j]);
    }
    mu = V(c.friction);
  };
  if constexpr (std::is_same_v<V, double>) {
    take(contact[static_cast<int>(at)]);
  } else {
    take(contact[0]);
    for (int i = 1; i < contacts; ++i) {
      const SupportContactOf<N>& c = contact[i];
      const auto here = equals(at, V(static_cast<double>(i)));
      for (int j = 0; j < 3; ++j) {
        p[j] = select(here, V(c.position[j]), p[j]);
        n[j] = select(here, V(c.normal[j]), n[j]);
        t[0][j] = select(here, V(c.tangent[0][j]), t[0][j]);
        t[1][j] = select(here, V(c.tangent[1][j]), t[1][j]);
      }
      mu = select(here, V(c.friction), mu);
    }
  }
  V r[3];
  for (int j = 0; j < 3; ++j) {
    r[j] = fused(mu, fused(chosen[0], t[0][j], chosen[1] * t[1][j]), n[j]);
  }
  ray_wrench(p, r, column.wrench);
  column.contact = at;
  return least;
}

/// inverse[r][j] of the matrix whose column r is column[r].wrench[0..3].
template <class V>
CAROM_INLINE void invert_basis(const SupportBasis<V>& basis, V (&inverse)[4][4]) {
  const auto m = [&](int i, int j) { return basis.column[j].wrench[i]; };
  const auto minor2 = [&](int i, int k, int a, int b) {
    return fused(m(i, a), m(k, b), -(m(k, a) * m(i, b)));
  };
  const V s[6] = {minor2(0, 1, 0, 1), minor2(0, 1, 0, 2), minor2(0, 1, 0, 3),
                  minor2(0, 1, 1, 2), minor2(0, 1, 1, 3), minor2(0, 1, 2, 3)};
  const V c[6] = {minor2(2, 3, 0, 1), minor2(2, 3, 0, 2), minor2(2, 3, 0, 3),
                  minor2(2, 3, 1, 2), minor2(2, 3, 1, 3), minor2(2, 3, 2, 3)};
  const V determinant = fused(
      s[0], c[5],
      fused(-s[1], c[4], fused(s[2], c[3], fused(s[3], c[2], fused(-s[4], c[1], s[5] * c[0])))));
  const V f = V(1.0) / determinant;
  const auto three = [&](V a, V x, V b, V y, V e, V z) {
    return f * fused(a, x, fused(-b, y, e * z));
  };
  inverse[0][0] = three(m(1, 1), c[5], m(1, 2), c[4], m(1, 3), c[3]);
  inverse[0][1] = -three(m(0, 1), c[5], m(0, 2), c[4], m(0, 3), c[3]);
  inverse[0][2] = three(m(3, 1), s[5], m(3, 2), s[4], m(3, 3), s[3]);
  inverse[0][3] = -three(m(2, 1), s[5], m(2, 2), s[4], m(2, 3), s[3]);
  inverse[1][0] = -three(m(1, 0), c[5], m(1, 2), c[2], m(1, 3), c[1]);
  inverse[1][1] = three(m(0, 0), c[5], m(0, 2), c[2], m(0, 3), c[1]);
  inverse[1][2] = -three(m(3, 0), s[5], m(3, 2), s[2], m(3, 3), s[1]);
  inverse[1][3] = three(m(2, 0), s[5], m(2, 2), s[2], m(2, 3), s[1]);
  inverse[2][0] = three(m(1, 0), c[4], m(1, 1), c[2], m(1, 3), c[0]);
  inverse[2][1] = -three(m(0, 0), c[4], m(0, 1), c[2], m(0, 3), c[0]);
  inverse[2][2] = three(m(3, 0), s[4], m(3, 1), s[2], m(3, 3), s[0]);
  inverse[2][3] = -three(m(2, 0), s[4], m(2, 1), s[2], m(2, 3), s[0]);
  inverse[3][0] = -three(m(1, 0), c[3], m(1, 1), c[1], m(1, 2), c[0]);
  inverse[3][1] = three(m(0, 0), c[3], m(0, 1), c[1], m(0, 2), c[0]);
  inverse[3][2] = -three(m(3, 0), s[3], m(3, 1), s[1], m(3, 2), s[0]);
  inverse[3][3] = three(m(2, 0), s[3], m(2, 1), s[1], m(2, 2), s[0]);
}

/// What one run of the simplex method leaves behind.
template <class V>
struct SimplexEnd {
  V x[4];          ///< multipliers of the basis
  V y[4];          ///< duals of the rows
  V slack;         ///< smallest reduced cost found
  V direction[4];  ///< B^-1 of the entering column: the ray where unbounded
  SupportColumn<V> entering;
  V state;
  V pivots;
};

/// Runs from `basis`, which must be feasible, to optimality; lanes whose end.state is set rest.
/// Ties of the ratio test fall to the right side b + delta b1 with an infinitesimal delta > 0 and a
/// generic b1, which rules out cycling. PhaseOne: minimises the sum of the artificial variables
/// instead; d is ignored.
template <bool PhaseOne, class V, class N>
CAROM_STEP void run_simplex(int contacts, const SupportContactOf<N>* contact, const ConeRule& rule,
                            const N* right, const N* perturbation, const V* direction, V tolerance,
                            int max_pivots, SupportBasis<V>& basis, SimplexEnd<V>& end) {
  const V zero(0.0);
  const V one(1.0);
  const V infinity(kInfinity);
  const V d[2] = {PhaseOne ? zero : direction[0], PhaseOne ? zero : direction[1]};
  for (int turn = 0;; ++turn) {
    V inverse[4][4];
    invert_basis(basis, inverse);
    V pi[4];
    V cost[4];
    V artificial = zero;
    for (int r = 0; r < 4; ++r) {
      const auto& column = basis.column[r];
      end.x[r] = fused(inverse[r][0], V(right[0]),
                       fused(inverse[r][1], V(right[1]),
                             fused(inverse[r][2], V(right[2]), inverse[r][3] * V(right[3]))));
      pi[r] = fused(
          inverse[r][0], V(perturbation[0]),
          fused(inverse[r][1], V(perturbation[1]),
                fused(inverse[r][2], V(perturbation[2]), inverse[r][3] * V(perturbation[3]))));
      const auto is_artificial = column.contact < zero;
      if constexpr (PhaseOne) {
        cost[r] = select(is_artificial, -one, zero);
        artificial = artificial + select(is_artificial, end.x[r], zero);
      } else {
        cost[r] =
            select(is_artificial, zero, fused(d[0], column.wrench[4], d[1] * column.wrench[5]));
      }
    }
    for (int j = 0; j < 4; ++j) {
      end.y[j] = fused(
          cost[0], inverse[0][j],
          fused(cost[1], inverse[1][j], fused(cost[2], inverse[2][j], cost[3] * inverse[3][j])));
    }
    end.slack = price(contacts, contact, rule, end.y, d, end.entering);
    V largest = one;
    for (int r = 0; r < 4; ++r) {
      const V* a = end.entering.wrench;
      end.direction[r] =
          fused(inverse[r][0], a[0],
                fused(inverse[r][1], a[1], fused(inverse[r][2], a[2], inverse[r][3] * a[3])));
      largest = larger(largest, magnitude(end.direction[r]));
    }
    V ratio = infinity;
    V second = infinity;
    V leaving(-1.0);
    const V threshold = largest * V(kPivotThreshold);
    for (int r = 0; r < 4; ++r) {
      const auto eligible = end.direction[r] > threshold;
      const V scale = one / select(eligible, end.direction[r], one);
      const V x = select(end.x[r] > V(kSnap), end.x[r], zero);
      const V here = select(eligible, x * scale, infinity);
      const V then = select(eligible, pi[r] * scale, infinity);
      const auto better = (here < ratio) | (equals(here, ratio) & (then < second));
      ratio = select(better, here, ratio);
      second = select(better, then, second);
      leaving = select(better, V(static_cast<double>(r)), leaving);
    }
    auto optimal = end.slack >= -tolerance;
    if constexpr (PhaseOne) optimal = optimal | (artificial <= V(kFeasible));
    const auto numbers = (end.slack <= infinity) & (largest < infinity);
    const V fresh = select(
        numbers, select(optimal, V(kOptimal), select(leaving < zero, V(kUnbounded), V(kRunning))),
        V(kBroken));
    end.state = select(end.state > zero, end.state, fresh);
    const auto running = end.state <= zero;
    if (turn >= max_pivots || all_of(end.state > zero)) return;
    end.pivots = select(running, end.pivots + one, end.pivots);
    for (int r = 0; r < 4; ++r) {
      const auto here = running & equals(leaving, V(static_cast<double>(r)));
      auto& column = basis.column[r];
      for (int j = 0; j < 6; ++j) {
        column.wrench[j] = select(here, end.entering.wrench[j], column.wrench[j]);
      }
      column.contact = select(here, end.entering.contact, column.contact);
    }
  }
}

}  // namespace carom::kernels
