#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels::motion {

/// Steps of Dormand and Prince's pair 5(4) with Shampine's dense output of order 4 (Hairer,
/// Norsett and Wanner, "Solving Ordinary Differential Equations I", II.5 and II.6).
template <int kMost>
class DormandPrince {
 public:
  /// y: state at the start of a step; slope: its derivative there. f(time, y, dy) -> bool. `end`
  /// receives the state after h, end_slope() its derivative. False where f is.
  template <class F>
  CAROM_HOST_DEVICE bool step(int n, double time, double h, const double* y, const double* slope,
                              F&& f, double* end) {
    double at[kMost] = {};
    for (int i = 0; i < n; ++i) k_[0][i] = slope[i];
    const auto stage = [&](int which, double c, double a0, double a1, double a2, double a3,
                           double a4, double* to) {
      for (int i = 0; i < n; ++i) {
        double sum = a0 * k_[0][i];
        sum = fused(a1, k_[1][i], sum);
        sum = fused(a2, k_[2][i], sum);
        sum = fused(a3, k_[3][i], sum);
        sum = fused(a4, k_[4][i], sum);
        to[i] = fused(h, sum, y[i]);
      }
      return f(fused(c, h, time), to, k_[which]);
    };
    for (int s = 1; s < 7; ++s) {
      for (int i = 0; i < n; ++i) k_[s][i] = 0.0;
    }
    if (!stage(1, 0.2, 0.2, 0, 0, 0, 0, at)) return false;
    if (!stage(2, 0.3, 3.0 / 40, 9.0 / 40, 0, 0, 0, at)) return false;
    if (!stage(3, 0.8, 44.0 / 45, -56.0 / 15, 32.0 / 9, 0, 0, at)) return false;
    if (!stage(4, 8.0 / 9, 19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0, at)) {
      return false;
    }
    if (!stage(5, 1.0, 9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656,
               at)) {
      return false;
    }
    for (int i = 0; i < n; ++i) {
      double sum = (35.0 / 384) * k_[0][i];
      sum = fused(500.0 / 1113, k_[2][i], sum);
      sum = fused(125.0 / 192, k_[3][i], sum);
      sum = fused(-2187.0 / 6784, k_[4][i], sum);
      sum = fused(11.0 / 84, k_[5][i], sum);
      end[i] = fused(h, sum, y[i]);
    }
    return f(time + h, end, k_[6]);
  }

  [[nodiscard]] CAROM_INLINE const double* end_slope() const { return k_[6]; }

  /// Error of the step in units of tolerance (1 + |y|): at most 1 where it may be accepted.
  CAROM_HOST_DEVICE double error(int n, double h, const double* y, const double* end,
                                 double tolerance) const {
    double worst = 0.0;
    for (int i = 0; i < n; ++i) {
      double sum = (71.0 / 57600) * k_[0][i];
      sum = fused(-71.0 / 16695, k_[2][i], sum);
      sum = fused(71.0 / 1920, k_[3][i], sum);
      sum = fused(-17253.0 / 339200, k_[4][i], sum);
      sum = fused(22.0 / 525, k_[5][i], sum);
      sum = fused(-1.0 / 40, k_[6][i], sum);
      const double size = larger(magnitude(y[i]), magnitude(end[i]));
      const double ratio = magnitude(h * sum) / (tolerance * (1.0 + size));
      if (!(ratio <= worst)) worst = ratio;  // NaN is kept
    }
    return worst;
  }

  /// State at fraction `at` of the step from y to end.
  CAROM_HOST_DEVICE void dense(int n, double h, const double* y, const double* end, double at,
                               double* out) const {
    const double left = 1.0 - at;
    for (int i = 0; i < n; ++i) {
      const double change = end[i] - y[i];
      const double bulge = h * k_[0][i] - change;
      const double skew = change - h * k_[6][i] - bulge;
      double sum = (-12715105075.0 / 11282082432.0) * k_[0][i];
      sum = fused(87487479700.0 / 32700410799.0, k_[2][i], sum);
      sum = fused(-10690763975.0 / 1880347072.0, k_[3][i], sum);
      sum = fused(701980252875.0 / 199316789632.0, k_[4][i], sum);
      sum = fused(-1453857185.0 / 822651844.0, k_[5][i], sum);
      sum = fused(69997945.0 / 29380423.0, k_[6][i], sum);
      double value = fused(left, h * sum, skew);
      value = fused(at, value, bulge);
      value = fused(left, value, change);
      out[i] = fused(at, value, y[i]);
    }
  }

 private:
  double k_[7][kMost];
};

/// Length of the next step after one with `error`.
CAROM_INLINE double next_length(double h, double error) {
  // error^(-1/5) without pow, whose bits differ between backends: the fifth root by Newton.
  if (!(error > 1e-6)) return 5.0 * h;
  if (!(error < 1e6)) return 0.1 * h;
  double root = 1.0;
  for (int i = 0; i < 40; ++i) {
    const double fourth = (root * root) * (root * root);
    root -= (root - error / fourth) * 0.2;
  }
  const double factor = 0.9 / root;
  return h * larger(0.1, smaller(5.0, factor));
}

}  // namespace carom::kernels::motion
