#pragma once

#include "programs/qp/kernels/qp_iterate.hpp"

/// Operator splitting for convex quadratic programs with cones (Stellato et al. 2020, O'Donoghue
/// 2021): one factorisation of P + sigma I + A' R A, then products and projections; penalties R
/// that adapt, over-relaxation, certificates from the differences of iterates, and a polish.
namespace carom::kernels {

struct QpFirstOrderOptions {
  double tolerance = 1e-9;
  int max_iterations = 20000;
  bool polish = true;
  double over_relaxation = 1.6;
  double penalty = 0.1;
};

template <class Memory>
struct AdmmQpLayout : QpIterateLayout<Memory> {
  Memory next;
  Memory change_x;
  Memory work_n;
  Memory z;
  Memory penalty;
  Memory change_y;
  Memory work_m;
  Memory work_p;

  AdmmQpLayout() = default;
  CAROM_INLINE constexpr AdmmQpLayout(Arena<Memory>& arena, long n, long rows)
      : QpIterateLayout<Memory>(arena, n, rows),
        next(arena.take(n)),
        change_x(arena.take(n)),
        work_n(arena.take(n)),
        z(arena.take(rows)),
        penalty(arena.take(rows)),
        change_y(arena.take(rows)),
        work_m(arena.take(rows)),
        work_p(arena.take(rows)) {}
};
CAROM_INLINE constexpr long admm_qp_workspace(long n, long rows) {
  return values_of<AdmmQpLayout>(n, rows);
}

template <class V, class Lanes, class Memory>
class AdmmQp : public QpIterate<V, Lanes, Memory, AdmmQpLayout> {
  using Base = QpIterate<V, Lanes, Memory, AdmmQpLayout>;
  using Base::lanes_, Base::n_, Base::m_, Base::at_, Base::rows_, Base::polish_, Base::scale_;
  using Base::scaled_x, Base::scaled_y, Base::unscale;

 public:
  using Base::Base;

  /// start_x: [n], start_y: [rows] in the problem's units.
  template <class Data, class Start>
  CAROM_CALL QpOutcome<V> solve(const QpView<Data>& view, const QpFirstOrderOptions& options,
                                const Start& start_x, const Start& start_y) {
    using kernels::all_of;
    const QpShape& shape = rows_.shape;
    scale_ = scale_problem<V>(lanes_, shape, view, rows_.scaled);
    const V least = convexity_pivot<V>(lanes_, n_, view.hessian, at_.factor, at_.inverse);
    QpOutcome<V> outcome{select(least >= V(0.0), V(qp_end::kRunning), V(qp_end::kNonconvex)),
                         V(0.0)};
    lanes_.for_each(n_, [&](int j) { at_.x[j] = scaled_x(j, start_x[j]); });
    lanes_.for_each(m_, [&](int i) {
      at_.z[i] = rows_.times(i, at_.x);
      at_.y[i] = scaled_y(i, start_y[i]);
    });
    rho_ = V(options.penalty);
    refactor();
    const V tolerance(options.tolerance);
    const V relax(options.over_relaxation);
    for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
      const MaskOf<V> going = !(outcome.end > V(0.0));
      iterate(relax, going);
      outcome.iterations = outcome.iterations + as_number<V>(going);
      if (iteration % kCheckEvery != 0 && iteration != options.max_iterations) continue;
      const QpMerit<V> merit = qp_merit<V>(rows_, at_.x, at_.y, at_.work_n, at_.work_m, at_.work_p);
      const auto finish = [&](MaskOf<V> when, double what) {
        outcome.end = select(when & !(outcome.end > V(0.0)), V(what), outcome.end);
      };
      finish(infeasible(tolerance), qp_end::kInfeasible);
      finish(unbounded(tolerance), qp_end::kUnbounded);
      const V aim = options.polish ? V(kPolishFrom) : V(kShare) * tolerance;
      finish(merit.worst() <= aim, qp_end::kConverged);
      finish(!(merit.worst() < V(kInfinity)), qp_end::kBroken);
      if (options.polish) try_polish(outcome, tolerance, going);
      if (all_of(outcome.end > V(0.0))) break;
      if (iteration % kAdaptEvery == 0) adapt(merit, outcome.end);
    }
    finish_proofs(outcome.end);
    unscale();
    return outcome;
  }

 private:
  static constexpr double kSigma = 1e-9;
  static constexpr double kEquationWeight = 1e3;
  static constexpr double kShare = 1e-2;
  static constexpr double kProofShare = 0.1;
  static constexpr double kPolishFrom = 1e-5;
  static constexpr int kCheckEvery = 20;
  static constexpr int kAdaptEvery = 60;
  static constexpr double kAdaptRatio = 3.0;
  static constexpr double kSmallestPivot = 1e-40;

  CAROM_CALL void refactor() {
    const long n = n_;
    lanes_.for_each(m_, [&](int i) {
      const V equation =
          select(rows_.scaled.lower[i] != rows_.scaled.upper[i], V(1.0), V(kEquationWeight));
      at_.penalty[i] = rho_ * equation;
    });
    lanes_.for_each(n_, [&](int j) {
      for (int i = j; i < n_; ++i) at_.factor[j * n + i] = rows_.scaled.hessian[j * n + i];
      at_.factor[j * n + j] = at_.factor[j * n + j] + V(kSigma);
    });
    for (int i = 0; i < m_; ++i) rows_.add_row(i, at_.penalty[i], at_.factor);
    factor_symmetric<V>(lanes_, n_, at_.factor, at_.inverse, V(kSmallestPivot));
  }

  CAROM_CALL void iterate(V relax, MaskOf<V> going) {
    lanes_.for_each(
        n_, [&](int j) { at_.next[j] = fused(V(kSigma), at_.x[j], -rows_.scaled.gradient[j]); });
    lanes_.for_each(m_, [&](int i) { at_.work_m[i] = fused(at_.penalty[i], at_.z[i], -at_.y[i]); });
    rows_.add_transposed(at_.work_m, at_.next);
    solve_symmetric<V>(lanes_, n_, at_.factor, at_.inverse, at_.next);
    const V kept = V(1.0) - relax;
    lanes_.for_each(m_, [&](int i) {
      const V mixed = fused(relax, rows_.times(i, at_.next), kept * at_.z[i]);
      at_.work_m[i] = mixed;
      at_.work_p[i] = mixed + at_.y[i] / at_.penalty[i];
    });
    rows_.project(at_.work_p, at_.work_p);
    lanes_.for_each(m_, [&](int i) {
      const V change = at_.penalty[i] * (at_.work_m[i] - at_.work_p[i]);
      at_.change_y[i] = select(going, change, at_.change_y[i]);
      at_.y[i] = select(going, at_.y[i] + change, at_.y[i]);
      at_.z[i] = select(going, at_.work_p[i], at_.z[i]);
    });
    lanes_.for_each(n_, [&](int j) {
      const V change = relax * (at_.next[j] - at_.x[j]);
      at_.change_x[j] = select(going, change, at_.change_x[j]);
      at_.x[j] = select(going, at_.x[j] + change, at_.x[j]);
    });
  }

  // Support of the rows at a direction of multipliers, infinite where it has a sign without bound.
  CAROM_CALL MaskOf<V> infeasible(V tolerance) {
    lanes_.for_each(n_, [&](int j) { at_.work_n[j] = V(0.0); });
    rows_.add_transposed(at_.change_y, at_.work_n);
    V size(0.0);
    V support(0.0);
    V wrong(0.0);
    int next = 0;
    for (int i = 0; i < m_; ++i) {
      while (next < rows_.shape.cones &&
             rows_.shape.cone[next].first + rows_.shape.cone[next].size <= i) {
        ++next;
      }
      const bool in_cone = next < rows_.shape.cones && rows_.shape.cone[next].first <= i;
      const V y = at_.change_y[i];
      size = larger(magnitude(y), size);
      const V upper = rows_.scaled.upper[i];
      const V bound = in_cone ? upper : select(y > V(0.0), upper, rows_.scaled.lower[i]);
      const V there = presence(bound);
      support = fused(select(there > V(0.0), bound, V(0.0)), y, support);
      wrong = larger(select(there > V(0.0), V(0.0), magnitude(y)), wrong);
    }
    V balance(0.0);
    for (int j = 0; j < n_; ++j) balance = larger(magnitude(at_.work_n[j]), balance);
    const V limit = V(kProofShare) * tolerance * magnitude(support);
    return (support < V(0.0)) & (size > V(0.0)) & (scale_.bounds * larger(balance, wrong) <= limit);
  }

  CAROM_CALL MaskOf<V> unbounded(V tolerance) {
    rows_.gradient(at_.change_x, at_.work_n);
    V slope(0.0);
    V bent(0.0);
    for (int j = 0; j < n_; ++j) {
      slope = fused(rows_.scaled.gradient[j], at_.change_x[j], slope);
      bent = larger(magnitude(at_.work_n[j] - rows_.scaled.gradient[j]), bent);
    }
    V ends(0.0);
    int next = 0;
    for (int i = 0; i < m_; ++i) {
      if (next < rows_.shape.cones && rows_.shape.cone[next].first == i) {
        const QpConeSpan& cone = rows_.shape.cone[next];
        V sum(0.0);
        for (int r = i + 1; r < i + cone.size; ++r) {
          const V v = rows_.times(r, at_.change_x);
          sum = fused(v, v, sum);
        }
        ends = larger(square_root(sum) + rows_.times(i, at_.change_x), ends);
        i += cone.size - 1;
        ++next;
        continue;
      }
      const V along = rows_.times(i, at_.change_x);
      ends = larger(presence(rows_.scaled.upper[i]) * along, ends);
      ends = larger(presence(rows_.scaled.lower[i]) * -along, ends);
    }
    return (slope < V(0.0)) & (larger(bent, ends) <= V(kProofShare) * tolerance * magnitude(slope));
  }

  // A copy is polished; lanes that it brings to the tolerance take it, the others go on.
  CAROM_CALL void try_polish(QpOutcome<V>& outcome, V tolerance, MaskOf<V> going) {
    using kernels::any_of;
    const MaskOf<V> near = going & !(outcome.end != V(qp_end::kConverged));
    if (!any_of(near)) return;
    lanes_.for_each(n_, [&](int j) { at_.next[j] = at_.x[j]; });
    lanes_.for_each(m_, [&](int i) { at_.work_m[i] = at_.y[i]; });
    const QpMerit<V> merit = polish_.run(at_.next, at_.work_m);
    const MaskOf<V> good = near & (merit.worst() <= V(kShare) * tolerance);
    lanes_.for_each(n_, [&](int j) { at_.x[j] = select(good, at_.next[j], at_.x[j]); });
    lanes_.for_each(m_, [&](int i) { at_.y[i] = select(good, at_.work_m[i], at_.y[i]); });
    outcome.end =
        select(near, select(good, V(qp_end::kConverged), V(qp_end::kRunning)), outcome.end);
  }

  // The penalty that would have balanced primal and dual residuals.
  CAROM_CALL void adapt(const QpMerit<V>& merit, V end) {
    const V primal = larger(larger(merit.primal, merit.gap), V(1e-30));
    const V ratio = square_root(primal / larger(merit.dual, V(1e-30)));
    const V bounded = smaller(larger(ratio, V(1e-3)), V(1e3));
    const V far = larger(bounded, V(1.0) / bounded);
    using kernels::any_of;
    const MaskOf<V> changed = (far > V(kAdaptRatio)) & !(end > V(0.0));
    if (!any_of(changed)) return;
    const V next = smaller(larger(rho_ * bounded, V(1e-6)), V(1e8));
    rho_ = select(changed, next, rho_);
    refactor();
  }

  // What proves a status is the last difference.
  CAROM_CALL void finish_proofs(V end) {
    lanes_.for_each(m_, [&](int i) {
      at_.y[i] = select(end != V(qp_end::kInfeasible), at_.y[i], at_.change_y[i]);
    });
    lanes_.for_each(n_, [&](int j) {
      at_.x[j] = select(end != V(qp_end::kUnbounded), at_.x[j], at_.change_x[j]);
    });
  }

  V rho_{};
};

}  // namespace carom::kernels
