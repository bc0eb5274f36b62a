#pragma once

#include "programs/qp/body/qp_splitting.hpp"

namespace carom::kernels {

CAROM_INLINE constexpr long qp_polish_workspace(long n, long rows) {
  return n * n + 6 * n + 7 * rows;
}

/// Newton's method on the optimality conditions with the active set held fixed, for what a
/// first-order method has found: active rows become equations by multipliers with a large penalty,
/// active cones either stay at their apex or on their smooth boundary |s_1| = s_0, linearised anew
/// in each pass. Keeps the best of all passes, so that it never harms.
template <class V, class Lanes, class Memory>
class QpPolish {
 public:
  CAROM_HOST_DEVICE QpPolish(const QpRows<V, Lanes, Memory>& rows, Memory memory)
      : rows_(rows), n_(rows.shape.variables), m_(rows.shape.rows) {
    long used = 0;
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    const long n = n_;
    const long m = m_;
    factor_ = take(n * n);
    inverse_ = take(n);
    step_ = take(n);
    x_ = take(n);
    normal_ = take(n);
    work_n_ = take(n);
    work_m_ = take(m);
    work_p_ = take(m);
    y_ = take(m);
    active_ = take(m);
    push_ = take(m);
    tangent_ = take(m);
  }

  /// x, y: in and out, improved or unchanged. Returns the merit of what stands there afterwards.
  CAROM_HOST_DEVICE QpMerit<V> run(const Memory& x, const Memory& y) {
    using kernels::all_of;
    QpMerit<V> best = qp_merit<V>(rows_, x, y, work_n_, work_m_, work_p_);
    identify(y);
    rows_.lanes.for_each(n_, [&](int j) { x_[j] = x[j]; });
    for (int pass = 0; pass < kPasses; ++pass) {
      // A problem that is exact stays as it is, whatever its neighbours still need.
      const V open = select(best.worst() <= V(kExact), V(0.0), V(1.0));
      if (all_of(open <= V(0.0))) break;
      newton_step(pass);
      const QpMerit<V> merit = qp_merit<V>(rows_, x_, y_, work_n_, work_m_, work_p_);
      const V better = open * select(merit.worst() < best.worst(), V(1.0), V(0.0));
      rows_.lanes.for_each(n_, [&](int j) { x[j] = select(better > V(0.0), x_[j], x[j]); });
      rows_.lanes.for_each(m_, [&](int i) { y[i] = select(better > V(0.0), y_[i], y[i]); });
      best.primal = select(better > V(0.0), merit.primal, best.primal);
      best.dual = select(better > V(0.0), merit.dual, best.dual);
      best.gap = select(better > V(0.0), merit.gap, best.gap);
    }
    return best;
  }

 private:
  static constexpr int kPasses = 8;
  static constexpr double kExact = 1e-14;
  static constexpr double kPenalty = 1e8;
  static constexpr double kProximity = 1e-12;
  static constexpr double kInactive = 0.0;
  static constexpr double kTight = 1.0;   // an equation
  static constexpr double kSmooth = 2.0;  // a row of a cone on its boundary
  static constexpr double kSmallestPivot = 1e-40;

  // work_m_ holds A x. A row is active where its multiplier outweighs its distance.
  CAROM_HOST_DEVICE void identify(const Memory& y) {
    const QpShape& shape = rows_.shape;
    rows_.lanes.for_each(m_, [&](int i) {
      const V value = work_m_[i];
      const V l = rows_.scaled.lower[i];
      const V u = rows_.scaled.upper[i];
      const V up = select(u - value < y[i], V(1.0), V(0.0));
      const V down = select(value - l < -y[i], V(1.0), V(0.0));
      const V fixed = select(l != u, V(0.0), V(1.0));
      active_[i] = larger(fixed, larger(up, down));
      tangent_[i] = select(fixed > V(0.0), u, select(up > V(0.0), u, select(down > V(0.0), l, u)));
    });
    for (int c = 0; c < shape.cones; ++c) {
      const QpConeSpan& cone = shape.cone[c];
      V slack_tail(0.0);
      V dual_tail(0.0);
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        const V s = rows_.scaled.upper[i] - work_m_[i];
        slack_tail = fused(s, s, slack_tail);
        dual_tail = fused(y[i], y[i], dual_tail);
      }
      const V slack = rows_.scaled.upper[cone.first] - work_m_[cone.first];
      const V slack_margin = slack - square_root(slack_tail);
      const V dual_margin = y[cone.first] - square_root(dual_tail);
      const V state = select(y[cone.first] < slack_margin, V(kInactive),
                             select(slack < dual_margin, V(kTight), V(kSmooth)));
      rows_.lanes.for_each(cone.size, [&](int t) {
        active_[cone.first + t] = state;
        tangent_[cone.first + t] = rows_.scaled.upper[cone.first + t];
      });
    }
    rows_.lanes.for_each(m_, [&](int i) { y_[i] = select(active_[i] > V(0.0), y[i], V(0.0)); });
  }

  CAROM_HOST_DEVICE void newton_step(int pass) {
    const long n = n_;
    const QpShape& shape = rows_.shape;
    const V penalty(kPenalty);
    rows_.lanes.for_each(m_, [&](int i) {
      work_m_[i] = rows_.times(i, x_);
      const V tight = select(active_[i] != V(kTight), V(0.0), penalty);
      push_[i] = select(tight > V(0.0), fused(tight, work_m_[i] - tangent_[i], y_[i]), V(0.0));
      work_p_[i] = tight;
    });
    // Only the boundaries of cones change from pass to pass.
    if (pass == 0 || shape.cones > 0) {
      rows_.lanes.for_each(n_, [&](int j) {
        for (int i = j; i < n_; ++i) factor_[j * n + i] = rows_.scaled.hessian[j * n + i];
        factor_[j * n + j] = factor_[j * n + j] + V(kProximity);
      });
      for (int i = 0; i < m_; ++i) rows_.add_row(i, work_p_[i], factor_);
      for (int c = 0; c < shape.cones; ++c) add_boundary(shape.cone[c]);
      factor_symmetric<V>(rows_.lanes, n_, factor_, inverse_, V(kSmallestPivot));
    }
    rows_.gradient(x_, step_);
    rows_.add_transposed(push_, step_);
    rows_.lanes.for_each(n_, [&](int j) { step_[j] = -step_[j]; });
    solve_symmetric<V>(rows_.lanes, n_, factor_, inverse_, step_);
    // Multipliers: those of the tight rows, then those of the boundaries at the new point.
    rows_.lanes.for_each(m_, [&](int i) {
      const V moved = rows_.times(i, step_);
      const V tight = work_p_[i];
      y_[i] = select(tight > V(0.0), fused(tight, moved, push_[i]), y_[i]);
      work_p_[i] = moved;
    });
    for (int c = 0; c < shape.cones; ++c) move_boundary(shape.cone[c]);
    rows_.lanes.for_each(n_, [&](int j) { x_[j] = x_[j] + step_[j]; });
  }

  struct Boundary {
    V on, tail, excess;
  };
  CAROM_INLINE Boundary boundary_of(const QpConeSpan& cone) const {
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V s = rows_.scaled.upper[i] - work_m_[i];
      sum = fused(s, s, sum);
    }
    const V tail = square_root(sum);
    const V slack = rows_.scaled.upper[cone.first] - work_m_[cone.first];
    const V on =
        select(active_[cone.first] != V(kSmooth), V(0.0), select(tail > V(0.0), V(1.0), V(0.0)));
    return {on, select(tail > V(0.0), tail, V(1.0)), tail - slack};
  }

  // c(x) = |s_1| - s_0 with s = h - G x and multiplier nu = y of the first row:
  // gradient g = G_0 - u'G_1, u = s_1 / |s_1|, curvature nu / |s_1| G_1'(I - u u') G_1.
  CAROM_HOST_DEVICE void add_boundary(const QpConeSpan& cone) {
    const long n = n_;
    const QpShape& shape = rows_.shape;
    const Boundary b = boundary_of(cone);
    const V nu = larger(y_[cone.first], V(0.0));
    const V curvature = b.on * nu / b.tail;
    const int count = cone.column_last - cone.column_first;
    const auto column = [&](int t) { return shape.cone_column[cone.column_first + t]; };
    rows_.lanes.for_each(count, [&](int t) {
      const int j = column(t);
      V along(0.0);
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        const V u = (rows_.scaled.upper[i] - work_m_[i]) / b.tail;
        along = fused(u, rows_.scaled.matrix[i * n + j], along);
      }
      normal_[j] = along;
    });
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      rows_.add_row(i, curvature, factor_);
    }
    const V penalty = b.on * V(kPenalty);
    rows_.lanes.for_each(count, [&](int p) {
      const int j = column(p);
      const V head_j = rows_.scaled.matrix[cone.first * n + j] - normal_[j];
      for (int q = p; q < count; ++q) {
        const int k = column(q);
        const V head_k = rows_.scaled.matrix[cone.first * n + k] - normal_[k];
        const V bent = fused(-(curvature * normal_[j]), normal_[k], factor_[j * n + k]);
        factor_[j * n + k] = fused(penalty * head_j, head_k, bent);
      }
    });
    const V value = b.on * fused(V(kPenalty), b.excess, nu);
    rows_.lanes.for_each(cone.size, [&](int t) {
      const int i = cone.first + t;
      const V u = (rows_.scaled.upper[i] - work_m_[i]) / b.tail;
      push_[i] = select(b.on > V(0.0), t == 0 ? value : -(value * u), push_[i]);
    });
  }

  CAROM_HOST_DEVICE void move_boundary(const QpConeSpan& cone) {
    const Boundary b = boundary_of(cone);
    V change = work_p_[cone.first];
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V u = (rows_.scaled.upper[i] - work_m_[i]) / b.tail;
      change = fused(-u, work_p_[i], change);
    }
    const V nu = fused(V(kPenalty), change, push_[cone.first]);
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V s = rows_.scaled.upper[i] - work_m_[i] - work_p_[i];
      sum = fused(s, s, sum);
    }
    const V tail = square_root(sum);
    const V safe = select(tail > V(0.0), tail, V(1.0));
    rows_.lanes.for_each(cone.size, [&](int t) {
      const int i = cone.first + t;
      const V u = (rows_.scaled.upper[i] - work_m_[i] - work_p_[i]) / safe;
      y_[i] = select(b.on > V(0.0), t == 0 ? nu : -(nu * u), y_[i]);
    });
  }

  const QpRows<V, Lanes, Memory>& rows_;
  int n_;
  int m_;
  Memory factor_, inverse_, step_, x_, normal_, work_n_;
  Memory work_m_, work_p_, y_, active_, push_;
  Memory tangent_;  // the bound that an active row is held at
};

}  // namespace carom::kernels
