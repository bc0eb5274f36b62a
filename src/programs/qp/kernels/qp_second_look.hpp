#pragma once

#include <cstdint>
#include <limits>

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_task_arrays.hpp"

/// Checks whether an answer within the tolerance, but not to rounding, is near a solution of the
/// given problem: nearly parallel rows may intersect far from the answer, or nowhere.
namespace carom::kernels {

/// What the exact method says of the numbers as given, proven or not.
struct QpKnowledge {
  /// disputed: by the same method on another path.
  enum class Kind : std::uint8_t { nothing, solved, infeasible, unbounded, disputed };
  Kind kind = Kind::nothing;
  double objective = 0.0;
};

template <class Data, class X, class Y>
class QpSecondLook {
 public:
  CAROM_HOST_DEVICE QpSecondLook(const QpShape& shape, const QpView<Data>& view, const X& x,
                                 const Y& y)
      : shape_(shape), view_(view), x_(x), y_(y) {}

  /// Whether objectives, the second that of x, are not those of one problem.
  [[nodiscard]] CAROM_CALL bool differ(double objective, double own, double tolerance) const {
    return !(magnitude(objective - own) <= kObjective * tolerance * objective_terms());
  }
  /// Whether another objective is known, or that there is none, or what the rows miss is worth, by
  /// their multipliers, more than the objective's own digits. Where rows are nearly parallel and
  /// nothing is known, nothing is sure.
  [[nodiscard]] CAROM_CALL bool doubts(const QpKnowledge& known, double residual, double objective,
                                       double tolerance) const {
    if (!may_be_far(residual, tolerance)) return false;
    using Kind = QpKnowledge::Kind;
    if (known.kind == Kind::solved) {
      if (differ(known.objective, objective, tolerance)) return true;
    } else if (known.kind != Kind::nothing || has_near_parallels()) {
      return true;
    }
    return slipped() > kObjective * tolerance * objective_terms();
  }
  /// A residual that is more than rounding, of a problem that the exact method takes.
  [[nodiscard]] CAROM_INLINE bool may_be_far(double residual, double tolerance) const {
    return qp_takes_refinement(shape_) && residual > kSeenByRounding * tolerance;
  }
  [[nodiscard]] CAROM_CALL bool has_near_parallels() const {
    return qp_has_near_parallels(shape_, [&](int i, int j) { return matrix(i, j); });
  }
  [[nodiscard]] CAROM_CALL bool wants_refinement(double residual, double tolerance) const {
    return qp_wants_refinement(
        shape_, residual, tolerance, [&](int i, int j) { return matrix(i, j); },
        [&] { return misses_own_bounds(tolerance); }, [&] { return hides_objective(tolerance); });
  }
  /// Whether the objective may be wrong although the residual is small, as for an x far away: each
  /// active row misses its bound by at least the last digit of its terms, and these misses, times
  /// the multipliers, exceed the objective's tolerance.
  [[nodiscard]] CAROM_CALL bool hides_objective(double tolerance) const {
    constexpr double kLastDigit = 0x1p-53;
    double hidden = 0.0, terms = objective_terms();
    for (int i = 0; i < shape_.rows; ++i) {
      const double y = y_[i];
      const double bound = y > 0.0 ? view_.upper[i] : view_.lower[i];
      if (y == 0.0 || !(magnitude(bound) < std::numeric_limits<double>::infinity())) continue;
      const RowValue row = row_value(i);
      hidden += (magnitude(row.value - bound) + kLastDigit * row.terms) * magnitude(y);
      terms += magnitude(bound * y);
    }
    return hidden > tolerance * terms;
  }
  [[nodiscard]] CAROM_CALL bool misses_own_bounds(double tolerance) const {
    const long n = shape_.variables;
    const auto bound_of = [](const Data& bounds) {
      return [&bounds](int i) -> double { return bounds[i]; };
    };
    return qp_misses_own_bounds(
        shape_, tolerance, [&](int i, int j) -> double { return view_.matrix[i * n + j]; },
        bound_of(view_.lower), bound_of(view_.upper), [&](int j) -> double { return x_[j]; });
  }

 private:
  static constexpr double kObjective = 1e3;  // tolerances that the objective may be off by

  struct RowValue {
    double value = 0.0, terms = 0.0;  ///< terms: their magnitudes
  };
  [[nodiscard]] CAROM_CALL RowValue row_value(int i) const {
    RowValue row;
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      const int j = shape_.column[t];
      const double term = view_.matrix[static_cast<long>(i) * shape_.variables + j] * x_[j];
      row.value += term;
      row.terms += magnitude(term);
    }
    return row;
  }
  /// Rows hold numbers in their own columns only.
  [[nodiscard]] CAROM_CALL double matrix(int i, int j) const {
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      if (shape_.column[t] == j) return view_.matrix[static_cast<long>(i) * shape_.variables + j];
    }
    return 0.0;
  }
  [[nodiscard]] CAROM_CALL double objective_terms() const {
    const long n = shape_.variables;
    double terms = 0.0;
    for (long j = 0; j < n; ++j) {
      double bent = 0.0;
      for (long k = 0; k < n; ++k) {
        bent = fused(double{view_.hessian[k <= j ? j * n + k : k * n + j]}, double{x_[k]}, bent);
      }
      terms += magnitude(view_.gradient[j] * x_[j]) + magnitude(bent * x_[j]);
    }
    return terms;
  }
  /// What the rows miss by more than rounding, times their multipliers.
  [[nodiscard]] CAROM_CALL double slipped() const {
    double sum = 0.0;
    for (int i = 0; i < shape_.rows; ++i) {
      const RowValue row = row_value(i);
      const double over = larger(row.value - view_.upper[i], view_.lower[i] - row.value);
      const double missed = over - certificate::sum_rounding(shape_.variables) * row.terms;
      if (missed > 0.0) sum += missed * magnitude(y_[i]);
    }
    return sum;
  }

  const QpShape& shape_;
  const QpView<Data>& view_;
  const X& x_;
  const Y& y_;
};

}  // namespace carom::kernels
