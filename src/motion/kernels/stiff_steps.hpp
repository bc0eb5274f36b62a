#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels::motion {

/// Steps of the method Radau IIA of order 5 with its error estimate of order 3 (Hairer and Wanner,
/// "Solving Ordinary Differential Equations II", IV.8), of n numbers of which `count`, from number
/// `first` on, are stiff: the others are iterated along. Newton's matrix is that of the start.
/// Build: as of SmallSystem.
template <int kMost, int kMostStiff, class Build>
class RadauSteps {
 public:
  CAROM_INLINE RadauSteps(int n, int first, int count) : n_(n), first_(first), count_(count) {}

  /// Derivatives of f(time, y, dy) in the stiff numbers at y, where f is `slope`, by differences of
  /// size `apart`. False where f is.
  template <class F>
  CAROM_CALL bool prepare(double time, const double* y, const double* slope, double apart, F&& f) {
    double at[kMost];
    double there[kMost];
    for (int i = 0; i < n_; ++i) at[i] = y[i];
    for (int c = 0; c < count_; ++c) {
      at[first_ + c] = y[first_ + c] + apart;
      const double exact = at[first_ + c] - y[first_ + c];
      if (!f(time, at, there)) return false;
      for (int r = 0; r < count_; ++r) {
        jacobian_[r][c] = (there[first_ + r] - slope[first_ + r]) / exact;
      }
      at[first_ + c] = y[first_ + c];
    }
    return true;
  }

  /// After prepare: the state after h. False where f is, or where Newton's method does not settle.
  template <class F>
  CAROM_CALL bool step(double time, double h, const double* y, const double* slope, F&& f,
                       double* end) {
    if (!factorise(h)) return false;
    for (int s = 0; s < kStages; ++s) {
      for (int i = 0; i < n_; ++i) change_[s][i] = node(s) * h * slope[i];
    }
    double last = kInfinity;
    for (int round = 0; round < kRounds; ++round) {
      for (int s = 0; s < kStages; ++s) {
        double at[kMost];
        for (int i = 0; i < n_; ++i) at[i] = y[i] + change_[s][i];
        if (!f(fused(node(s), h, time), at, slope_[s])) return false;
      }
      double moved = 0.0;
      double rest[kUnknowns];
      for (int s = 0; s < kStages; ++s) {
        for (int i = 0; i < n_; ++i) {
          double sum = 0.0;
          for (int k = 0; k < kStages; ++k) sum = fused(weight(s, k), slope_[k][i], sum);
          const double off = fused(h, sum, -change_[s][i]);
          if (i >= first_ && i < first_ + count_) {
            rest[s * count_ + i - first_] = off;
          } else {
            change_[s][i] += off;
            moved = larger(moved, magnitude(off) / (1.0 + magnitude(y[i])));
          }
        }
      }
      solve(kStages * count_, rest);
      for (int s = 0; s < kStages; ++s) {
        for (int i = 0; i < count_; ++i) {
          const double by = rest[s * count_ + i];
          change_[s][first_ + i] += by;
          moved = larger(moved, magnitude(by) / (1.0 + magnitude(y[first_ + i])));
        }
      }
      if (!is_finite(moved)) return false;
      const bool rounding = round > 2 && moved > 0.5 * last && moved <= kRounding;
      if (moved <= kSettled || rounding) {
        for (int i = 0; i < n_; ++i) end[i] = y[i] + change_[kStages - 1][i];
        return true;
      }
      if (round > 3 && moved > 2.0 * last) return false;
      last = moved;
    }
    return false;
  }

  /// Error of the last step in units of tolerance (1 + |y|), of stiff numbers of at most `least`:
  /// at most 1 where it may be accepted. Newton's matrix is spent.
  CAROM_CALL double error(double h, const double* y, const double* slope, double tolerance,
                          double least) {
    double off[kMost];
    double stiff[kUnknowns];
    for (int i = 0; i < n_; ++i) {
      off[i] = slope[i];
      for (int s = 0; s < kStages; ++s) off[i] = fused(estimate(s) / h, change_[s][i], off[i]);
      if (i >= first_ && i < first_ + count_) stiff[i - first_] = off[i];
    }
    const double own = kRealPole / h;
    for (int r = 0; r < count_; ++r) {
      for (int c = 0; c < count_; ++c) matrix_[r][c] = (r == c ? own : 0.0) - jacobian_[r][c];
    }
    if (!eliminate(count_)) return kInfinity;
    solve(count_, stiff);
    double worst = 0.0;
    for (int i = 0; i < n_; ++i) {
      const bool inside = i >= first_ && i < first_ + count_;
      double scale = kShare * tolerance * (1.0 + magnitude(y[i]));
      if (inside) scale = smaller(scale, least);
      const double share = magnitude(inside ? stiff[i - first_] : off[i] / own) / scale;
      if (!(share <= worst)) worst = share;  // NaN is kept
    }
    return worst;
  }

 private:
  static constexpr int kStages = 3;
  static constexpr int kUnknowns = kStages * kMostStiff;
  static constexpr int kRounds = 16;
  static constexpr double kSettled = 1e-15;
  static constexpr double kRounding = 1e-12;
  static constexpr double kShare = 10.0;  ///< the estimate is two orders below the step's
  static constexpr double kRealPole = 3.6378342527444957;  ///< of the inverse of the weights

  CAROM_INLINE static double node(int s) {
    const double nodes[kStages] = {0.15505102572168219, 0.6449489742783178, 1.0};
    return nodes[s];
  }
  CAROM_INLINE static double weight(int s, int k) {
    const double weights[kStages][kStages] = {
        {0.19681547722366044, -0.06553542585019839, 0.02377097434822015},
        {0.3944243147390873, 0.2920734116652285, -0.04154875212599793},
        {0.37640306270046725, 0.5124858261884216, 0.1111111111111111}};
    return weights[s][k];
  }
  CAROM_INLINE static double estimate(int s) {
    const double shares[kStages] = {-10.048809399827416, 1.3821427331607488, -0.3333333333333333};
    return shares[s];
  }

  CAROM_INLINE bool factorise(double h) {
    for (int s = 0; s < kStages; ++s) {
      for (int k = 0; k < kStages; ++k) {
        for (int r = 0; r < count_; ++r) {
          for (int c = 0; c < count_; ++c) {
            matrix_[s * count_ + r][k * count_ + c] =
                (s == k && r == c ? 1.0 : 0.0) - h * weight(s, k) * jacobian_[r][c];
          }
        }
      }
    }
    return eliminate(kStages * count_);
  }

  CAROM_CALL bool eliminate(int n) {
    for (int k = 0; k < n; ++k) {
      int row = k;
      for (int i = k + 1; i < n; ++i) {
        if (magnitude(matrix_[i][k]) > magnitude(matrix_[row][k])) row = i;
      }
      row_[k] = row;
      const double pivot = matrix_[row][k];
      if (!(magnitude(pivot) > 0.0) || !is_finite(pivot)) return false;
      for (int j = 0; j < n && row != k; ++j) {
        const double held = matrix_[k][j];
        matrix_[k][j] = matrix_[row][j];
        matrix_[row][j] = held;
      }
      for (int i = k + 1; i < n; ++i) {
        matrix_[i][k] /= pivot;
        for (int j = k + 1; j < n; ++j) {
          matrix_[i][j] = fused(-matrix_[i][k], matrix_[k][j], matrix_[i][j]);
        }
      }
    }
    return true;
  }
  CAROM_CALL void solve(int n, double* x) const {
    for (int k = 0; k < n; ++k) {
      const double held = x[k];
      x[k] = x[row_[k]];
      x[row_[k]] = held;
    }
    for (int i = 0; i < n; ++i) {
      for (int c = 0; c < i; ++c) x[i] = fused(-matrix_[i][c], x[c], x[i]);
    }
    for (int i = n - 1; i >= 0; --i) {
      for (int c = i + 1; c < n; ++c) x[i] = fused(-matrix_[i][c], x[c], x[i]);
      x[i] /= matrix_[i][i];
    }
  }

  int n_, first_, count_;
  double jacobian_[kMostStiff][kMostStiff];
  double matrix_[kUnknowns][kUnknowns];
  int row_[kUnknowns];
  double change_[kStages][kMost];
  double slope_[kStages][kMost];
};

/// Length of the next step after one with `error`.
CAROM_INLINE double next_stiff_length(double h, double error) {
  const double root = square_root(square_root(error));
  return h * larger(0.2, smaller(4.0, 0.9 / larger(root, 1e-3)));
}

}  // namespace carom::kernels::motion
