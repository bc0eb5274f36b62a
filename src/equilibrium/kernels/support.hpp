#pragma once

#include <limits>

#include <carom/device/packed.hpp>
#include <carom/equilibrium_certificate.hpp>

#include "equilibrium/kernels/support_newton.hpp"
#include "equilibrium/kernels/support_prepare.hpp"

/// The support function with one direction per lane: simplex method, forces, both certificates.
namespace carom::kernels {

/// A posture's own numbers, [k, 3], [k, 3], [k]. N: double, or a pack with a posture a lane.
template <class N>
struct PostureViewOf {
  int contacts;
  const N* position;
  const N* normal;
  const N* friction;
};
using PostureView = PostureViewOf<double>;

/// What is known of the support function in one direction, in the world's units.
template <class V>
struct SupportAnswer {
  V state;  ///< of the simplex method
  V pivots;
  V lower;     ///< d . point [m]
  V upper;     ///< proven bound [m]
  V point[2];  ///< coordinates along u and v [m]
  V dual[6];   ///< (a, b) of equilibrium_certificate.hpp, f x b = d
  V slack;     ///< smallest dual slack, relative to the contacts' extent; >= 0: a proof
  V residual;  ///< of balance and cones, relative
};

/// N: of the posture's numbers; V where every lane has a posture of its own.
template <class V, class N = double>
class SupportProbe {
 public:
  /// forces: [k, 3] scratch that receives the contact forces [N]. lane_contact: [k] scratch where
  /// every lane has a posture of its own and cones are exact.
  CAROM_INLINE SupportProbe(const PostureViewOf<N>& posture, const SupportPostureOf<N>& prepared,
                            const SupportContactOf<N>* contact, const ConeRule& rule,
                            double tolerance, int max_pivots, V* forces,
                            SupportContact* lane_contact = nullptr)
      : view_(posture),
        prepared_(prepared),
        contact_(contact),
        rule_(rule),
        tolerance_(V(tolerance) * V(prepared.room)),
        max_pivots_(max_pivots),
        forces_(forces),
        lane_contact_(lane_contact) {}

  /// d: unit vector in (u, v). basis: feasible; the optimal one afterwards. answer.state: kRunning,
  /// or kBroken in lanes that rest.
  CAROM_INLINE void run(const V* d, SupportBasis<V>& basis, SupportAnswer<V>& answer) const {
    SimplexEnd<V> end;
    SupportBasis<V> columns;
    end.state = answer.state;
    end.pivots = V(0.0);
    if (rule_.sides > 0) {
      optimise(d, max_pivots_, tolerance_, basis, end);
      columns = basis;
      polish(columns, end);
    } else {
      run_exact(d, basis, columns, end);
    }
    answer.state = end.state;
    answer.pivots = end.pivots;
    const auto ray = end.state >= V(kUnbounded);
    const V zero(0.0);
    V multiplier[5];
    V most(1.0);
    for (int r = 0; r < 4; ++r) most = larger(most, magnitude(end.direction[r]));
    const V unit = V(1.0) / most;  // of a ray, whose length is free
    for (int r = 0; r < 4; ++r) {
      const auto artificial = columns.column[r].contact < zero;
      const V value = select(ray, -end.direction[r] * unit, end.x[r]);
      multiplier[r] = select(artificial, zero, larger(value, zero));
    }
    multiplier[4] = select(ray, unit, zero);
    collect_forces(columns, end.entering, multiplier);
    find_point(d, ray, answer);
    prove(d, end.y, answer);
  }

  /// Certificate of only multipliers y, with d = 0: a proof of infeasibility where upper < 0.
  CAROM_INLINE void prove_field(const V* y, SupportAnswer<V>& answer) const {
    const V none[2] = {V(0.0), V(0.0)};
    prove(none, y, answer);
  }

 private:
  CAROM_INLINE void optimise(const V* d, int pivots, V tolerance, SupportBasis<V>& basis,
                             SimplexEnd<V>& end) const {
    run_simplex<false>(view_.contacts, contact_, rule_, prepared_.right, prepared_.perturbation, d,
                       tolerance, pivots, basis, end);
  }

  /// Exact cones: a few pivots find the contacts that carry force, Newton's method the rest; more
  /// pivots where it does not converge. `columns` are what end.x multiplies.
  CAROM_INLINE void run_exact(const V* d, SupportBasis<V>& basis, SupportBasis<V>& columns,
                              SimplexEnd<V>& end) const {
    constexpr int kLanes = kLaneCount<V>;
    Lane lane[kLanes];
    double finished[kLanes] = {};
    bool settled[kLanes] = {};  // in an earlier stage: another lane's needs do not touch it
    // Coarse reduced costs first: rays of one cone stay apart, and the bases well conditioned.
    const V coarse = larger(tolerance_, V(kCoarse));
    double tolerance[kLanes];
    spread(tolerance_, tolerance);
    SupportBasis<V> kept;
    int pivots = kFirstPivots;
    for (int stage = 0; stage < 4; ++stage) {
      const bool fine = stage == 3;
      optimise(d, fine ? max_pivots_ : smaller(pivots, max_pivots_), fine ? tolerance_ : coarse,
               basis, end);
      pivots *= 4;
      if (!fine) kept = basis;
      double state[kLanes];
      double slack[kLanes];
      spread(end.state, state);
      spread(end.slack, slack);
      for (int l = 0; l < kLanes; ++l) {
        if (settled[l] || state[l] >= kUnbounded) continue;
        settled[l] = state[l] >= kOptimal && slack[l] >= -tolerance[l] && !fine;
        if (settled[l]) continue;
        lane[l] = extract(d, basis, end, l);
        SupportNewton newton(view_.contacts, lane_contacts(l), lane[l].right, tolerance[l]);
        if (newton.run(lane[l].d, lane[l].basis, lane[l].x, lane[l].y, lane[l].columns)) {
          finished[l] = 1.0;
          settled[l] = true;
          state[l] = kOptimal;
        } else if (!fine) {
          state[l] = kRunning;
        }
      }
      end.state = gather(state);
      if (all_of(end.state > V(0.0))) break;
    }
    columns = basis;
    polish(columns, end);
    basis = kept;
    const auto newton = gather(finished) > V(0.0);
    double value[kLanes];
    const auto take = [&](V& to, auto&& of) {
      for (int l = 0; l < kLanes; ++l) value[l] = finished[l] > 0.0 ? of(lane[l]) : 0.0;
      to = select(newton, gather(value), to);
    };
    for (int r = 0; r < 4; ++r) {
      take(end.x[r], [&](const Lane& from) { return from.x[r]; });
      take(end.y[r], [&](const Lane& from) { return from.y[r]; });
      for (int j = 0; j < 6; ++j) {
        take(columns.column[r].wrench[j],
             [&](const Lane& from) { return from.columns.column[r].wrench[j]; });
      }
      take(columns.column[r].contact,
           [&](const Lane& from) { return from.columns.column[r].contact; });
    }
  }

  static constexpr int kFirstPivots = 8;
  static constexpr double kCoarse = 1e-5;

  struct Lane {
    double d[2];
    double x[4];
    double y[4];
    double right[4];
    SupportBasis<double> basis;
    SupportBasis<double> columns;
  };
  /// The contacts of lane l.
  CAROM_INLINE const SupportContact* lane_contacts(int l) const {
    if constexpr (std::is_same_v<N, double>) {
      return contact_;
    } else {
      double value[kLaneCount<V>];
      const auto pick = [&](const N& from) {
        spread(from, value);
        return value[l];
      };
      for (int i = 0; i < view_.contacts; ++i) {
        SupportContact& to = lane_contact_[i];
        for (int j = 0; j < 3; ++j) {
          to.position[j] = pick(contact_[i].position[j]);
          to.normal[j] = pick(contact_[i].normal[j]);
          for (int t = 0; t < 2; ++t) to.tangent[t][j] = pick(contact_[i].tangent[t][j]);
        }
        to.friction = pick(contact_[i].friction);
      }
      return lane_contact_;
    }
  }
  CAROM_INLINE static void spread(const V& from, double* to) {
    if constexpr (std::is_same_v<V, double>) {
      *to = from;
    } else {
      from.store(to);
    }
  }
  CAROM_INLINE static V gather(const double* from) {
    if constexpr (std::is_same_v<V, double>) {
      return *from;
    } else {
      return V::load(from);
    }
  }
  CAROM_INLINE Lane extract(const V* d, const SupportBasis<V>& basis, const SimplexEnd<V>& end,
                            int l) const {
    Lane lane;
    double value[kLaneCount<V>];
    const auto pick = [&](const V& from) {
      spread(from, value);
      return value[l];
    };
    for (int c = 0; c < 2; ++c) lane.d[c] = pick(d[c]);
    for (int r = 0; r < 4; ++r) {
      lane.x[r] = pick(end.x[r]);
      lane.y[r] = pick(end.y[r]);
      lane.right[r] = pick(V(prepared_.right[r]));
      for (int j = 0; j < 6; ++j) {
        lane.basis.column[r].wrench[j] = pick(basis.column[r].wrench[j]);
      }
      lane.basis.column[r].contact = pick(basis.column[r].contact);
    }
    return lane;
  }

  /// One step of iterative refinement of B x = b: columns of one cone may lie close together.
  CAROM_INLINE void polish(const SupportBasis<V>& basis, SimplexEnd<V>& end) const {
    V inverse[4][4];
    invert_basis(basis, inverse);
    V rest[4];
    for (int j = 0; j < 4; ++j) {
      rest[j] = V(prepared_.right[j]);
      for (int r = 0; r < 4; ++r) {
        rest[j] = fused(-basis.column[r].wrench[j], end.x[r], rest[j]);
      }
    }
    for (int r = 0; r < 4; ++r) {
      V correction(0.0);
      for (int j = 0; j < 4; ++j) correction = fused(inverse[r][j], rest[j], correction);
      end.x[r] = end.x[r] + correction;
    }
  }

  CAROM_INLINE void collect_forces(const SupportBasis<V>& basis, const SupportColumn<V>& entering,
                                   const V* multiplier) const {
    const V zero(0.0);
    const V unit(prepared_.force);
    for (int i = 0; i < view_.contacts; ++i) {
      V local[3] = {zero, zero, zero};
      for (int r = 0; r < 5; ++r) {
        const SupportColumn<V>& column = r < 4 ? basis.column[r] : entering;
        const V share =
            select(equals(column.contact, V(static_cast<double>(i))), multiplier[r], zero);
        for (int j = 0; j < 3; ++j) local[j] = fused(share, column.wrench[j], local[j]);
      }
      for (int j = 0; j < 3; ++j) {
        const V turned =
            fused(V(prepared_.axis[0][j]), local[0],
                  fused(V(prepared_.axis[1][j]), local[1], V(prepared_.axis[2][j]) * local[2]));
        forces_[3 * i + j] = unit * turned;
      }
    }
  }

  /// Centre of mass that the forces hold, the residual of balance and cones; of a ray, the
  /// direction in which it moves the centre of mass and the residual of zero resultant.
  template <class Mask>
  CAROM_INLINE void find_point(const V* d, Mask ray, SupportAnswer<V>& answer) const {
    const V zero(0.0);
    V torque[3] = {V(prepared_.external[3]), V(prepared_.external[4]), V(prepared_.external[5])};
    for (int j = 0; j < 3; ++j) torque[j] = select(ray, zero, torque[j]);
    for (int i = 0; i < view_.contacts; ++i) {
      V arm[3];
      V moment[3];
      for (int j = 0; j < 3; ++j) arm[j] = V(view_.position[3 * i + j] - prepared_.centre[j]);
      certificate::vector_product(arm, forces_ + 3 * i, moment);
      for (int j = 0; j < 3; ++j) torque[j] = torque[j] + moment[j];
    }
    // sum (x_i - c) x f_i + tau = |f| (x - c) x e, and u x e = -v, v x e = u.
    const V scale(N(1.0) / prepared_.force);
    const V along_u = -(dot3(prepared_.axis[1], torque) * scale);
    const V along_v = dot3(prepared_.axis[0], torque) * scale;
    V x[3];
    for (int j = 0; j < 3; ++j) {
      x[j] = fused(V(prepared_.axis[0][j]), along_u,
                   fused(V(prepared_.axis[1][j]), along_v, V(prepared_.centre[j])));
    }
    const N home_u = dot3(prepared_.axis[0], prepared_.centre);
    const N home_v = dot3(prepared_.axis[1], prepared_.centre);
    answer.point[0] = along_u + select(ray, zero, V(home_u));
    answer.point[1] = along_v + select(ray, zero, V(home_v));
    answer.lower = fused(d[0], answer.point[0], d[1] * answer.point[1]);
    V worst =
        certificate::balance_residual(view_.contacts, view_.position, forces_, prepared_.external,
                                      x, prepared_.centre, prepared_.force, prepared_.length);
    // A ray has no resultant force and no torque about e.
    V sum[3] = {zero, zero, zero};
    for (int i = 0; i < view_.contacts; ++i) {
      for (int j = 0; j < 3; ++j) sum[j] = sum[j] + forces_[3 * i + j];
    }
    V loose = magnitude(dot3(prepared_.axis[2], torque)) / V(prepared_.length);
    for (int j = 0; j < 3; ++j) loose = larger(loose, magnitude(sum[j]));
    worst = select(ray, loose * scale, worst);
    for (int i = 0; i < view_.contacts; ++i) {
      const V excess = certificate::cone_excess(view_.friction[i] * N(rule_.stretch),
                                                view_.normal + 3 * i, forces_ + 3 * i) *
                       scale;
      worst = select(excess <= worst, worst, excess);
    }
    answer.residual = worst;
  }

  /// The multipliers as a field (a, b) in the world, moved into all dual cones where there is room.
  CAROM_INLINE void prove(const V* d, const V* field, SupportAnswer<V>& answer) const {
    to_world(field, d[0], d[1], answer.dual);
    V slack = lowest_slack(answer.dual);
    const auto shifted = V(prepared_.shifted) > V(0.0);
    if (any_of(shifted)) {
      const V none(0.0);
      const V shift[4] = {V(prepared_.shift[0]), V(prepared_.shift[1]), V(prepared_.shift[2]),
                          V(prepared_.shift[3])};
      V room[6];
      to_world(shift, none, none, room);
      // Rounding in the fields grows with their size.
      const V rounding(4.0 * std::numeric_limits<double>::epsilon());
      V amount = none;
      for (int i = 0; i < view_.contacts; ++i) {
        V w[3];
        V s[3];
        certificate::dual_field(answer.dual, view_.position + 3 * i, w);
        certificate::dual_field(room, view_.position + 3 * i, s);
        const V here = slack_of(i, w);
        const N* x = view_.position + 3 * i;
        const V reach(magnitude(x[0]) + magnitude(x[1]) + magnitude(x[2]));
        const V size =
            (magnitude(answer.dual[0]) + magnitude(answer.dual[1]) + magnitude(answer.dual[2]) +
             (magnitude(answer.dual[3]) + magnitude(answer.dual[4]) + magnitude(answer.dual[5])) *
                 reach) *
            V(N(1.0) + view_.friction[i] * N(rule_.stretch));
        const V lacking = fused(rounding, size, -here);
        amount = larger(amount, lacking / slack_of(i, s));
      }
      for (int j = 0; j < 6; ++j) {
        answer.dual[j] = select(shifted, fused(amount, room[j], answer.dual[j]), answer.dual[j]);
      }
      slack = lowest_slack(answer.dual);
    }
    answer.slack = slack * V(prepared_.force / prepared_.length);
    answer.upper = certificate::half_space_offset(answer.dual, prepared_.external);
  }

  /// (a, b) of the scaled multipliers y and direction d: f x b = d in the world's units.
  CAROM_INLINE void to_world(const V* y, V d0, V d1, V* dual) const {
    const V turning[3] = {-d1, d0, y[3]};
    const V per_force(N(1.0) / prepared_.force);
    const V per_arm(prepared_.length / prepared_.force);
    V spin[3];
    for (int j = 0; j < 3; ++j) {
      const V u(prepared_.axis[0][j]);
      const V v(prepared_.axis[1][j]);
      const V e(prepared_.axis[2][j]);
      spin[j] = fused(u, turning[0], fused(v, turning[1], e * turning[2])) * per_force;
      dual[j] = fused(u, y[0], fused(v, y[1], e * y[2])) * per_arm;
    }
    V carried[3];
    const V c[3] = {V(prepared_.centre[0]), V(prepared_.centre[1]), V(prepared_.centre[2])};
    certificate::vector_product(spin, c, carried);
    for (int j = 0; j < 3; ++j) {
      dual[j] = dual[j] - carried[j];
      dual[3 + j] = spin[j];
    }
  }

  CAROM_INLINE V slack_of(int i, const V* w) const {
    const N* n = view_.normal + 3 * i;
    const N mu = view_.friction[i] * N(rule_.stretch);
    if (rule_.sides == 0) return certificate::dual_slack(mu, n, w);
    N t1[3];
    N t2[3];
    orthonormal_frame(n, t1, t2);
    return certificate::dual_slack(mu, n, t1, t2, rule_.direction, rule_.sides, w);
  }

  CAROM_INLINE V lowest_slack(const V* dual) const {
    V least(kInfinity);
    for (int i = 0; i < view_.contacts; ++i) {
      V w[3];
      certificate::dual_field(dual, view_.position + 3 * i, w);
      const V here = slack_of(i, w);
      least = select(least <= here, least, here);
    }
    return least;
  }

  PostureViewOf<N> view_;
  const SupportPostureOf<N>& prepared_;
  const SupportContactOf<N>* contact_;
  const ConeRule& rule_;
  V tolerance_;
  int max_pivots_;
  V* forces_;
  SupportContact* lane_contact_;
};

/// The field of prepared.farkas in the world; where it proves that no centre of mass is held.
template <class V, class N>
CAROM_INLINE auto prove_infeasible(const SupportProbe<V, N>& probe,
                                   const SupportPostureOf<N>& prepared, SupportAnswer<V>& answer) {
  probe.prove_field(prepared.farkas, answer);
  // Without room for a shift the field may miss a dual cone by rounding.
  const V margin = -answer.upper / V(prepared.length);
  return (answer.slack >= V(-1e-14)) & (margin > V(1e-12));
}

}  // namespace carom::kernels
