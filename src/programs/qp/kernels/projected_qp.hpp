#pragma once

#include "programs/qp/kernels/admm_qp.hpp"

/// Accelerated projected gradient on the dual of a strictly convex quadratic program, where rows
/// and cones become simple sets whatever A is: x(y) = -P^-1 (q + A'y), and a step along A x(y)
/// followed by the projection that belongs to l, u and K. Momentum of Nesterov (1983), restarted
/// where it points against the step (O'Donoghue and Candes 2015); polished as admm is.
namespace carom::kernels {

template <class Memory>
struct ProjectedQpLayout : QpIterateLayout<Memory> {
  Memory trial;
  Memory work_n;
  Memory ahead;
  Memory next;
  Memory step;
  Memory work_m;
  Memory work_p;

  ProjectedQpLayout() = default;
  CAROM_INLINE constexpr ProjectedQpLayout(Arena<Memory>& arena, long n, long rows)
      : QpIterateLayout<Memory>(arena, n, rows),
        trial(arena.take(n)),
        work_n(arena.take(n)),
        ahead(arena.take(rows)),
        next(arena.take(rows)),
        step(arena.take(rows)),
        work_m(arena.take(rows)),
        work_p(arena.take(rows)) {}
};
CAROM_INLINE constexpr long projected_qp_workspace(long n, long rows) {
  return values_of<ProjectedQpLayout>(n, rows);
}

template <class V, class Lanes, class Memory>
class ProjectedQp : public QpIterate<V, Lanes, Memory, ProjectedQpLayout> {
  using Base = QpIterate<V, Lanes, Memory, ProjectedQpLayout>;
  using Base::lanes_, Base::n_, Base::m_, Base::at_, Base::rows_, Base::polish_, Base::scale_;
  using Base::scaled_y, Base::unscale;

 public:
  using Base::Base;

  /// Lanes whose Hessian is not positive definite end as kBroken: no such dual exists.
  template <class Data, class Start>
  CAROM_CALL QpOutcome<V> solve(const QpView<Data>& view, const QpFirstOrderOptions& options,
                                const Start&, const Start& start_y) {
    using kernels::all_of;
    scale_ = scale_problem<V>(lanes_, rows_.shape, view, rows_.scaled);
    const long n = n_;
    lanes_.for_each(n_, [&](int j) {
      for (int i = j; i < n_; ++i) at_.factor[j * n + i] = rows_.scaled.hessian[j * n + i];
    });
    const V least = factor_symmetric<V>(lanes_, n_, at_.factor, at_.inverse, V(0.0));
    QpOutcome<V> outcome{select(least > V(kDefinite), V(qp_end::kRunning), V(qp_end::kBroken)),
                         V(0.0)};
    find_steps();
    lanes_.for_each(m_, [&](int i) {
      at_.y[i] = scaled_y(i, start_y[i]);
      at_.ahead[i] = at_.y[i];
    });
    V momentum(1.0);
    const V tolerance(options.tolerance);
    for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
      const MaskOf<V> going = !(outcome.end > V(0.0));
      minimise(at_.ahead, at_.trial);
      lanes_.for_each(m_, [&](int i) {
        // y + t (A x - Proj(A x + y / t)), the proximal step of the rows' support function.
        const V shifted = rows_.times(i, at_.trial) + at_.ahead[i] / at_.step[i];
        at_.work_m[i] = shifted;
      });
      rows_.project(at_.work_m, at_.work_p);
      lanes_.for_each(m_,
                      [&](int i) { at_.next[i] = at_.step[i] * (at_.work_m[i] - at_.work_p[i]); });
      V against(0.0);
      for (int i = 0; i < m_; ++i) {
        against =
            fused((at_.ahead[i] - at_.next[i]) / at_.step[i], at_.next[i] - at_.y[i], against);
      }
      const MaskOf<V> restart = against > V(0.0);
      const V old = select(restart, V(1.0), momentum);
      const V grown = V(0.5) + square_root(fused(old, old, V(0.25)));
      const V carry = select(restart, V(0.0), (old - V(1.0)) / grown);
      momentum = grown;
      lanes_.for_each(m_, [&](int i) {
        at_.ahead[i] = fused(carry, at_.next[i] - at_.y[i], at_.next[i]);
        at_.y[i] = select(going, at_.next[i], at_.y[i]);
      });
      outcome.iterations = outcome.iterations + as_number<V>(going);
      if (iteration % kCheckEvery != 0 && iteration != options.max_iterations) continue;
      check(outcome, options, tolerance);
      if (all_of(outcome.end > V(0.0))) break;
    }
    unscale();
    return outcome;
  }

 private:
  static constexpr double kDefinite = 1e-10;
  static constexpr double kShare = 1e-2;
  static constexpr double kPolishFrom = 1e-4;
  static constexpr int kCheckEvery = 25;
  static constexpr int kPowerSteps = 30;

  /// x = -P^-1 (q + A'y)
  CAROM_CALL void minimise(const Memory& y, const Memory& x) {
    lanes_.for_each(n_, [&](int j) { x[j] = rows_.scaled.gradient[j]; });
    rows_.add_transposed(y, x);
    lanes_.for_each(n_, [&](int j) { x[j] = -x[j]; });
    solve_symmetric<V>(lanes_, n_, at_.factor, at_.inverse, x);
  }

  /// Steps 1 / (L d_i): d the diagonal of A P^-1 A' (one value for a cone's rows), L a bound on the
  /// largest eigenvalue of D^-1/2 A P^-1 A' D^-1/2 by the power method, raised by a tenth.
  CAROM_CALL void find_steps() {
    const QpShape& shape = rows_.shape;
    for (int i = 0; i < m_; ++i) {
      lanes_.for_each(n_, [&](int j) { at_.work_n[j] = V(0.0); });
      const int first = shape.row_first[i];
      const long n = n_;
      lanes_.for_each(shape.row_first[i + 1] - first, [&](int t) {
        const int j = shape.column[first + t];
        at_.work_n[j] = rows_.scaled.matrix[i * n + j];
      });
      solve_symmetric<V>(lanes_, n_, at_.factor, at_.inverse, at_.work_n);
      const V diagonal = rows_.times(i, at_.work_n);
      lanes_.for_each(1, [&](int) { at_.step[i] = select(diagonal > V(0.0), diagonal, V(1.0)); });
    }
    for (int c = 0; c < shape.cones; ++c) {
      const QpConeSpan& cone = shape.cone[c];
      V most(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) most = larger(at_.step[i], most);
      lanes_.for_each(cone.size, [&](int t) { at_.step[cone.first + t] = most; });
    }
    lanes_.for_each(m_, [&](int i) {
      at_.step[i] = V(1.0) / at_.step[i];
      at_.work_m[i] = square_root(at_.step[i]) * V(1.0 + 0.01 * static_cast<double>(i % 7));
    });
    V eigenvalue(1.0);
    for (int power = 0; power < kPowerSteps; ++power) {
      lanes_.for_each(n_, [&](int j) { at_.work_n[j] = V(0.0); });
      rows_.add_transposed(at_.work_m, at_.work_n);
      solve_symmetric<V>(lanes_, n_, at_.factor, at_.inverse, at_.work_n);
      V before(0.0);
      V after(0.0);
      lanes_.for_each(m_, [&](int i) { at_.work_p[i] = at_.step[i] * rows_.times(i, at_.work_n); });
      for (int i = 0; i < m_; ++i) {
        before = fused(at_.work_m[i] / at_.step[i], at_.work_m[i], before);
        after = fused(at_.work_p[i] / at_.step[i], at_.work_p[i], after);
      }
      const V growth = square_root(after / select(before > V(0.0), before, V(1.0)));
      eigenvalue = larger(growth, V(1e-30));
      lanes_.for_each(m_, [&](int i) { at_.work_m[i] = at_.work_p[i] / eigenvalue; });
    }
    const V share = V(1.0 / 1.1) / eigenvalue;
    lanes_.for_each(m_, [&](int i) { at_.step[i] = share * at_.step[i]; });
  }

  CAROM_CALL void check(QpOutcome<V>& outcome, const QpFirstOrderOptions& options, V tolerance) {
    const MaskOf<V> going = !(outcome.end > V(0.0));
    minimise(at_.y, at_.trial);
    const QpMerit<V> merit =
        qp_merit<V>(rows_, at_.trial, at_.y, at_.work_n, at_.work_m, at_.work_p);
    const V aim = V(kShare) * tolerance;
    MaskOf<V> done = merit.worst() <= aim;
    lanes_.for_each(n_, [&](int j) { at_.x[j] = select(going, at_.trial[j], at_.x[j]); });
    if (options.polish) {
      lanes_.for_each(m_, [&](int i) { at_.next[i] = at_.y[i]; });
      using kernels::any_of;
      const MaskOf<V> near = going & (merit.worst() <= V(kPolishFrom));
      if (any_of(near)) {
        const QpMerit<V> polished = polish_.run(at_.trial, at_.next);
        const MaskOf<V> good = near & (polished.worst() <= aim);
        lanes_.for_each(n_, [&](int j) { at_.x[j] = select(good, at_.trial[j], at_.x[j]); });
        lanes_.for_each(m_, [&](int i) { at_.y[i] = select(good, at_.next[i], at_.y[i]); });
        done = done | good;
      }
    }
    outcome.end = select(going & done, V(qp_end::kConverged), outcome.end);
    const MaskOf<V> broken = !(merit.worst() < V(kInfinity));
    outcome.end = select(broken & !(outcome.end > V(0.0)), V(qp_end::kBroken), outcome.end);
  }
};

}  // namespace carom::kernels
