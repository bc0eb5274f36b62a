#pragma once

#include "programs/qp/body/admm_qp_body.hpp"

/// Accelerated projected gradient on the dual of a strictly convex quadratic program, where rows
/// and cones become simple sets whatever A is: x(y) = -P^-1 (q + A'y), and a step along A x(y)
/// followed by the projection that belongs to l, u and K. Momentum of Nesterov (1983), restarted
/// where it points against the step (O'Donoghue and Candes 2015); polished as admm is.
namespace carom::kernels {

CAROM_INLINE constexpr long projected_qp_workspace(long n, long rows) {
  return 2 * n * n + rows * n + 9 * n + 11 * rows + qp_polish_workspace(n, rows);
}

template <class V, class Lanes, class Memory>
class ProjectedQp {
 public:
  CAROM_HOST_DEVICE ProjectedQp(const Lanes& lanes, const QpShape& shape, Memory memory)
      : lanes_(lanes),
        n_(shape.variables),
        m_(shape.rows),
        rows_{lanes, shape, {}},
        polish_(rows_, memory) {
    long used = qp_polish_workspace(n_, m_);
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    const long n = n_;
    const long m = m_;
    rows_.scaled = {take(n * n), take(n), take(m * n), take(n), take(m), take(m), take(m)};
    factor_ = take(n * n);
    inverse_ = take(n);
    x_ = take(n);
    trial_ = take(n);
    work_n_ = take(n);
    y_ = take(m);
    ahead_ = take(m);
    next_ = take(m);
    step_ = take(m);
    work_m_ = take(m);
    work_p_ = take(m);
  }

  CAROM_INLINE V solution(int j) const { return x_[j]; }
  CAROM_INLINE V dual(int i) const { return y_[i]; }

  /// Lanes whose Hessian is not positive definite end as kBroken: no such dual exists.
  template <class Data, class Start>
  CAROM_HOST_DEVICE QpOutcome<V> solve(const QpView<Data>& view, const QpFirstOrderOptions& options,
                                       const Start&, const Start& start_y) {
    using kernels::all_of;
    scale_ = scale_problem<V>(lanes_, rows_.shape, view, rows_.scaled);
    const long n = n_;
    lanes_.for_each(n_, [&](int j) {
      for (int i = j; i < n_; ++i) factor_[j * n + i] = rows_.scaled.hessian[j * n + i];
    });
    const V least = factor_symmetric<V>(lanes_, n_, factor_, inverse_, V(0.0));
    QpOutcome<V> outcome{select(least > V(kDefinite), V(qp_end::kRunning), V(qp_end::kBroken)),
                         V(0.0)};
    find_steps();
    lanes_.for_each(m_, [&](int i) {
      y_[i] = start_y[i] * scale_.cost / rows_.scaled.row_scale[i];
      ahead_[i] = y_[i];
    });
    V momentum(1.0);
    const V tolerance(options.tolerance);
    for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
      const V going = select(outcome.end > V(0.0), V(0.0), V(1.0));
      minimise(ahead_, trial_);
      lanes_.for_each(m_, [&](int i) {
        // y + t (A x - Proj(A x + y / t)), the proximal step of the rows' support function.
        const V shifted = rows_.times(i, trial_) + ahead_[i] / step_[i];
        work_m_[i] = shifted;
      });
      rows_.project(work_m_, work_p_);
      lanes_.for_each(m_, [&](int i) { next_[i] = step_[i] * (work_m_[i] - work_p_[i]); });
      V against(0.0);
      for (int i = 0; i < m_; ++i) {
        against = fused((ahead_[i] - next_[i]) / step_[i], next_[i] - y_[i], against);
      }
      const V restart = select(against > V(0.0), V(1.0), V(0.0));
      const V old = select(restart > V(0.0), V(1.0), momentum);
      const V grown = V(0.5) + square_root(fused(old, old, V(0.25)));
      const V carry = select(restart > V(0.0), V(0.0), (old - V(1.0)) / grown);
      momentum = grown;
      lanes_.for_each(m_, [&](int i) {
        ahead_[i] = fused(carry, next_[i] - y_[i], next_[i]);
        y_[i] = select(going > V(0.0), next_[i], y_[i]);
      });
      outcome.iterations = outcome.iterations + going;
      if (iteration % kCheckEvery != 0 && iteration != options.max_iterations) continue;
      check(outcome, options, tolerance);
      if (all_of(outcome.end > V(0.0))) break;
    }
    finish();
    return outcome;
  }

 private:
  static constexpr double kDefinite = 1e-10;
  static constexpr double kShare = 1e-2;
  static constexpr double kPolishFrom = 1e-4;
  static constexpr int kCheckEvery = 25;
  static constexpr int kPowerSteps = 30;

  /// x = -P^-1 (q + A'y)
  CAROM_HOST_DEVICE void minimise(const Memory& y, const Memory& x) {
    lanes_.for_each(n_, [&](int j) { x[j] = rows_.scaled.gradient[j]; });
    rows_.add_transposed(y, x);
    lanes_.for_each(n_, [&](int j) { x[j] = -x[j]; });
    solve_symmetric<V>(lanes_, n_, factor_, inverse_, x);
  }

  /// Steps 1 / (L d_i): d the diagonal of A P^-1 A' (one value for a cone's rows), L a bound on the
  /// largest eigenvalue of D^-1/2 A P^-1 A' D^-1/2 by the power method, raised by a tenth.
  CAROM_HOST_DEVICE void find_steps() {
    const QpShape& shape = rows_.shape;
    for (int i = 0; i < m_; ++i) {
      lanes_.for_each(n_, [&](int j) { work_n_[j] = V(0.0); });
      const int first = shape.row_first[i];
      const long n = n_;
      lanes_.for_each(shape.row_first[i + 1] - first, [&](int t) {
        const int j = shape.column[first + t];
        work_n_[j] = rows_.scaled.matrix[i * n + j];
      });
      solve_symmetric<V>(lanes_, n_, factor_, inverse_, work_n_);
      const V diagonal = rows_.times(i, work_n_);
      lanes_.for_each(1, [&](int) { step_[i] = select(diagonal > V(0.0), diagonal, V(1.0)); });
    }
    for (int c = 0; c < shape.cones; ++c) {
      const QpConeSpan& cone = shape.cone[c];
      V most(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) most = larger(step_[i], most);
      lanes_.for_each(cone.size, [&](int t) { step_[cone.first + t] = most; });
    }
    lanes_.for_each(m_, [&](int i) {
      step_[i] = V(1.0) / step_[i];
      work_m_[i] = square_root(step_[i]) * V(1.0 + 0.01 * static_cast<double>(i % 7));
    });
    V eigenvalue(1.0);
    for (int power = 0; power < kPowerSteps; ++power) {
      lanes_.for_each(n_, [&](int j) { work_n_[j] = V(0.0); });
      rows_.add_transposed(work_m_, work_n_);
      solve_symmetric<V>(lanes_, n_, factor_, inverse_, work_n_);
      V before(0.0);
      V after(0.0);
      lanes_.for_each(m_, [&](int i) { work_p_[i] = step_[i] * rows_.times(i, work_n_); });
      for (int i = 0; i < m_; ++i) {
        before = fused(work_m_[i] / step_[i], work_m_[i], before);
        after = fused(work_p_[i] / step_[i], work_p_[i], after);
      }
      const V growth = square_root(after / select(before > V(0.0), before, V(1.0)));
      eigenvalue = larger(growth, V(1e-30));
      lanes_.for_each(m_, [&](int i) { work_m_[i] = work_p_[i] / eigenvalue; });
    }
    const V share = V(1.0 / 1.1) / eigenvalue;
    lanes_.for_each(m_, [&](int i) { step_[i] = share * step_[i]; });
  }

  CAROM_HOST_DEVICE void check(QpOutcome<V>& outcome, const QpFirstOrderOptions& options,
                               V tolerance) {
    const V going = select(outcome.end > V(0.0), V(0.0), V(1.0));
    minimise(y_, trial_);
    const QpMerit<V> merit = qp_merit<V>(rows_, trial_, y_, work_n_, work_m_, work_p_);
    const V aim = V(kShare) * tolerance;
    V done = select(merit.worst() <= aim, V(1.0), V(0.0));
    lanes_.for_each(n_, [&](int j) { x_[j] = select(going > V(0.0), trial_[j], x_[j]); });
    if (options.polish) {
      lanes_.for_each(m_, [&](int i) { next_[i] = y_[i]; });
      const V near = going * select(merit.worst() <= V(kPolishFrom), V(1.0), V(0.0));
      if (!all_of(near <= V(0.0))) {
        const QpMerit<V> polished = polish_.run(trial_, next_);
        const V good = near * select(polished.worst() <= aim, V(1.0), V(0.0));
        lanes_.for_each(n_, [&](int j) { x_[j] = select(good > V(0.0), trial_[j], x_[j]); });
        lanes_.for_each(m_, [&](int i) { y_[i] = select(good > V(0.0), next_[i], y_[i]); });
        done = larger(done, good);
      }
    }
    outcome.end = select(going > V(0.0), select(done > V(0.0), V(qp_end::kConverged), outcome.end),
                         outcome.end);
    const V broken = select(merit.worst() < V(kInfinity), V(0.0), V(1.0));
    outcome.end = select(outcome.end > V(0.0), outcome.end,
                         select(broken > V(0.0), V(qp_end::kBroken), outcome.end));
  }

  CAROM_HOST_DEVICE void finish() {
    lanes_.for_each(n_,
                    [&](int j) { x_[j] = x_[j] * scale_.length * rows_.scaled.column_scale[j]; });
    lanes_.for_each(m_, [&](int i) { y_[i] = y_[i] * rows_.scaled.row_scale[i] / scale_.cost; });
  }

  const Lanes& lanes_;
  int n_;
  int m_;
  QpRows<V, Lanes, Memory> rows_;
  QpPolish<V, Lanes, Memory> polish_;
  QpScale<V> scale_{};
  Memory factor_, inverse_;
  Memory x_, trial_, work_n_;                         // [n]
  Memory y_, ahead_, next_, step_, work_m_, work_p_;  // [rows]
};

}  // namespace carom::kernels
