#pragma once

#include <carom/kernels/cone_simplex_body.hpp>
#include <carom/status.hpp>

/// What all directions of a posture share: its scaled frame, a feasible basis or the proof that
/// there is none, and a direction in which every dual cone has room.
namespace carom::kernels {

struct SupportPosture {
  Status status;  ///< solved: `feasible` may start any direction; infeasible: see `farkas`
  int pivots;
  bool shifted;        ///< `shift` is strictly inside every dual cone
  double room;         ///< reduced costs of the unit vector `shift`; 1 where there is none
  double axis[3][3];   ///< u, v, e in the world frame
  double centre[3];    ///< mean of the contacts [m]
  double length;       ///< largest distance from it [m], 1 where that is 0
  double force;        ///< |f_ext| [N]
  double external[6];  ///< f_ext and tau
  double offset[2];    ///< of the scaled centre of mass, from the external torque
  double right[4];     ///< b
  double perturbation[4];
  double shift[4];   ///< y that adds room to all dual cones
  double farkas[4];  ///< y in all dual cones with b'y < 0
  SupportBasis<double> feasible;
};

/// Contacts and frame in scaled units; false where a number is not finite, a normal is no unit
/// vector, a friction is negative or the external force is zero.
CAROM_INLINE bool scale_posture(int k, const double* position, const double* normal,
                                const double* friction, const double* wrench, const ConeRule& rule,
                                SupportPosture& out, SupportContact* contact) {
  bool good = true;
  for (int j = 0; j < 6; ++j) {
    out.external[j] = wrench[j];
    good = good && is_finite(wrench[j]);
  }
  for (int i = 0; i < k; ++i) {
    const double* n = normal + 3 * i;
    for (int j = 0; j < 3; ++j) good = good && is_finite(position[3 * i + j]) && is_finite(n[j]);
    const double off = dot3(n, n) - 1.0;
    good = good && magnitude(off) <= 1e-5 && friction[i] >= 0.0 && is_finite(friction[i]);
  }
  out.force = square_root(dot3(wrench, wrench));
  good = good && out.force > 0.0 && is_finite(out.force);
  if (!good) return false;
  for (int j = 0; j < 3; ++j) {
    double sum = 0.0;
    for (int i = 0; i < k; ++i) sum += position[3 * i + j];
    out.centre[j] = sum / k;
    out.axis[2][j] = 0.0 - wrench[j] / out.force;
  }
  orthonormal_frame(out.axis[2], out.axis[0], out.axis[1]);
  double furthest = 0.0;
  double reach = 0.0;
  for (int i = 0; i < k; ++i) {
    double arm[3];
    for (int j = 0; j < 3; ++j) arm[j] = position[3 * i + j] - out.centre[j];
    furthest = larger(furthest, dot3(arm, arm));
    reach = larger(reach, dot3(position + 3 * i, position + 3 * i));
  }
  // Coinciding contacts differ from their mean by rounding alone.
  out.length = furthest > 1e-28 * reach ? square_root(furthest) : 1.0;
  if (!is_finite(out.length)) return false;
  const double arm_of_force = out.force * out.length;
  // The external torque about the contacts' mean is that about the centre of mass.
  double torque[3];
  for (int a = 0; a < 3; ++a) torque[a] = dot3(out.axis[a], wrench + 3) / arm_of_force;
  out.offset[0] = -torque[1];
  out.offset[1] = torque[0];
  out.right[0] = 0.0;
  out.right[1] = 0.0;
  out.right[2] = 1.0;
  out.right[3] = -torque[2];
  if (!is_finite(torque[0]) || !is_finite(torque[1]) || !is_finite(torque[2])) return false;
  for (int i = 0; i < k; ++i) {
    SupportContact& c = contact[i];
    double t1[3];
    double t2[3];
    orthonormal_frame(normal + 3 * i, t1, t2);
    double arm[3];
    for (int j = 0; j < 3; ++j) arm[j] = (position[3 * i + j] - out.centre[j]) / out.length;
    for (int a = 0; a < 3; ++a) {
      c.position[a] = dot3(out.axis[a], arm);
      c.normal[a] = dot3(out.axis[a], normal + 3 * i);
      c.tangent[0][a] = dot3(out.axis[a], t1);
      c.tangent[1][a] = dot3(out.axis[a], t2);
    }
    c.friction = friction[i] * rule.stretch;
  }
  return true;
}

/// A y whose reduced costs are clearly positive for every ray, by the perceptron's rule; none
/// exists where contacts can squeeze each other.
CAROM_INLINE void find_shift(int k, const SupportContact* contact, const ConeRule& rule,
                             SupportPosture& out) {
  constexpr double kRoom = 1e-3;
  constexpr int kSteps = 200;
  const double none[2] = {0.0, 0.0};
  double y[4] = {0.0, 0.0, 1.0, 0.0};
  out.shifted = false;
  out.room = 1.0;
  for (int step = 0; step < kSteps; ++step) {
    SupportColumn<double> ray;
    const double slack = price(k, contact, rule, y, none, ray);
    double size = 0.0;
    for (const double value : y) size = fused(value, value, size);
    size = square_root(size);
    if (slack > kRoom * size) {
      for (int j = 0; j < 4; ++j) out.shift[j] = y[j] / size;
      out.shifted = true;
      out.room = smaller(slack / size, 1.0);
      return;
    }
    double norm = 0.0;
    for (int j = 0; j < 4; ++j) norm = fused(ray.wrench[j], ray.wrench[j], norm);
    norm = square_root(norm);
    if (!(norm > 0.0)) return;
    for (int j = 0; j < 4; ++j) y[j] += ray.wrench[j] / norm;
  }
}

/// Replaces artificial columns that are zero by rays, and chooses the perturbation that makes every
/// multiplier of the basis positive. Rows whose artificial column stays are redundant.
CAROM_INLINE void drive_out(int k, const SupportContact* contact, const ConeRule& rule,
                            SupportPosture& out) {
  constexpr double kDependent = 1e-9;
  const double none[2] = {0.0, 0.0};
  for (int r = 0; r < 4; ++r) {
    if (out.feasible.column[r].contact >= 0.0) continue;
    double inverse[4][4];
    invert_basis(out.feasible, inverse);
    SupportColumn<double> best{};
    double strongest = kDependent;
    for (const double sign : {1.0, -1.0}) {
      double y[4];
      for (int j = 0; j < 4; ++j) y[j] = sign * inverse[r][j];
      SupportColumn<double> ray;
      const double slack = price(k, contact, rule, y, none, ray);
      if (-slack > strongest) {
        strongest = -slack;
        best = ray;
      }
    }
    if (strongest > kDependent) out.feasible.column[r] = best;
  }
  const double generic[4] = {1.0, 0.61803398874989485, 0.41421356237309505, 0.73205080756887729};
  for (int j = 0; j < 4; ++j) {
    out.perturbation[j] = 0.0;
    for (int r = 0; r < 4; ++r) {
      out.perturbation[j] =
          fused(out.feasible.column[r].wrench[j], generic[r], out.perturbation[j]);
    }
  }
}

/// Everything that does not depend on the direction.
CAROM_INLINE void prepare_support(int k, const double* position, const double* normal,
                                  const double* friction, const double* wrench,
                                  const ConeRule& rule, double tolerance, int max_pivots,
                                  SupportPosture& out, SupportContact* contact) {
  out.pivots = 0;
  out.status = Status::invalid_input;
  out.shifted = false;
  if (!scale_posture(k, position, normal, friction, wrench, rule, out, contact)) return;
  find_shift(k, contact, rule, out);
  const double generic[4] = {0.41421356237309505, 0.73205080756887729, 1.0, 0.61803398874989485};
  for (int r = 0; r < 4; ++r) {
    const double sign = r == 3 && out.right[3] < 0.0 ? -1.0 : 1.0;
    SupportColumn<double>& column = out.feasible.column[r];
    for (int j = 0; j < 6; ++j) column.wrench[j] = j == r ? sign : 0.0;
    column.contact = -1.0;
    out.perturbation[r] = sign * generic[r];
  }
  SimplexEnd<double> end;
  end.state = kRunning;
  end.pivots = 0.0;
  run_simplex<true, double>(k, contact, rule, out.right, out.perturbation, nullptr, tolerance,
                            max_pivots, out.feasible, end);
  out.pivots = static_cast<int>(end.pivots);
  double artificial = 0.0;
  for (int r = 0; r < 4; ++r) {
    if (out.feasible.column[r].contact < 0.0) artificial += end.x[r];
  }
  if (end.state >= kUnbounded) {
    out.status = Status::numerical_error;
  } else if (artificial <= kFeasible) {
    out.status = Status::solved;
    drive_out(k, contact, rule, out);
  } else if (end.state <= kRunning) {
    out.status = Status::iteration_limit;
  } else {
    out.status = Status::infeasible;
    for (int j = 0; j < 4; ++j) out.farkas[j] = end.y[j];
  }
}

}  // namespace carom::kernels
