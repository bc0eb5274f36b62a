#pragma once

#include "programs/qp/kernels/qp_iterate.hpp"

/// Dual active set for convex quadratic programs with interval rows: the multipliers stay dual
/// feasible while violated rows enter one at a time (Goldfarb and Idnani 1983), kept as L D L' of
/// A_W H^-1 A_W'. A Hessian that is only semidefinite is made definite by proximal steps
/// eps/2 |x - x_k|^2, which end exactly where the problem is linear (Rockafellar 1976).
namespace carom::kernels {

template <class Memory>
struct QpActiveSetLayout : QpIterateLayout<Memory> {
  Memory through;  ///< H^-1 a_i of the rows that were met
  Memory free;     ///< minimises without rows
  Memory centre;
  Memory move;
  Memory state;
  Memory known;     ///< `through` holds this row
  Memory triangle;  ///< A_W H^-1 A_W' = L D L'
  Memory pivot;
  Memory active;
  Memory column;
  Memory target;

  QpActiveSetLayout() = default;
  CAROM_INLINE constexpr QpActiveSetLayout(Arena<Memory>& arena, long n, long rows)
      : QpIterateLayout<Memory>(arena, n, rows),
        through(arena.take(rows * n)),
        free(arena.take(n)),
        centre(arena.take(n)),
        move(arena.take(n)),
        state(arena.take(rows)),
        known(arena.take(rows)),
        triangle(arena.take(n * (n + 1))),
        pivot(arena.take(n + 1)),
        active(arena.take(n + 1)),
        column(arena.take(n + 1)),
        target(arena.take(n + 1)) {}
};
CAROM_INLINE constexpr long qp_active_set_workspace(long n, long rows) {
  return values_of<QpActiveSetLayout>(n, rows);
}

struct QpExactOutcome {
  double end;  ///< qp_end
  int iterations;
};

template <class Lanes, class Memory>
class QpActiveSet : public QpIterate<double, Lanes, Memory, QpActiveSetLayout> {
  using Base = QpIterate<double, Lanes, Memory, QpActiveSetLayout>;
  using Base::lanes_, Base::n_, Base::m_, Base::at_, Base::rows_, Base::polish_, Base::scale_;
  using Base::scaled_x, Base::scaled_y;

 public:
  using Base::Base;

  /// Whether the Hessian of the problem that was solved last needed no proximal steps.
  [[nodiscard]] CAROM_INLINE bool is_strictly_convex() const { return proximity_ == 0.0; }

  /// x: [n], y: [rows], where to start; the rows with a multiplier are taken as active.
  template <class Data, class Start>
  CAROM_CALL QpExactOutcome solve(const QpView<Data>& view, int max_iterations, const Start& x,
                                  const Start& y) {
    scale_ = scale_problem<double>(lanes_, rows_.shape, view, at_.scaled);
    lanes_.for_each(n_, [&](int j) {
      at_.centre[j] = scaled_x(j, x[j]);
      at_.x[j] = at_.centre[j];
    });
    lanes_.for_each(m_, [&](int i) {
      at_.y[i] = 0.0;
      at_.state[i] = kInactive;
      at_.known[i] = 0.0;
    });
    prepare();
    count_ = 0;
    iterations_ = 0;
    limit_ = max_iterations;
    for (int i = 0; i < m_; ++i) {
      if (is_equation(i) || y[i] != 0.0) adopt(i, scaled_y(i, y[i]));
    }
    double end = qp_end::kRunning;
    for (int outer = 0; outer < kMaxOuter && end == qp_end::kRunning; ++outer) {
      lanes_.for_each(n_, [&](int j) {
        at_.free[j] = -fused(-proximity_, at_.centre[j], at_.scaled.gradient[j]);
      });
      solve_symmetric<double>(lanes_, n_, at_.factor, at_.inverse, at_.free);
      end = inner();
      if (end != qp_end::kConverged) break;
      if (proximity_ == 0.0) break;
      end = after_proximal_step();
    }
    if (end == qp_end::kRunning) end = qp_end::kStalled;
    // Takes out what the proximal term's conditioning left.
    if (end == qp_end::kConverged || end == qp_end::kStalled) polish_.run(at_.x, at_.y);
    lanes_.for_each(n_, [&](int j) { at_.x[j] *= scale_.length * at_.scaled.column_scale[j]; });
    lanes_.for_each(m_, [&](int i) { at_.y[i] *= at_.scaled.row_scale[i] / scale_.cost; });
    return {end, iterations_};
  }

 private:
  static constexpr double kInactive = 0.0;
  static constexpr double kUpper = 1.0;
  static constexpr double kLower = -1.0;
  static constexpr double kFixed = 2.0;
  static constexpr double kDefinite = 1e-7;  // smallest pivot of a Hessian with unit diagonal
  static constexpr double kProximity = 1e-6;
  static constexpr double kSingular = 1e-11;  // of a new pivot, relative to its diagonal
  static constexpr double kFeasible = 1e-12;
  static constexpr double kRayTolerance = 1e-10;
  static constexpr int kMaxOuter = 2000;

  CAROM_INLINE bool is_equation(int i) const { return at_.scaled.lower[i] == at_.scaled.upper[i]; }
  CAROM_INLINE double bound_of(double state, int i) const {
    return state == kLower ? at_.scaled.lower[i] : at_.scaled.upper[i];
  }
  CAROM_INLINE double& triangle(int i, int j) const {
    return at_.triangle[static_cast<long>(i) * n_ + j];
  }
  CAROM_INLINE int row_at(int k) const { return static_cast<int>(at_.active[k]); }

  template <class X>
  CAROM_INLINE double row_times(int i, const X& x) const {
    double sum = 0.0;
    for (int t = rows_.shape.row_first[i]; t < rows_.shape.row_first[i + 1]; ++t) {
      const int j = rows_.shape.column[t];
      sum = fused(at_.scaled.matrix[static_cast<long>(i) * n_ + j], x[j], sum);
    }
    return sum;
  }

  /// H = P + eps I factorised.
  CAROM_CALL void prepare() {
    const long n = n_;
    proximity_ = 0.0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      lanes_.for_each(n_, [&](int j) {
        for (int i = j; i < n_; ++i) at_.factor[j * n + i] = at_.scaled.hessian[j * n + i];
        at_.factor[j * n + j] += proximity_;
      });
      const double least = factor_symmetric<double>(lanes_, n_, at_.factor, at_.inverse, 0.0);
      if (least > kDefinite) break;
      proximity_ = kProximity;
    }
  }

  /// H^-1 a_i, where it is not known from an earlier visit of row i.
  CAROM_CALL void reach(int i) {
    if (at_.known[i] > 0.0) return;
    const long n = n_;
    const Memory column = at_.through + i * n;
    lanes_.for_each(n_, [&](int j) { column[j] = 0.0; });
    const int first = rows_.shape.row_first[i];
    lanes_.for_each(rows_.shape.row_first[i + 1] - first, [&](int t) {
      const int j = rows_.shape.column[first + t];
      column[j] = at_.scaled.matrix[i * n + j];
    });
    solve_symmetric<double>(lanes_, n_, at_.factor, at_.inverse, column);
    lanes_.for_each(1, [&](int) { at_.known[i] = 1.0; });
  }

  /// A row that is taken as active from the start; one that depends on the others is left out.
  CAROM_CALL void adopt(int i, double multiplier) {
    const bool equation = is_equation(i);
    const double state = equation ? kFixed : (multiplier > 0.0 ? kUpper : kLower);
    if (!equation && !(magnitude(bound_of(state, i)) < kInfinity)) return;
    if (!append(i)) return;
    lanes_.for_each(1, [&](int) {
      at_.state[i] = state;
      at_.y[i] = multiplier;
    });
  }

  /// Adds row i to the factor of A_W H^-1 A_W'. False, with column = D^-1 L^-1 A_W H^-1 a_i and
  /// nothing changed, where the row depends on those that are active.
  CAROM_CALL bool append(int i) {
    reach(i);
    const Memory through = at_.through + static_cast<long>(i) * n_;
    lanes_.for_each(count_, [&](int k) { at_.column[k] = row_times(row_at(k), through); });
    const double diagonal = row_times(i, through);
    substitute(at_.column);
    double pivot = diagonal;
    for (int k = 0; k < count_; ++k) {
      pivot = fused(-(at_.column[k] / at_.pivot[k]), at_.column[k], pivot);
    }
    lanes_.for_each(count_, [&](int k) { at_.column[k] /= at_.pivot[k]; });
    if (!(pivot > kSingular * diagonal) || count_ >= n_) return false;
    const int last = count_;
    lanes_.for_each(count_, [&](int k) { triangle(last, k) = at_.column[k]; });
    lanes_.for_each(1, [&](int) {
      at_.pivot[last] = pivot;
      at_.active[last] = static_cast<double>(i);
    });
    ++count_;
    return true;
  }

  /// Removes the active row at place r: what its column carried goes into the rows below as a
  /// rank-one change (Gill, Golub, Murray and Saunders 1974, method C1).
  CAROM_CALL void remove(int r) {
    const int row = row_at(r);
    double share = at_.pivot[r];
    lanes_.for_each(count_ - r - 1, [&](int t) { at_.column[t] = triangle(r + 1 + t, r); });
    lanes_.for_each(1, [&](int) {
      at_.state[row] = kInactive;
      at_.y[row] = 0.0;
      for (int i = r + 1; i < count_; ++i) {
        at_.active[i - 1] = at_.active[i];
        at_.pivot[i - 1] = at_.pivot[i];
      }
    });
    for (int i = r + 1; i < count_; ++i) {
      lanes_.for_each(i - 1, [&](int j) { triangle(i - 1, j) = triangle(i, j < r ? j : j + 1); });
    }
    --count_;
    for (int j = r; j < count_; ++j) {
      const double p = at_.column[j - r];
      const double old = at_.pivot[j];
      const double pivot = fused(share * p, p, old);
      const double factor = share * p / pivot;
      share = share * old / pivot;
      lanes_.for_each(count_ - j - 1, [&](int t) {
        const int i = j + 1 + t;
        at_.column[i - r] = fused(-p, triangle(i, j), at_.column[i - r]);
        triangle(i, j) = fused(factor, at_.column[i - r], triangle(i, j));
      });
      lanes_.for_each(1, [&](int) { at_.pivot[j] = pivot; });
    }
  }

  /// target = (A_W H^-1 A_W')^-1 (A_W free - bound), the multipliers that make W tight.
  CAROM_CALL void solve_active() {
    lanes_.for_each(count_, [&](int k) {
      const int i = row_at(k);
      at_.target[k] = row_times(i, at_.free) - bound_of(at_.state[i], i);
    });
    substitute(at_.target);
    lanes_.for_each(count_, [&](int k) { at_.target[k] /= at_.pivot[k]; });
    back_substitute(at_.target);
  }
  /// L v = v in place.
  CAROM_CALL void substitute(const Memory& v) {
    for (int k = 1; k < count_; ++k) {
      const Memory row = at_.triangle + static_cast<long>(k) * n_;
      double sum[4] = {0.0, 0.0, 0.0, 0.0};  // products that do not wait for one another
      const int fours = k / 4 * 4;
      for (int j = 0; j < fours; j += 4) {
        for (int t = 0; t < 4; ++t) sum[t] = fused(row[j + t], v[j + t], sum[t]);
      }
      for (int j = fours; j < k; ++j) sum[0] = fused(row[j], v[j], sum[0]);
      const double value = v[k] - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
      lanes_.for_each(1, [&](int) { v[k] = value; });
    }
  }
  /// L' v = v in place.
  CAROM_CALL void back_substitute(const Memory& v) {
    for (int k = count_ - 1; k > 0; --k) {
      const Memory row = at_.triangle + static_cast<long>(k) * n_;
      const double value = v[k];
      lanes_.for_each(k, [&](int j) { v[j] = fused(-row[j], value, v[j]); });
    }
  }

  /// Longest step along `change(k)` of the active multipliers that keeps their signs.
  template <class F>
  CAROM_CALL ArgMin<double> blocking(F&& change) const {
    ArgMin<double> first{kInfinity, -1};
    for (int k = 0; k < count_; ++k) {
      const int i = row_at(k);
      const double state = at_.state[i];
      if (state == kFixed) continue;
      const double step = change(k) * state;
      if (step >= 0.0) continue;
      const double room = at_least_zero(at_.y[i] * state) / -step;
      if (room < first.key) first = {room, k};
    }
    return first;
  }

  CAROM_CALL void take_primal() {
    lanes_.for_each(n_, [&](int j) { at_.x[j] = at_.free[j]; });
    for (int k = 0; k < count_; ++k) {
      const int i = row_at(k);
      const Memory through = at_.through + static_cast<long>(i) * n_;
      const double force = at_.y[i];
      lanes_.for_each(n_, [&](int j) { at_.x[j] = fused(-through[j], force, at_.x[j]); });
    }
  }

  /// Rows enter until none is violated.
  CAROM_CALL double inner() {
    for (;; ++iterations_) {
      if (iterations_ >= limit_) return qp_end::kStalled;
      // The multipliers of the active rows, dropping those that would change their sign.
      solve_active();
      const ArgMin<double> block =
          blocking([&](int k) { return at_.target[k] - at_.y[row_at(k)]; });
      if (block.index >= 0 && block.key < 1.0) {
        lanes_.for_each(count_, [&](int k) {
          const int i = row_at(k);
          at_.y[i] = fused(block.key, at_.target[k] - at_.y[i], at_.y[i]);
        });
        remove(block.index);
        continue;
      }
      lanes_.for_each(count_, [&](int k) { at_.y[row_at(k)] = at_.target[k]; });
      take_primal();
      const int entering = most_violated();
      if (entering < 0) return qp_end::kConverged;
      const double end = enter(entering);
      if (end != qp_end::kRunning) return end;
    }
  }

  CAROM_INLINE double violation(int i) const {
    if (at_.state[i] != kInactive) return 0.0;
    const double value = row_times(i, at_.x);
    const double above = value - at_.scaled.upper[i];
    const double below = at_.scaled.lower[i] - value;
    const double worst = larger(above, below);
    const double bound = above > below ? at_.scaled.upper[i] : at_.scaled.lower[i];
    const double size = larger(larger(size_, magnitude(bound)), 1e-300);
    return worst > kFeasible * size ? worst / size : 0.0;
  }
  CAROM_CALL int most_violated() {
    size_ = 0.0;
    for (int j = 0; j < n_; ++j) size_ = larger(size_, magnitude(at_.x[j]));
    return lanes_
        .argmin(m_, kInfinity,
                [&](int i) {
                  const double v = violation(i);
                  return v > 0.0 ? -v : kInfinity;
                })
        .index;
  }

  /// Adds a violated row. Where it depends on the active ones, multipliers move along the
  /// dependence until one of them vanishes and its row leaves; where none does, the dependence
  /// proves that no x meets the rows, and stays in y.
  CAROM_CALL double enter(int i) {
    const double value = row_times(i, at_.x);
    const bool equation = is_equation(i);
    const double state =
        value - at_.scaled.upper[i] > at_.scaled.lower[i] - value ? kUpper : kLower;
    double multiplier = 0.0;
    while (!append(i)) {
      if (++iterations_ >= limit_) return qp_end::kStalled;
      back_substitute(at_.column);
      const ArgMin<double> block = blocking([&](int k) { return -state * at_.column[k]; });
      if (block.index < 0) {
        lanes_.for_each(m_, [&](int r) { at_.y[r] = 0.0; });
        lanes_.for_each(count_, [&](int k) { at_.y[row_at(k)] = -state * at_.column[k]; });
        lanes_.for_each(1, [&](int) { at_.y[i] = state; });
        return qp_end::kInfeasible;
      }
      lanes_.for_each(count_, [&](int k) {
        const int r = row_at(k);
        at_.y[r] = fused(-state * block.key, at_.column[k], at_.y[r]);
      });
      multiplier += state * block.key;
      remove(block.index);
    }
    lanes_.for_each(1, [&](int) {
      at_.state[i] = equation ? kFixed : state;
      at_.y[i] = multiplier;
    });
    return qp_end::kRunning;
  }

  /// Moves the centre; a step that goes on for ever is a direction without end.
  CAROM_CALL double after_proximal_step() {
    const long n = n_;
    double step = 0.0;
    double size = 0.0;
    double slope = 0.0;
    double bent = 0.0;
    lanes_.for_each(n_, [&](int j) { at_.move[j] = at_.x[j] - at_.centre[j]; });
    for (int j = 0; j < n_; ++j) {
      step = larger(step, magnitude(at_.move[j]));
      size = larger(size, magnitude(at_.x[j]));
      slope = fused(at_.scaled.gradient[j], at_.move[j], slope);
    }
    double force = 1.0;
    for (int j = 0; j < n_; ++j) {
      double sum = 0.0;
      double along = 0.0;
      for (int i = 0; i < n_; ++i) {
        const double entry = i >= j ? at_.scaled.hessian[j * n + i] : at_.scaled.hessian[i * n + j];
        sum = fused(entry, at_.move[i], sum);
        along = fused(entry, at_.x[i], along);
      }
      bent = larger(bent, magnitude(sum));
      force = larger(force, magnitude(along));
    }
    lanes_.for_each(n_, [&](int j) { at_.centre[j] = at_.x[j]; });
    if (proximity_ * step <= 1e-14 * force || step <= 1e-13 * size) return qp_end::kConverged;
    if (slope < 0.0 && bent <= kRayTolerance * -slope) {
      double ends = 0.0;
      for (int i = 0; i < m_; ++i) {
        const double along = row_times(i, at_.move);
        if (at_.scaled.upper[i] < kInfinity) ends = larger(ends, along);
        if (at_.scaled.lower[i] > -kInfinity) ends = larger(ends, -along);
      }
      if (ends <= kRayTolerance * -slope) {
        lanes_.for_each(n_, [&](int j) { at_.x[j] = at_.move[j]; });
        return qp_end::kUnbounded;
      }
    }
    return qp_end::kRunning;
  }

  int count_ = 0;
  int iterations_ = 0;
  int limit_ = 0;
  double proximity_ = 0.0;
  double size_ = 0.0;
};

}  // namespace carom::kernels
