#pragma once

#include "programs/kernels/doubled.hpp"
#include "programs/qp/kernels/qp_homogeneous_problem.hpp"

/// Judgement of the homogeneous method's answers as doubles, from the data of the problem: every
/// row, column and cone against the sizes of its own terms (Oettli and Prager 1964), so that no
/// unit and no other row matters. Each returns the worst share, infinity where nothing is proven.
namespace carom::kernels {

template <class Data>
class QpHomogeneousCheck {
 public:
  CAROM_HOST_DEVICE QpHomogeneousCheck(const QpShape& shape, const QpView<Data>& view)
      : shape_(shape), view_(view) {}

  /// Rows and cones at x.
  [[nodiscard]] CAROM_CALL double feasible(const double* x) const {
    double worst = 0.0;
    for_parts(
        shape_,
        [&](int i) {
          const Sum value = row(i, x);
          const auto beyond = [&](double bound, double sign) {
            if (!is_there(bound)) return;
            const double excess = static_cast<double>((value.value - bound) * sign);
            add(worst, excess, value.size + magnitude(bound));
          };
          beyond(view_.upper[i], 1.0);
          beyond(view_.lower[i], -1.0);
        },
        [&](const QpConeSpan& cone) {
          double size = 0.0;
          const Doubled margin = cone_margin(cone, [&](int i) {
            Sum value = row(i, x);
            value.add(Doubled(view_.upper[i]), -1.0);
            size = larger(size, value.size);
            return -value.value;
          });
          add(worst, -static_cast<double>(margin), size);
        });
    return worst;
  }

  /// Optimality of x with multipliers y. face: null, or a vector that `face` accepts; all points
  /// then lie where it meets the slacks in right angles, and multipliers need to bound those only.
  [[nodiscard]] CAROM_CALL double optimal(const double* x, const double* y,
                                          const double* face = nullptr) const {
    const int n = shape_.variables;
    double worst = feasible(x);
    for (int j = 0; j < n; ++j) {
      Sum sum = bent(j, x);
      sum.add(Doubled(view_.gradient[j]), 1.0);
      add_pull(sum, j, y);
      add(worst, magnitude(static_cast<double>(sum.value)), sum.size);
    }
    for_parts(
        shape_,
        [&](int i) {
          if (y[i] == 0.0) return;
          const double bound = y[i] > 0.0 ? view_.upper[i] : view_.lower[i];
          if (!is_there(bound)) return add(worst, 1.0, 1.0);
          Sum value = row(i, x);
          value.add(Doubled(bound), -1.0);
          add(worst, magnitude(static_cast<double>(value.value)), value.size);
        },
        [&](const QpConeSpan& cone) {
          if (face == nullptr || !narrow_dual(cone, y, face, worst)) dual_cone(cone, y, worst);
          // |s o z| over the sizes of s's terms and of z.
          double head = 0.0;
          Doubled gap(0.0);
          for (int i = cone.first; i < cone.first + cone.size; ++i) {
            Sum value = row(i, x);
            value.add(Doubled(view_.upper[i]), -1.0);
            head = larger(head, value.size);
            gap += value.value * y[i];
          }
          double most = 0.0;
          for (int i = cone.first; i < cone.first + cone.size; ++i) {
            most = larger(magnitude(y[i]), most);
          }
          add(worst, magnitude(static_cast<double>(gap)), head * most);
        });
    return worst;
  }

  /// Farkas' proof: A'y = 0, y in the dual cone, support < 0 by this share of its terms.
  [[nodiscard]] CAROM_CALL double contradiction(const double* y, double least = kLeastSlope) const {
    Sum support;
    const double worst = combination(y, support);
    return descends(support, least) ? worst : kInfinity;
  }

  /// The same with support 0 and a cone that takes part: no slack is inside of all cones.
  [[nodiscard]] CAROM_CALL double face(const double* y) const {
    Sum support;
    double worst = combination(y, support);
    add(worst, magnitude(static_cast<double>(support.value)), support.size);
    for (int c = 0; c < shape_.cones; ++c) {
      if (y[shape_.cone[c].first] > 0.0) return worst;
    }
    return kInfinity;
  }

  /// Direction without end: P d = 0, q'd < 0, no row and no cone ends it.
  [[nodiscard]] CAROM_CALL double endless(const double* d) const {
    Sum slope;
    const double worst = way(d, slope);
    return descends(slope) ? worst : kInfinity;
  }

  /// The same with q'd = 0 that moves the slack of a cone: no multipliers are inside of all cones.
  [[nodiscard]] CAROM_CALL double level(const double* d) const {
    Sum slope;
    double worst = way(d, slope);
    add(worst, magnitude(static_cast<double>(slope.value)), slope.size);
    for (int c = 0; c < shape_.cones; ++c) {
      const Sum head = row(shape_.cone[c].first, d);
      if (static_cast<double>(head.value) < -kLeastSlope * head.size) return worst;
    }
    return kInfinity;
  }

  /// Round cones on whose boundary d moves the slack, and on whose boundary y lies.
  [[nodiscard]] CAROM_CALL int touched_along(const double* d) const {
    return touched([&](int i) { return -row(i, d).value; });
  }
  [[nodiscard]] CAROM_CALL int touched_by(const double* y) const {
    return touched([&](int i) { return Doubled(y[i]); });
  }

 private:
  template <class F>
  [[nodiscard]] CAROM_CALL int touched(F&& value) const {
    int count = 0;
    for (int c = 0; c < shape_.cones; ++c) {
      if (shape_.cone[c].size < 3) continue;  // two half-planes
      const auto head = static_cast<double>(value(shape_.cone[c].first));
      const auto margin = static_cast<double>(cone_margin(shape_.cone[c], value));
      count += head > 0.0 && margin <= kOnBoundary * head ? 1 : 0;
    }
    return count;
  }
  /// A'y, signs and cones of y; the support.
  template <class Support>
  [[nodiscard]] CAROM_CALL double combination(const double* y, Support& support) const {
    double worst = 0.0;
    for (int j = 0; j < shape_.variables; ++j) {
      Sum sum;
      add_pull(sum, j, y);
      add(worst, magnitude(static_cast<double>(sum.value)), sum.size);
    }
    for_parts(
        shape_,
        [&](int i) {
          if (y[i] == 0.0) return;
          const double bound = y[i] > 0.0 ? view_.upper[i] : view_.lower[i];
          if (!is_there(bound)) return add(worst, 1.0, 1.0);
          support.add(Doubled(bound), y[i]);
        },
        [&](const QpConeSpan& cone) {
          dual_cone(cone, y, worst);
          for (int i = cone.first; i < cone.first + cone.size; ++i) {
            support.add(Doubled(view_.upper[i]), y[i]);
          }
        });
    return worst;
  }

  /// P d, rows and cones along d; the slope.
  template <class Slope>
  [[nodiscard]] CAROM_CALL double way(const double* d, Slope& slope) const {
    double worst = 0.0;
    for (int j = 0; j < shape_.variables; ++j) {
      const Sum sum = bent(j, d);
      add(worst, magnitude(static_cast<double>(sum.value)), sum.size);
      slope.add(Doubled(view_.gradient[j]), d[j]);
    }
    for_parts(
        shape_,
        [&](int i) {
          const Sum value = row(i, d);
          const auto along = static_cast<double>(value.value);
          if (is_there(view_.upper[i])) add(worst, along, value.size);
          if (is_there(view_.lower[i])) add(worst, -along, value.size);
        },
        [&](const QpConeSpan& cone) {
          double size = 0.0;
          const Doubled margin = cone_margin(cone, [&](int i) {
            const Sum value = row(i, d);
            size = larger(size, value.size);
            return -value.value;
          });
          add(worst, -static_cast<double>(margin), size);
        });
    return worst;
  }

  using Sum = SizedSum<Doubled>;

  /// A slope that is more than the rounding of its terms.
  static CAROM_INLINE bool descends(const Sum& sum, double least = kLeastSlope) {
    return static_cast<double>(sum.value) < -least * sum.size;
  }
  static CAROM_INLINE void add(double& worst, double excess, double size) {
    if (excess <= 0.0) return;
    const double share = excess / size;
    worst = share <= worst ? worst : share;  // keeps NaN
  }

  [[nodiscard]] CAROM_INLINE Sum row(int i, const double* x) const {
    Sum sum;
    for_row(shape_, view_, i, [&](int j, double entry) { sum.add(Doubled(entry), x[j]); });
    return sum;
  }
  [[nodiscard]] CAROM_INLINE Sum bent(int j, const double* x) const {
    Sum sum;
    for (int k = 0; k < shape_.variables; ++k) {
      sum.add(Doubled(hessian_entry(view_, shape_.variables, j, k)), x[k]);
    }
    return sum;
  }
  CAROM_INLINE void add_pull(Sum& sum, int j, const double* y) const {
    for (int i = 0; i < shape_.rows; ++i) {
      for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
        if (shape_.column[t] != j) continue;
        sum.add(Doubled(view_.matrix[static_cast<long>(i) * shape_.variables + j]), y[i]);
      }
    }
  }
  template <class F>
  static CAROM_INLINE Doubled cone_margin(const QpConeSpan& cone, F&& value) {
    Doubled sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const Doubled part = value(i);
      sum += part * part;
    }
    return value(cone.first) - square_root(sum);
  }
  CAROM_INLINE void dual_cone(const QpConeSpan& cone, const double* y, double& worst) const {
    const Doubled margin = cone_margin(cone, [&](int i) { return Doubled(y[i]); });
    double size = 0.0;
    for (int i = cone.first; i < cone.first + cone.size; ++i) size = larger(size, magnitude(y[i]));
    add(worst, -static_cast<double>(margin), size);
  }

  /// Of multipliers for slacks at right angles to the face's vector: those of a ray, or zero.
  /// False where that vector leaves the cone as it is.
  CAROM_INLINE bool narrow_dual(const QpConeSpan& cone, const double* y, const double* face,
                                double& worst) const {
    const double head = face[cone.first];
    if (!(head > 0.0)) return false;
    const Doubled margin = cone_margin(cone, [&](int i) { return Doubled(face[i]); });
    if (static_cast<double>(margin) > kOnBoundary * head) return true;
    Sum along;
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      along.add(Doubled(y[i]), i == cone.first ? face[i] : -face[i]);
    }
    add(worst, -static_cast<double>(along.value), along.size);
    return true;
  }

  static constexpr double kOnBoundary = 1e-9;
  static constexpr double kLeastSlope = 1e-13;

  const QpShape& shape_;
  const QpView<Data>& view_;
};

}  // namespace carom::kernels
