#pragma once

#include <limits>

#include <carom/types/status.hpp>

#include "equilibrium/kernels/cone_simplex.hpp"

/// Data that all directions of a posture share: its scaled frame, a feasible basis or a proof that
/// there is none, and a vector strictly inside every dual cone.
namespace carom::kernels {

/// N: double, or a pack that holds a posture a lane.
template <class N>
struct SupportPostureOf {
  N shifted;      ///< 1: `shift` is strictly inside every dual cone; else 0
  N room;         ///< reduced costs of the unit vector `shift`; 1 where there is none
  N axis[3][3];   ///< u, v, e in the world frame
  N centre[3];    ///< mean of the contacts [m]
  N length;       ///< largest distance from it [m], 1 where that is 0
  N force;        ///< |f_ext| [N]
  N external[6];  ///< f_ext and tau
  N offset[2];    ///< of the scaled centre of mass, from the external torque
  N right[4];     ///< b
  N perturbation[4];
  N shift[4];   ///< y that adds room to all dual cones
  N farkas[4];  ///< y in all dual cones with b'y < 0
  SupportBasis<N> feasible;
};

struct SupportPosture : SupportPostureOf<double> {
  Status status;  ///< solved: `feasible` may start any direction; infeasible: see `farkas`
  int pivots;
};

/// Contacts and frame in scaled units; 0 where a number is not finite, a normal is no unit vector,
/// a friction is negative or the external force is zero, else 1.
template <class N>
CAROM_INLINE N scale_posture(int k, const N* position, const N* normal, const N* friction,
                             const N* wrench, const ConeRule& rule, SupportPostureOf<N>& out,
                             SupportContactOf<N>* contact) {
  const N zero(0.0);
  const N one(1.0);
  const N most(std::numeric_limits<double>::max());
  const auto finite = [&](N x) { return magnitude(x) <= most; };
  auto good = finite(wrench[0]);
  for (int j = 0; j < 6; ++j) {
    out.external[j] = wrench[j];
    good = good & finite(wrench[j]);
  }
  for (int i = 0; i < k; ++i) {
    const N* n = normal + 3 * i;
    for (int j = 0; j < 3; ++j) good = good & finite(position[3 * i + j]) & finite(n[j]);
    const N off = dot3(n, n) - one;
    good = good & (magnitude(off) <= N(1e-5)) & (friction[i] >= zero) & finite(friction[i]);
  }
  out.force = square_root(dot3(wrench, wrench));
  good = good & (out.force > zero) & finite(out.force);
  if (!any_of(good)) return zero;
  for (int j = 0; j < 3; ++j) {
    N sum = zero;
    for (int i = 0; i < k; ++i) sum = sum + position[3 * i + j];
    out.centre[j] = sum / N(static_cast<double>(k));
    out.axis[2][j] = zero - wrench[j] / out.force;
  }
  orthonormal_frame(out.axis[2], out.axis[0], out.axis[1]);
  N furthest = zero;
  N reach = zero;
  for (int i = 0; i < k; ++i) {
    N arm[3];
    for (int j = 0; j < 3; ++j) arm[j] = position[3 * i + j] - out.centre[j];
    furthest = larger(furthest, dot3(arm, arm));
    reach = larger(reach, dot3(position + 3 * i, position + 3 * i));
  }
  // Coinciding contacts differ from their mean only by rounding.
  out.length = select(furthest > N(1e-28) * reach, square_root(furthest), one);
  good = good & finite(out.length);
  const N arm_of_force = out.force * out.length;
  // The external torque about the contacts' mean is that about the centre of mass.
  N torque[3];
  for (int a = 0; a < 3; ++a) {
    torque[a] = dot3(out.axis[a], wrench + 3) / arm_of_force;
    good = good & finite(torque[a]);
  }
  out.offset[0] = -torque[1];
  out.offset[1] = torque[0];
  out.right[0] = zero;
  out.right[1] = zero;
  out.right[2] = one;
  out.right[3] = -torque[2];
  for (int i = 0; i < k; ++i) {
    SupportContactOf<N>& c = contact[i];
    N t1[3];
    N t2[3];
    orthonormal_frame(normal + 3 * i, t1, t2);
    N arm[3];
    for (int j = 0; j < 3; ++j) arm[j] = (position[3 * i + j] - out.centre[j]) / out.length;
    for (int a = 0; a < 3; ++a) {
      c.position[a] = dot3(out.axis[a], arm);
      c.normal[a] = dot3(out.axis[a], normal + 3 * i);
      c.tangent[0][a] = dot3(out.axis[a], t1);
      c.tangent[1][a] = dot3(out.axis[a], t2);
    }
    c.friction = friction[i] * N(rule.stretch);
  }
  return select(good, one, zero);
}

/// A y whose reduced costs are clearly positive for every ray, by the perceptron's rule; none
/// exists where contacts can squeeze each other. Lanes with `searching` 0 rest.
template <class N>
CAROM_INLINE void find_shift(int k, const SupportContactOf<N>* contact, const ConeRule& rule,
                             N searching, SupportPostureOf<N>& out) {
  constexpr double kRoom = 1e-3;
  constexpr int kSteps = 200;
  const N zero(0.0);
  const N one(1.0);
  const N none[2] = {zero, zero};
  N y[4] = {zero, zero, one, zero};
  out.shifted = zero;
  out.room = one;
  for (N& value : out.shift) value = zero;
  for (int step = 0; step < kSteps; ++step) {
    SupportColumn<N> ray;
    const N slack = price(k, contact, rule, y, none, ray);
    N size = zero;
    for (const N& value : y) size = fused(value, value, size);
    size = square_root(size);
    const auto found = (searching > zero) & (slack > N(kRoom) * size);
    if (any_of(found)) {
      for (int j = 0; j < 4; ++j) out.shift[j] = select(found, y[j] / size, out.shift[j]);
      out.shifted = select(found, one, out.shifted);
      out.room = select(found, smaller(slack / size, one), out.room);
      searching = select(found, zero, searching);
    }
    N norm = zero;
    for (int j = 0; j < 4; ++j) norm = fused(ray.wrench[j], ray.wrench[j], norm);
    norm = square_root(norm);
    searching = select(norm > zero, searching, zero);
    if (!any_of(searching > zero)) return;
    for (int j = 0; j < 4; ++j) y[j] = y[j] + ray.wrench[j] / norm;
  }
}

/// Replaces artificial columns that are zero by rays, and chooses the perturbation that makes every
/// multiplier of the basis positive. Rows whose artificial column stays are redundant.
template <class N>
CAROM_INLINE void drive_out(int k, const SupportContactOf<N>* contact, const ConeRule& rule,
                            SupportPostureOf<N>& out) {
  constexpr double kDependent = 1e-9;
  const N zero(0.0);
  const N none[2] = {zero, zero};
  for (int r = 0; r < 4; ++r) {
    SupportColumn<N>& column = out.feasible.column[r];
    const auto missing = column.contact < zero;
    if (!any_of(missing)) continue;
    N inverse[4][4];
    invert_basis(out.feasible, inverse);
    SupportColumn<N> best = column;
    N strongest(kDependent);
    for (const double sign : {1.0, -1.0}) {
      N y[4];
      for (int j = 0; j < 4; ++j) y[j] = N(sign) * inverse[r][j];
      SupportColumn<N> ray;
      const N slack = price(k, contact, rule, y, none, ray);
      const auto better = missing & (-slack > strongest);
      strongest = select(better, -slack, strongest);
      for (int j = 0; j < 6; ++j) best.wrench[j] = select(better, ray.wrench[j], best.wrench[j]);
      best.contact = select(better, ray.contact, best.contact);
    }
    column = best;
  }
  const double generic[4] = {1.0, 0.61803398874989485, 0.41421356237309505, 0.73205080756887729};
  for (int j = 0; j < 4; ++j) {
    out.perturbation[j] = zero;
    for (int r = 0; r < 4; ++r) {
      out.perturbation[j] =
          fused(out.feasible.column[r].wrench[j], N(generic[r]), out.perturbation[j]);
    }
  }
}

/// Moves y, which may miss dual cones by the tolerance of the reduced costs, into all of them:
/// projections beyond the half-space of the worst ray, first a little into it, then onto it.
template <class N>
CAROM_INLINE void lift_field(int k, const SupportContactOf<N>* contact, const ConeRule& rule,
                             N lifting, N* y) {
  constexpr int kSteps = 60;
  const N zero(0.0);
  const N none[2] = {zero, zero};
  for (int step = 0; step < 2 * kSteps; ++step) {
    const N aim(step < kSteps ? 1e-12 : 0.0);
    SupportColumn<N> ray;
    const N slack = price(k, contact, rule, y, none, ray);
    lifting = select(slack >= zero, zero, lifting);
    if (!any_of(lifting > zero)) return;
    N norm = zero;
    for (int j = 0; j < 4; ++j) norm = fused(ray.wrench[j], ray.wrench[j], norm);
    const N amount = (aim - slack) / norm;
    for (int j = 0; j < 4; ++j) {
      y[j] = select(lifting > zero, fused(amount, ray.wrench[j], y[j]), y[j]);
    }
  }
}

CAROM_INLINE constexpr double status_number(Status status) {
  return static_cast<double>(static_cast<int>(status));
}

/// Everything that does not depend on the direction; the number of its status.
template <class N>
CAROM_INLINE N prepare_numbers(int k, const N* position, const N* normal, const N* friction,
                               const N* wrench, const ConeRule& rule, double tolerance,
                               int max_pivots, SupportPostureOf<N>& out,
                               SupportContactOf<N>* contact, N& pivots) {
  const N zero(0.0);
  const N one(1.0);
  const N invalid(status_number(Status::invalid_input));
  pivots = zero;
  out.shifted = zero;
  const N live = scale_posture(k, position, normal, friction, wrench, rule, out, contact);
  const auto good = live > zero;
  if (!any_of(good)) return invalid;
  find_shift(k, contact, rule, live, out);
  const double generic[4] = {0.41421356237309505, 0.73205080756887729, 1.0, 0.61803398874989485};
  const N last = select(out.right[3] < zero, -one, one);
  for (int r = 0; r < 4; ++r) {
    const N sign = r == 3 ? last : one;
    SupportColumn<N>& column = out.feasible.column[r];
    for (int j = 0; j < 6; ++j) column.wrench[j] = j == r ? sign : zero;
    column.contact = -one;
    out.perturbation[r] = sign * N(generic[r]);
  }
  SimplexEnd<N> end;
  end.state = select(good, N(kRunning), N(kBroken));
  end.pivots = zero;
  run_simplex<true, N>(k, contact, rule, out.right, out.perturbation, nullptr, N(tolerance),
                       max_pivots, out.feasible, end);
  pivots = end.pivots;
  N artificial = zero;
  for (int r = 0; r < 4; ++r) {
    const auto left = out.feasible.column[r].contact < zero;
    artificial = select(left, artificial + end.x[r], artificial);
  }
  const auto empty = (end.state < N(kUnbounded)) & (artificial > N(kFeasible)) & good;
  for (int j = 0; j < 4; ++j) out.farkas[j] = end.y[j];
  if (any_of(empty)) lift_field(k, contact, rule, select(empty, one, zero), out.farkas);
  const auto solved = (end.state < N(kUnbounded)) & (artificial <= N(kFeasible));
  if (any_of(solved)) drive_out(k, contact, rule, out);
  const N held = select(solved, N(status_number(Status::solved)),
                        select(end.state <= N(kRunning), N(status_number(Status::iteration_limit)),
                               N(status_number(Status::infeasible))));
  const N clean =
      select(end.state >= N(kUnbounded), N(status_number(Status::numerical_error)), held);
  return select(good, clean, invalid);
}

CAROM_INLINE void prepare_support(int k, const double* position, const double* normal,
                                  const double* friction, const double* wrench,
                                  const ConeRule& rule, double tolerance, int max_pivots,
                                  SupportPosture& out, SupportContact* contact) {
  double pivots;
  const double status = prepare_numbers<double>(k, position, normal, friction, wrench, rule,
                                                tolerance, max_pivots, out, contact, pivots);
  out.status = static_cast<Status>(static_cast<int>(status));
  out.pivots = static_cast<int>(pivots);
}

}  // namespace carom::kernels
