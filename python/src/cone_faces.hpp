#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

/// Checks, in long double, what is claimed of cone programs without interior. Errors of rows,
/// columns and cones are relative to the terms of their sums. No code is shared with the solvers.
namespace carom::python {

/// Rows 0.. of A between lower and upper, then those of C in second-order cones of these sizes.
struct ConeFaces {
  using Numbers = std::vector<double>;

  int n, rows;
  const double *hessian, *gradient;  ///< both halves of P, or the lower one
  const Numbers &matrix, &lower, &upper;
  struct Span {
    int first, size;
  };
  std::vector<Span> cones;

  /// (y, z) with A'y + C'z = 0 and support 0, z in the cones and not zero.
  [[nodiscard]] double face(const double* y) const {
    double worst = 0.0;
    Sum support;
    for (int j = 0; j < n; ++j) {
      Sum sum;
      for (int i = 0; i < rows; ++i) sum.add(a(i, j), y[i]);
      grow(worst, std::fabs(sum.value), sum.size);
    }
    each([&](int i) { earn(support, worst, i, y[i]); },
         [&](const Span& cone) {
           for (int i = cone.first; i < cone.first + cone.size; ++i) support.add(u(i), y[i]);
           grow(worst, outside(y + cone.first, cone.size), std::fabs(y[cone.first]));
         });
    grow(worst, std::fabs(support.value), support.size);
    const bool some = std::any_of(cones.begin(), cones.end(),
                                  [&](const Span& cone) { return y[cone.first] > 0.0; });
    return some ? worst : kInfinity;
  }

  /// P d = 0, q'd = 0, no row and no cone ends the way, C d is not zero.
  [[nodiscard]] double level(const double* d) const {
    double worst = 0.0;
    Sum slope;
    for (int j = 0; j < n; ++j) {
      const Sum sum = bent(j, d);
      grow(worst, std::fabs(sum.value), sum.size);
      slope.add(gradient[j], d[j]);
    }
    grow(worst, std::fabs(slope.value), slope.size);
    bool moves = false;
    each(
        [&](int i) {
          const Sum sum = row(i, d);
          if (std::isfinite(u(i))) grow(worst, sum.value, sum.size);
          if (std::isfinite(l(i))) grow(worst, -sum.value, sum.size);
        },
        [&](const Span& cone) {
          Numbers slack;
          const double size = slacks(cone, d, 0.0, slack);
          grow(worst, outside(slack.data(), cone.size), size);
          moves = moves || slack[0] > 1e-9 * size;
        });
    return moves ? worst : kInfinity;
  }

  /// Optimality of x with multipliers y of the part of the cones at right angles to the face.
  [[nodiscard]] double optimal(const double* x, const double* y, const double* on) const {
    double worst = face(on);
    for (int j = 0; j < n; ++j) {
      Sum sum = bent(j, x);
      sum.add(gradient[j], 1.0);
      for (int i = 0; i < rows; ++i) sum.add(a(i, j), y[i]);
      grow(worst, std::fabs(sum.value), sum.size);
    }
    each(
        [&](int i) {
          Sum support;  // for the sign
          earn(support, worst, i, y[i]);
          for (const double side : {1.0, -1.0}) {
            const double bound = side > 0.0 ? u(i) : l(i);
            if (!std::isfinite(bound)) continue;
            Sum sum = row(i, x);
            sum.add(bound, -1.0);
            grow(worst, side * static_cast<double>(sum.value), sum.size);
            if (side * y[i] > 0.0) grow(worst, std::fabs(sum.value), sum.size);
          }
        },
        [&](const Span& cone) {
          Numbers slack;
          const double size = slacks(cone, x, 1.0, slack);
          grow(worst, outside(slack.data(), cone.size), size);
          const double* z = y + cone.first;
          const double* f = on + cone.first;
          Sum product, along;
          double most = 0.0;
          for (int i = 0; i < cone.size; ++i) {
            product.add(slack[static_cast<std::size_t>(i)], z[i]);
            along.add(z[i], i == 0 ? f[i] : -f[i]);
            most = std::max(most, std::fabs(z[i]));
          }
          grow(worst, std::fabs(product.value), size * most);
          if (!(f[0] > 0.0)) {
            grow(worst, outside(z, cone.size), most);
          } else if (outside(f, cone.size) >= -1e-9 * f[0]) {  // a ray is left of the cone
            grow(worst, -along.value, along.size);
          }
        });
    return worst;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  struct Sum {
    long double value = 0.0L;
    double size = 0.0;
    void add(long double first, double second) {
      value += first * second;
      size += static_cast<double>(std::fabs(first * second));
    }
  };
  static void grow(double& worst, long double excess, double size) {
    if (excess <= 0.0L) return;
    const double share = static_cast<double>(excess) / size;
    worst = share <= worst ? worst : std::isnan(share) ? kInfinity : share;
  }
  /// |v| - t
  static long double outside(const double* v, int size) {
    long double sum = 0.0L;
    for (int i = 1; i < size; ++i) sum += static_cast<long double>(v[i]) * v[i];
    return std::sqrt(sum) - v[0];
  }
  [[nodiscard]] double a(int i, int j) const { return matrix[static_cast<std::size_t>(i * n + j)]; }
  [[nodiscard]] double l(int i) const { return lower[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double u(int i) const { return upper[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Sum row(int i, const double* x) const {
    Sum sum;
    for (int j = 0; j < n; ++j) sum.add(a(i, j), x[j]);
    return sum;
  }
  [[nodiscard]] Sum bent(int j, const double* x) const {
    Sum sum;
    for (int k = 0; k < n; ++k) sum.add(hessian[k <= j ? j * n + k : k * n + j], x[k]);
    return sum;
  }
  void earn(Sum& support, double& worst, int i, double y) const {
    if (y == 0.0) return;
    const double bound = y > 0.0 ? u(i) : l(i);
    if (std::isfinite(bound)) return support.add(bound, y);
    worst = kInfinity;
  }
  /// Slacks t b - C x; returns the size of their terms.
  double slacks(const Span& cone, const double* x, double t, Numbers& to) const {
    double size = 0.0;
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      Sum sum = row(i, x);
      sum.add(u(i), -t);
      to.push_back(-static_cast<double>(sum.value));
      size = std::max(size, sum.size);
    }
    return size;
  }
  template <class Interval, class InCone>
  void each(Interval&& interval, InCone&& in_cone) const {
    int i = 0;
    for (const Span& cone : cones) {
      for (; i < cone.first; ++i) interval(i);
      in_cone(cone);
      i += cone.size;
    }
    for (; i < rows; ++i) interval(i);
  }
};

}  // namespace carom::python
