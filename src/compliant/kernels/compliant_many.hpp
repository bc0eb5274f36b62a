#pragma once

#include "compliant/kernels/compliant.hpp"

/// Many frictionless unilateral rows on few velocities, such as an elastic foundation. The Delassus
/// matrix has at most the rank of v, so the same step is the minimum over v' of the convex
///   1/2 |v' - v_free|_M^2 + sum_i eta_i/2 max(0, -F_i)^2,  F_i = G_i v' + h dG_i v + ...,
/// whose Newton matrix M + G' eta G (on the touching rows) is what Woodbury's identity leaves of
/// I + eta G M^-1 G'. The cost is linear in the rows.
namespace carom::kernels {

CAROM_HOST_DEVICE constexpr long compliant_many_reals(long capacity, long velocities) {
  return velocities * velocities + 4 * velocities + 4 * capacity;
}

template <class Target>
class CompliantMany {
 public:
  CAROM_INLINE CompliantMany(int capacity, int velocities, double* reals)
      : n_(velocities),
        hessian_(reals),
        free_(hessian_ + static_cast<long>(velocities) * velocities),
        gradient_(free_ + velocities),
        trial_(gradient_ + velocities),
        step_(trial_ + velocities),
        offset_(step_ + velocities),
        stiffness_(offset_ + capacity),
        centripetal_(stiffness_ + capacity),
        flow_(centripetal_ + capacity) {}

  /// task: its mass the diagonal of M^-1; the choice of rows is not read.
  CAROM_CALL CompliantOutcome solve(const CompliantOptions& options, const StepTask& task) {
    const ConstraintRows& rows = task.rows;
    const double* inverse_mass = task.mass;
    double* next_v = task.next_v;
    const double h = task.step_size;
    for (int j = 0; j < n_; ++j) {
      free_[j] = fused(h * inverse_mass[j], task.force[j], task.v[j]);
      next_v[j] = task.v[j];
    }
    for (int i = 0; i < rows.count; ++i) {
      centripetal_[i] = 0.0;  // rows outnumber velocities: every group is redundant
      const double rate = fused(h, rows.stiffness[i], rows.damping[i]);
      stiffness_[i] = h * rate;
      offset_[i] = rate > 0.0
                       ? fused(h, rows.jacobian_dot_v[i], rows.stiffness[i] * rows.phi[i] / rate)
                       : 0.0;
    }
    int iteration = 0;
    bool settled = false;
    // A full step that changes no row between touching and not, but for rounding, is the exact
    // answer; one more takes off what rounding left.
    for (int spare = 1; iteration < options.max_iterations && (!settled || spare > 0);
         ++iteration) {
      if (settled) --spare;
      if (!newton_step(rows, inverse_mass, next_v)) return {Status::numerical_error, iteration};
      if (negligible(rows)) break;
      for (int j = 0; j < n_; ++j) trial_[j] = next_v[j] + step_[j];
      settled = changes_nothing(rows);
      if (!settled) {
        const double length = line_search(rows, inverse_mass, next_v);
        for (int j = 0; j < n_; ++j) trial_[j] = fused(length, step_[j], next_v[j]);
      }
      for (int j = 0; j < n_; ++j) next_v[j] = trial_[j];
    }
    for (int i = 0; i < rows.count; ++i) {
      task.impulse[i] = at_least_zero(-stiffness_[i] * flow(rows, i, next_v));
    }
    for (int j = 0; j < n_; ++j) trial_[j] = 0.0;
    for (int i = 0; i < rows.count; ++i) {
      if (task.impulse[i] == 0.0) continue;
      for (int j = rows.begin[i]; j < rows.end[i]; ++j) {
        trial_[j] = fused(rows.row(i)[j], task.impulse[i], trial_[j]);
      }
    }
    bool finite = true;
    for (int j = 0; j < n_; ++j) {
      next_v[j] = fused(inverse_mass[j], trial_[j], free_[j]);
      finite = finite && is_finite(next_v[j]);
    }
    return {finite ? Status::solved : Status::numerical_error, iteration};
  }

  [[nodiscard]] CAROM_INLINE const double* centripetal() const { return centripetal_; }

 private:
  CAROM_INLINE double flow(const ConstraintRows& rows, int i, const double* v) const {
    double sum = offset_[i];
    for (int j = rows.begin[i]; j < rows.end[i]; ++j) sum = fused(rows.row(i)[j], v[j], sum);
    return sum;
  }

  /// Whether no row goes between touching and not on the way to trial_, but for those whose F is
  /// rounding on both sides: elements that leave together would change for ever.
  CAROM_INLINE bool changes_nothing(const ConstraintRows& rows) const {
    constexpr double kRounding = 4e-15;
    for (int i = 0; i < rows.count; ++i) {
      const double before = flow_[i];
      const double after = flow(rows, i, trial_);
      if ((before < 0.0) == (after < 0.0)) continue;
      double terms = magnitude(offset_[i]);
      for (int j = rows.begin[i]; j < rows.end[i]; ++j) {
        terms += magnitude(rows.row(i)[j] * trial_[j]);
      }
      if (!(larger(magnitude(before), magnitude(after)) <= kRounding * terms)) return false;
    }
    return true;
  }

  /// Derivative along step_ of the convex function at v + length step_: it rises with the length.
  CAROM_INLINE double slope(const ConstraintRows& rows, const double* inverse_mass, const double* v,
                            double length) {
    double sum = 0.0;
    for (int j = 0; j < n_; ++j) {
      trial_[j] = fused(length, step_[j], v[j]);
      sum = fused((trial_[j] - free_[j]) / inverse_mass[j], step_[j], sum);
    }
    for (int i = 0; i < rows.count; ++i) {
      const double f = flow(rows, i, trial_);
      if (f < 0.0) sum = fused(stiffness_[i] * f, along(rows, i), sum);
    }
    return sum;
  }

  /// Whether the step changes no impulse by more than rounding does.
  CAROM_INLINE bool negligible(const ConstraintRows& rows) const {
    double size = 0.0;
    double change = 0.0;
    for (int i = 0; i < rows.count; ++i) {
      size = larger(size, stiffness_[i] * at_least_zero(-flow_[i]));
      change = larger(change, stiffness_[i] * magnitude(along(rows, i)));
    }
    return change > 0.0 && change <= 1e-15 * size;
  }

  CAROM_INLINE double along(const ConstraintRows& rows, int i) const {
    double sum = 0.0;
    for (int j = rows.begin[i]; j < rows.end[i]; ++j) sum = fused(rows.row(i)[j], step_[j], sum);
    return sum;
  }

  /// 1 where that does not overshoot, otherwise a length at which the slope has all but vanished.
  CAROM_INLINE double line_search(const ConstraintRows& rows, const double* inverse_mass,
                                  const double* v) {
    constexpr double kFlat = 0.1;
    const double start = slope(rows, inverse_mass, v, 0.0);
    if (!(start < 0.0)) return 1.0;
    double low = 0.0;
    double high = 1.0;
    double rising = slope(rows, inverse_mass, v, 1.0);  // at `high`
    if (rising <= -kFlat * start) return 1.0;
    double falling = start;  // at `low`
    double end = rising;
    double length = 1.0;
    for (int turn = 0; turn < 60 && magnitude(end) > -kFlat * start; ++turn) {
      // The slope is piecewise linear: secants, and halving lest they creep.
      const double share = turn % 2 == 0 ? falling / (falling - rising) : 0.5;
      length = fused(share, high - low, low);
      end = slope(rows, inverse_mass, v, length);
      if (end > 0.0) {
        high = length;
        rising = end;
      } else {
        low = length;
        falling = end;
      }
    }
    return length;
  }

  CAROM_INLINE bool newton_step(const ConstraintRows& rows, const double* inverse_mass,
                                const double* v) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j <= i; ++j) at(i, j) = i == j ? 1.0 / inverse_mass[i] : 0.0;
      gradient_[i] = (v[i] - free_[i]) / inverse_mass[i];
    }
    for (int r = 0; r < rows.count; ++r) {
      const double f = flow(rows, r, v);
      flow_[r] = f;
      if (!(f < 0.0)) continue;
      const double* g = rows.row(r);
      for (int i = rows.begin[r]; i < rows.end[r]; ++i) {
        const double weighted = stiffness_[r] * g[i];
        gradient_[i] = fused(weighted, f, gradient_[i]);
        for (int j = rows.begin[r]; j <= i; ++j) at(i, j) = fused(weighted, g[j], at(i, j));
      }
    }
    for (int k = 0; k < n_; ++k) {  // Cholesky, in place
      for (int j = 0; j <= k; ++j) {
        double sum = at(k, j);
        for (int l = 0; l < j; ++l) sum = fused(-at(k, l), at(j, l), sum);
        if (j < k) {
          at(k, j) = sum / at(j, j);
        } else if (sum > 0.0 && is_finite(sum)) {
          at(k, k) = square_root(sum);
        } else {
          return false;
        }
      }
    }
    for (int i = 0; i < n_; ++i) {
      double sum = -gradient_[i];
      for (int j = 0; j < i; ++j) sum = fused(-at(i, j), step_[j], sum);
      step_[i] = sum / at(i, i);
    }
    for (int i = n_ - 1; i >= 0; --i) {
      double sum = step_[i];
      for (int j = i + 1; j < n_; ++j) sum = fused(-at(j, i), step_[j], sum);
      step_[i] = sum / at(i, i);
    }
    return true;
  }

  CAROM_INLINE double& at(int i, int j) { return hessian_[static_cast<long>(i) * n_ + j]; }

  int n_;
  double* hessian_;
  double* free_;
  double* gradient_;
  double* trial_;
  double* step_;
  double* offset_;
  double* stiffness_;
  double* centripetal_;
  double* flow_;
};

}  // namespace carom::kernels
