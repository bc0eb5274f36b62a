#pragma once

#include "programs/qp/kernels/qp_splitting.hpp"

namespace carom::kernels {

template <class Memory>
struct QpPolishLayout {
  Memory factor;
  Memory inverse;
  Memory step;
  Memory x;
  Memory normal;
  Memory work_n;
  Memory work_m;
  Memory work_p;
  Memory y;
  Memory active;
  Memory push;
  Memory tangent;  ///< the bound that an active row is held at

  QpPolishLayout() = default;
  CAROM_INLINE constexpr QpPolishLayout(Arena<Memory>& arena, long n, long rows)
      : factor(arena.take(n * n)),
        inverse(arena.take(n)),
        step(arena.take(n)),
        x(arena.take(n)),
        normal(arena.take(n)),
        work_n(arena.take(n)),
        work_m(arena.take(rows)),
        work_p(arena.take(rows)),
        y(arena.take(rows)),
        active(arena.take(rows)),
        push(arena.take(rows)),
        tangent(arena.take(rows)) {}
};

/// Newton's method on the optimality conditions with the active set held fixed, for what a
/// first-order method has found: active rows become equations by multipliers with a large penalty,
/// active cones either stay at their apex or on their smooth boundary |s_1| = s_0, linearised anew
/// in each pass. Keeps the best of all passes, so that it never harms.
template <class V, class Lanes, class Memory>
class QpPolish {
 public:
  CAROM_HOST_DEVICE QpPolish(const QpRows<V, Lanes, Memory>& rows,
                             const QpPolishLayout<Memory>& layout)
      : rows_(rows), n_(rows.shape.variables), m_(rows.shape.rows), at_(layout) {}

  /// x, y: in and out, improved or unchanged. Returns the merit of what stands there afterwards.
  CAROM_CALL QpMerit<V> run(const Memory& x, const Memory& y) {
    using kernels::any_of;
    QpMerit<V> best = qp_merit<V>(rows_, x, y, at_.work_n, at_.work_m, at_.work_p);
    identify(y);
    rows_.lanes.for_each(n_, [&](int j) { at_.x[j] = x[j]; });
    for (int pass = 0; pass < kPasses; ++pass) {
      // A problem that is exact stays as it is, whatever its neighbours still need.
      const MaskOf<V> open = !(best.worst() <= V(kExact));
      if (!any_of(open)) break;
      newton_step(pass);
      const QpMerit<V> merit = qp_merit<V>(rows_, at_.x, at_.y, at_.work_n, at_.work_m, at_.work_p);
      const MaskOf<V> better = open & (merit.worst() < best.worst());
      rows_.lanes.for_each(n_, [&](int j) { x[j] = select(better, at_.x[j], x[j]); });
      rows_.lanes.for_each(m_, [&](int i) { y[i] = select(better, at_.y[i], y[i]); });
      best.primal = select(better, merit.primal, best.primal);
      best.dual = select(better, merit.dual, best.dual);
      best.gap = select(better, merit.gap, best.gap);
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

  // work_m holds A x. A row is active where its multiplier outweighs its distance.
  CAROM_CALL void identify(const Memory& y) {
    const QpShape& shape = rows_.shape;
    rows_.lanes.for_each(m_, [&](int i) {
      const V value = at_.work_m[i];
      const V l = rows_.scaled.lower[i];
      const V u = rows_.scaled.upper[i];
      const MaskOf<V> up = u - value < y[i];
      const MaskOf<V> down = value - l < -y[i];
      const MaskOf<V> fixed = !(l != u);
      at_.active[i] = select(fixed | up | down, V(kTight), V(kInactive));
      at_.tangent[i] = select(down & !(fixed | up), l, u);
    });
    for (int c = 0; c < shape.cones; ++c) {
      const QpConeSpan& cone = shape.cone[c];
      V slack_tail(0.0);
      V dual_tail(0.0);
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        const V s = rows_.scaled.upper[i] - at_.work_m[i];
        slack_tail = fused(s, s, slack_tail);
        dual_tail = fused(y[i], y[i], dual_tail);
      }
      const V slack = rows_.scaled.upper[cone.first] - at_.work_m[cone.first];
      const V slack_margin = slack - square_root(slack_tail);
      const V dual_margin = y[cone.first] - square_root(dual_tail);
      const V state = select(y[cone.first] < slack_margin, V(kInactive),
                             select(slack < dual_margin, V(kTight), V(kSmooth)));
      rows_.lanes.for_each(cone.size, [&](int t) {
        at_.active[cone.first + t] = state;
        at_.tangent[cone.first + t] = rows_.scaled.upper[cone.first + t];
      });
    }
    rows_.lanes.for_each(m_,
                         [&](int i) { at_.y[i] = select(at_.active[i] > V(0.0), y[i], V(0.0)); });
  }

  CAROM_CALL void newton_step(int pass) {
    const long n = n_;
    const QpShape& shape = rows_.shape;
    const V penalty(kPenalty);
    rows_.lanes.for_each(m_, [&](int i) {
      at_.work_m[i] = rows_.times(i, at_.x);
      const V tight = select(at_.active[i] != V(kTight), V(0.0), penalty);
      at_.push[i] =
          select(tight > V(0.0), fused(tight, at_.work_m[i] - at_.tangent[i], at_.y[i]), V(0.0));
      at_.work_p[i] = tight;
    });
    // Only the boundaries of cones change from pass to pass.
    if (pass == 0 || shape.cones > 0) {
      rows_.lanes.for_each(n_, [&](int j) {
        for (int i = j; i < n_; ++i) at_.factor[j * n + i] = rows_.scaled.hessian[j * n + i];
        at_.factor[j * n + j] = at_.factor[j * n + j] + V(kProximity);
      });
      for (int i = 0; i < m_; ++i) rows_.add_row(i, at_.work_p[i], at_.factor);
      for (int c = 0; c < shape.cones; ++c) add_boundary(shape.cone[c]);
      factor_symmetric<V>(rows_.lanes, n_, at_.factor, at_.inverse, V(kSmallestPivot));
    }
    rows_.gradient(at_.x, at_.step);
    rows_.add_transposed(at_.push, at_.step);
    rows_.lanes.for_each(n_, [&](int j) { at_.step[j] = -at_.step[j]; });
    solve_symmetric<V>(rows_.lanes, n_, at_.factor, at_.inverse, at_.step);
    // Multipliers: those of the tight rows, then those of the boundaries at the new point.
    rows_.lanes.for_each(m_, [&](int i) {
      const V moved = rows_.times(i, at_.step);
      const V tight = at_.work_p[i];
      at_.y[i] = select(tight > V(0.0), fused(tight, moved, at_.push[i]), at_.y[i]);
      at_.work_p[i] = moved;
    });
    for (int c = 0; c < shape.cones; ++c) move_boundary(shape.cone[c]);
    rows_.lanes.for_each(n_, [&](int j) { at_.x[j] = at_.x[j] + at_.step[j]; });
  }

  struct Boundary {
    MaskOf<V> on;
    V tail, excess;
  };
  CAROM_INLINE Boundary boundary_of(const QpConeSpan& cone) const {
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V s = rows_.scaled.upper[i] - at_.work_m[i];
      sum = fused(s, s, sum);
    }
    const V tail = square_root(sum);
    const V slack = rows_.scaled.upper[cone.first] - at_.work_m[cone.first];
    const MaskOf<V> on = (tail > V(0.0)) & !(at_.active[cone.first] != V(kSmooth));
    return {on, select(tail > V(0.0), tail, V(1.0)), tail - slack};
  }

  // c(x) = |s_1| - s_0 with s = h - G x and multiplier nu = y of the first row:
  // gradient g = G_0 - u'G_1, u = s_1 / |s_1|, curvature nu / |s_1| G_1'(I - u u') G_1.
  CAROM_CALL void add_boundary(const QpConeSpan& cone) {
    const long n = n_;
    const QpShape& shape = rows_.shape;
    const Boundary b = boundary_of(cone);
    const V nu = larger(at_.y[cone.first], V(0.0));
    const V curvature = select(b.on, nu / b.tail, V(0.0));
    const int count = cone.column_last - cone.column_first;
    const auto column = [&](int t) { return shape.cone_column[cone.column_first + t]; };
    rows_.lanes.for_each(count, [&](int t) {
      const int j = column(t);
      V along(0.0);
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        const V u = (rows_.scaled.upper[i] - at_.work_m[i]) / b.tail;
        along = fused(u, rows_.scaled.matrix[i * n + j], along);
      }
      at_.normal[j] = along;
    });
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      rows_.add_row(i, curvature, at_.factor);
    }
    const V penalty = select(b.on, V(kPenalty), V(0.0));
    rows_.lanes.for_each(count, [&](int p) {
      const int j = column(p);
      const V head_j = rows_.scaled.matrix[cone.first * n + j] - at_.normal[j];
      for (int q = p; q < count; ++q) {
        const int k = column(q);
        const V head_k = rows_.scaled.matrix[cone.first * n + k] - at_.normal[k];
        const V bent = fused(-(curvature * at_.normal[j]), at_.normal[k], at_.factor[j * n + k]);
        at_.factor[j * n + k] = fused(penalty * head_j, head_k, bent);
      }
    });
    const V value = fused(V(kPenalty), b.excess, nu);
    rows_.lanes.for_each(cone.size, [&](int t) {
      const int i = cone.first + t;
      const V u = (rows_.scaled.upper[i] - at_.work_m[i]) / b.tail;
      at_.push[i] = select(b.on, t == 0 ? value : -(value * u), at_.push[i]);
    });
  }

  CAROM_CALL void move_boundary(const QpConeSpan& cone) {
    const Boundary b = boundary_of(cone);
    V change = at_.work_p[cone.first];
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V u = (rows_.scaled.upper[i] - at_.work_m[i]) / b.tail;
      change = fused(-u, at_.work_p[i], change);
    }
    const V nu = fused(V(kPenalty), change, at_.push[cone.first]);
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V s = rows_.scaled.upper[i] - at_.work_m[i] - at_.work_p[i];
      sum = fused(s, s, sum);
    }
    const V tail = square_root(sum);
    const V safe = select(tail > V(0.0), tail, V(1.0));
    rows_.lanes.for_each(cone.size, [&](int t) {
      const int i = cone.first + t;
      const V u = (rows_.scaled.upper[i] - at_.work_m[i] - at_.work_p[i]) / safe;
      at_.y[i] = select(b.on, t == 0 ? nu : -(nu * u), at_.y[i]);
    });
  }

  const QpRows<V, Lanes, Memory>& rows_;
  int n_;
  int m_;
  QpPolishLayout<Memory> at_;
};

}  // namespace carom::kernels
