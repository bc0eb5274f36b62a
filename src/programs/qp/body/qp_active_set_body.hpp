#pragma once

#include "programs/qp/body/qp_polish_body.hpp"

/// Dual active set for convex quadratic programs with interval rows: the multipliers stay dual
/// feasible while violated rows enter one at a time (Goldfarb and Idnani 1983), kept as L D L' of
/// A_W H^-1 A_W'. A Hessian that is only semidefinite is made definite by proximal steps
/// eps/2 |x - x_k|^2, which end exactly where the problem is linear (Rockafellar 1976).
namespace carom::kernels {

CAROM_INLINE constexpr long qp_active_set_workspace(long n, long rows) {
  return 3 * n * n + 2 * rows * n + 12 * n + 7 * rows + 8 + qp_polish_workspace(n, rows);
}

struct QpExactOutcome {
  double end;  ///< qp_end
  int iterations;
};

template <class Lanes, class Memory>
class QpActiveSet {
 public:
  CAROM_HOST_DEVICE QpActiveSet(const Lanes& lanes, const QpShape& shape, Memory memory)
      : lanes_(lanes),
        shape_(shape),
        n_(shape.variables),
        rows_(shape.rows),
        products_{lanes, shape, {}},
        polish_(products_, memory) {
    long used = qp_polish_workspace(n_, rows_);
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    const long n = n_;
    const long m = rows_;
    scaled_ = {take(n * n), take(n), take(m * n), take(n), take(m), take(m), take(m)};
    products_.scaled = scaled_;
    factor_ = take(n * n);
    inverse_ = take(n);
    through_ = take(m * n);
    free_ = take(n);
    x_ = take(n);
    centre_ = take(n);
    move_ = take(n);
    y_ = take(m);
    state_ = take(m);
    known_ = take(m);
    triangle_ = take(n * (n + 1));
    pivot_ = take(n + 1);
    active_ = take(n + 1);
    column_ = take(n + 1);
    target_ = take(n + 1);
  }

  CAROM_INLINE double solution(int j) const { return x_[j]; }
  CAROM_INLINE double dual(int i) const { return y_[i]; }

  /// x: [n], y: [rows], where to start; the rows with a multiplier are taken as active.
  template <class Data, class Start>
  CAROM_HOST_DEVICE QpExactOutcome solve(const QpView<Data>& view, int max_iterations,
                                         const Start& x, const Start& y) {
    scale_ = scale_problem<double>(lanes_, shape_, view, scaled_);
    lanes_.for_each(n_, [&](int j) {
      centre_[j] = x[j] / (scale_.length * scaled_.column_scale[j]);
      x_[j] = centre_[j];
    });
    lanes_.for_each(rows_, [&](int i) {
      y_[i] = 0.0;
      state_[i] = kInactive;
      known_[i] = 0.0;
    });
    prepare();
    count_ = 0;
    iterations_ = 0;
    limit_ = max_iterations;
    for (int i = 0; i < rows_; ++i) {
      if (is_equation(i) || y[i] != 0.0) adopt(i, y[i] * scale_.cost / scaled_.row_scale[i]);
    }
    double end = qp_end::kRunning;
    for (int outer = 0; outer < kMaxOuter && end == qp_end::kRunning; ++outer) {
      lanes_.for_each(
          n_, [&](int j) { free_[j] = -fused(-proximity_, centre_[j], scaled_.gradient[j]); });
      solve_symmetric<double>(lanes_, n_, factor_, inverse_, free_);
      end = inner();
      if (end != qp_end::kConverged) break;
      if (proximity_ == 0.0) break;
      end = after_proximal_step();
    }
    if (end == qp_end::kRunning) end = qp_end::kStalled;
    // Takes out what the proximal term's conditioning left.
    if (end == qp_end::kConverged || end == qp_end::kStalled) polish_.run(x_, y_);
    lanes_.for_each(n_, [&](int j) { x_[j] *= scale_.length * scaled_.column_scale[j]; });
    lanes_.for_each(rows_, [&](int i) { y_[i] *= scaled_.row_scale[i] / scale_.cost; });
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

  CAROM_INLINE bool is_equation(int i) const { return scaled_.lower[i] == scaled_.upper[i]; }
  CAROM_INLINE double bound_of(double state, int i) const {
    return state == kLower ? scaled_.lower[i] : scaled_.upper[i];
  }
  CAROM_INLINE double& triangle(int i, int j) const {
    return triangle_[static_cast<long>(i) * n_ + j];
  }
  CAROM_INLINE int row_at(int k) const { return static_cast<int>(active_[k]); }

  template <class X>
  CAROM_INLINE double row_times(int i, const X& x) const {
    double sum = 0.0;
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      const int j = shape_.column[t];
      sum = fused(scaled_.matrix[static_cast<long>(i) * n_ + j], x[j], sum);
    }
    return sum;
  }

  /// H = P + eps I factorised.
  CAROM_HOST_DEVICE void prepare() {
    const long n = n_;
    proximity_ = 0.0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      lanes_.for_each(n_, [&](int j) {
        for (int i = j; i < n_; ++i) factor_[j * n + i] = scaled_.hessian[j * n + i];
        factor_[j * n + j] += proximity_;
      });
      const double least = factor_symmetric<double>(lanes_, n_, factor_, inverse_, 0.0);
      if (least > kDefinite) break;
      proximity_ = kProximity;
    }
  }

  /// H^-1 a_i, where it is not known from an earlier visit of row i.
  CAROM_HOST_DEVICE void reach(int i) {
    if (known_[i] > 0.0) return;
    const long n = n_;
    const Memory column = through_ + i * n;
    lanes_.for_each(n_, [&](int j) { column[j] = 0.0; });
    const int first = shape_.row_first[i];
    lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
      const int j = shape_.column[first + t];
      column[j] = scaled_.matrix[i * n + j];
    });
    solve_symmetric<double>(lanes_, n_, factor_, inverse_, column);
    lanes_.for_each(1, [&](int) { known_[i] = 1.0; });
  }

  /// A row that is taken as active from the start; one that depends on the others is left out.
  CAROM_HOST_DEVICE void adopt(int i, double multiplier) {
    const bool equation = is_equation(i);
    const double state = equation ? kFixed : (multiplier > 0.0 ? kUpper : kLower);
    if (!equation && !(magnitude(bound_of(state, i)) < kInfinity)) return;
    if (!append(i)) return;
    lanes_.for_each(1, [&](int) {
      state_[i] = state;
      y_[i] = multiplier;
    });
  }

  /// Adds row i to the factor of A_W H^-1 A_W'. False, with column_ = D^-1 L^-1 A_W H^-1 a_i and
  /// nothing changed, where the row depends on those that are active.
  CAROM_HOST_DEVICE bool append(int i) {
    reach(i);
    const Memory through = through_ + static_cast<long>(i) * n_;
    lanes_.for_each(count_, [&](int k) { column_[k] = row_times(row_at(k), through); });
    const double diagonal = row_times(i, through);
    substitute(column_);
    double pivot = diagonal;
    for (int k = 0; k < count_; ++k) {
      pivot = fused(-(column_[k] / pivot_[k]), column_[k], pivot);
    }
    lanes_.for_each(count_, [&](int k) { column_[k] /= pivot_[k]; });
    if (!(pivot > kSingular * diagonal) || count_ >= n_) return false;
    const int last = count_;
    lanes_.for_each(count_, [&](int k) { triangle(last, k) = column_[k]; });
    lanes_.for_each(1, [&](int) {
      pivot_[last] = pivot;
      active_[last] = static_cast<double>(i);
    });
    ++count_;
    return true;
  }

  /// Removes the active row at place r: what its column carried goes into the rows below as a
  /// rank-one change (Gill, Golub, Murray and Saunders 1974, method C1).
  CAROM_HOST_DEVICE void remove(int r) {
    const int row = row_at(r);
    double share = pivot_[r];
    lanes_.for_each(count_ - r - 1, [&](int t) { column_[t] = triangle(r + 1 + t, r); });
    lanes_.for_each(1, [&](int) {
      state_[row] = kInactive;
      y_[row] = 0.0;
      for (int i = r + 1; i < count_; ++i) {
        active_[i - 1] = active_[i];
        pivot_[i - 1] = pivot_[i];
      }
    });
    for (int i = r + 1; i < count_; ++i) {
      lanes_.for_each(i - 1, [&](int j) { triangle(i - 1, j) = triangle(i, j < r ? j : j + 1); });
    }
    --count_;
    for (int j = r; j < count_; ++j) {
      const double p = column_[j - r];
      const double old = pivot_[j];
      const double pivot = fused(share * p, p, old);
      const double factor = share * p / pivot;
      share = share * old / pivot;
      lanes_.for_each(count_ - j - 1, [&](int t) {
        const int i = j + 1 + t;
        column_[i - r] = fused(-p, triangle(i, j), column_[i - r]);
        triangle(i, j) = fused(factor, column_[i - r], triangle(i, j));
      });
      lanes_.for_each(1, [&](int) { pivot_[j] = pivot; });
    }
  }

  /// target_ = (A_W H^-1 A_W')^-1 (A_W free_ - bound), the multipliers that make W tight.
  CAROM_HOST_DEVICE void solve_active() {
    lanes_.for_each(count_, [&](int k) {
      const int i = row_at(k);
      target_[k] = row_times(i, free_) - bound_of(state_[i], i);
    });
    substitute(target_);
    lanes_.for_each(count_, [&](int k) { target_[k] /= pivot_[k]; });
    back_substitute(target_);
  }
  /// L v = v in place.
  CAROM_HOST_DEVICE void substitute(const Memory& v) {
    for (int k = 1; k < count_; ++k) {
      const Memory row = triangle_ + static_cast<long>(k) * n_;
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
  CAROM_HOST_DEVICE void back_substitute(const Memory& v) {
    for (int k = count_ - 1; k > 0; --k) {
      const Memory row = triangle_ + static_cast<long>(k) * n_;
      const double value = v[k];
      lanes_.for_each(k, [&](int j) { v[j] = fused(-row[j], value, v[j]); });
    }
  }

  /// Longest step along `change(k)` of the active multipliers that keeps their signs.
  template <class F>
  CAROM_HOST_DEVICE ArgMin<double> blocking(F&& change) const {
    ArgMin<double> first{kInfinity, -1};
    for (int k = 0; k < count_; ++k) {
      const int i = row_at(k);
      const double state = state_[i];
      if (state == kFixed) continue;
      const double step = change(k) * state;
      if (step >= 0.0) continue;
      const double room = at_least_zero(y_[i] * state) / -step;
      if (room < first.key) first = {room, k};
    }
    return first;
  }

  CAROM_HOST_DEVICE void take_primal() {
    lanes_.for_each(n_, [&](int j) { x_[j] = free_[j]; });
    for (int k = 0; k < count_; ++k) {
      const int i = row_at(k);
      const Memory through = through_ + static_cast<long>(i) * n_;
      const double force = y_[i];
      lanes_.for_each(n_, [&](int j) { x_[j] = fused(-through[j], force, x_[j]); });
    }
  }

  /// Rows enter until none is violated.
  CAROM_HOST_DEVICE double inner() {
    for (;; ++iterations_) {
      if (iterations_ >= limit_) return qp_end::kStalled;
      // The multipliers of the active rows, dropping those that would change their sign.
      solve_active();
      const ArgMin<double> block = blocking([&](int k) { return target_[k] - y_[row_at(k)]; });
      if (block.index >= 0 && block.key < 1.0) {
        lanes_.for_each(count_, [&](int k) {
          const int i = row_at(k);
          y_[i] = fused(block.key, target_[k] - y_[i], y_[i]);
        });
        remove(block.index);
        continue;
      }
      lanes_.for_each(count_, [&](int k) { y_[row_at(k)] = target_[k]; });
      take_primal();
      const int entering = most_violated();
      if (entering < 0) return qp_end::kConverged;
      const double end = enter(entering);
      if (end != qp_end::kRunning) return end;
    }
  }

  CAROM_INLINE double violation(int i) const {
    if (state_[i] != kInactive) return 0.0;
    const double value = row_times(i, x_);
    const double above = value - scaled_.upper[i];
    const double below = scaled_.lower[i] - value;
    const double worst = larger(above, below);
    const double bound = above > below ? scaled_.upper[i] : scaled_.lower[i];
    const double size = larger(larger(size_, magnitude(bound)), 1e-300);
    return worst > kFeasible * size ? worst / size : 0.0;
  }
  CAROM_HOST_DEVICE int most_violated() {
    size_ = 0.0;
    for (int j = 0; j < n_; ++j) size_ = larger(size_, magnitude(x_[j]));
    return lanes_
        .argmin(rows_, kInfinity,
                [&](int i) {
                  const double v = violation(i);
                  return v > 0.0 ? -v : kInfinity;
                })
        .index;
  }

  /// Adds a violated row. Where it depends on the active ones, multipliers move along the
  /// dependence until one of them vanishes and its row leaves; where none does, the dependence
  /// proves that no x meets the rows, and stays in y_.
  CAROM_HOST_DEVICE double enter(int i) {
    const double value = row_times(i, x_);
    const bool equation = is_equation(i);
    const double state = value - scaled_.upper[i] > scaled_.lower[i] - value ? kUpper : kLower;
    double multiplier = 0.0;
    while (!append(i)) {
      if (++iterations_ >= limit_) return qp_end::kStalled;
      back_substitute(column_);
      const ArgMin<double> block = blocking([&](int k) { return -state * column_[k]; });
      if (block.index < 0) {
        lanes_.for_each(rows_, [&](int r) { y_[r] = 0.0; });
        lanes_.for_each(count_, [&](int k) { y_[row_at(k)] = -state * column_[k]; });
        lanes_.for_each(1, [&](int) { y_[i] = state; });
        return qp_end::kInfeasible;
      }
      lanes_.for_each(count_, [&](int k) {
        const int r = row_at(k);
        y_[r] = fused(-state * block.key, column_[k], y_[r]);
      });
      multiplier += state * block.key;
      remove(block.index);
    }
    lanes_.for_each(1, [&](int) {
      state_[i] = equation ? kFixed : state;
      y_[i] = multiplier;
    });
    return qp_end::kRunning;
  }

  /// Moves the centre; a step that goes on for ever is a direction without end.
  CAROM_HOST_DEVICE double after_proximal_step() {
    const long n = n_;
    double step = 0.0;
    double size = 0.0;
    double slope = 0.0;
    double bent = 0.0;
    lanes_.for_each(n_, [&](int j) { move_[j] = x_[j] - centre_[j]; });
    for (int j = 0; j < n_; ++j) {
      step = larger(step, magnitude(move_[j]));
      size = larger(size, magnitude(x_[j]));
      slope = fused(scaled_.gradient[j], move_[j], slope);
    }
    double force = 1.0;
    for (int j = 0; j < n_; ++j) {
      double sum = 0.0;
      double along = 0.0;
      for (int i = 0; i < n_; ++i) {
        const double entry = i >= j ? scaled_.hessian[j * n + i] : scaled_.hessian[i * n + j];
        sum = fused(entry, move_[i], sum);
        along = fused(entry, x_[i], along);
      }
      bent = larger(bent, magnitude(sum));
      force = larger(force, magnitude(along));
    }
    lanes_.for_each(n_, [&](int j) { centre_[j] = x_[j]; });
    if (proximity_ * step <= 1e-14 * force || step <= 1e-13 * size) return qp_end::kConverged;
    if (slope < 0.0 && bent <= kRayTolerance * -slope) {
      double ends = 0.0;
      for (int i = 0; i < rows_; ++i) {
        const double along = row_times(i, move_);
        if (scaled_.upper[i] < kInfinity) ends = larger(ends, along);
        if (scaled_.lower[i] > -kInfinity) ends = larger(ends, -along);
      }
      if (ends <= kRayTolerance * -slope) {
        lanes_.for_each(n_, [&](int j) { x_[j] = move_[j]; });
        return qp_end::kUnbounded;
      }
    }
    return qp_end::kRunning;
  }

  const Lanes& lanes_;
  const QpShape& shape_;
  int n_;
  int rows_;
  QpRows<double, Lanes, Memory> products_;
  QpPolish<double, Lanes, Memory> polish_;
  ScaledQp<Memory> scaled_;
  QpScale<double> scale_{};
  Memory factor_, inverse_;          // H = L D L'
  Memory through_;                   // [rows, n], H^-1 a_i of the rows that were met
  Memory free_, x_, centre_, move_;  // [n]; free_ minimises without rows
  Memory y_, state_, known_;         // [rows]; known_: through_ holds this row
  Memory triangle_, pivot_;          // A_W H^-1 A_W' = L D L'
  Memory active_, column_, target_;  // [n + 1]
  int count_ = 0;
  int iterations_ = 0;
  int limit_ = 0;
  double proximity_ = 0.0;
  double size_ = 0.0;
};

}  // namespace carom::kernels
