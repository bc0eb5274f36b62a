#pragma once

#include <cstdint>

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>
#include <carom/types/qp.hpp>

#include "core/pointers.hpp"
#include "programs/kernels/convex_lemke.hpp"
#include "programs/qp/kernels/admm_qp.hpp"

namespace carom::kernels {

/// The settings and arrays of a call in the form that the QP kernels use.
struct QpTaskSettings {
  QpMethod method = QpMethod::automatic;
  int max_iterations = 0;  ///< 0: each method's own
  double tolerance = 1e-9;
  bool polish = true;
  double over_relaxation = 1.6;
  double penalty = 0.1;

  /// Of the method that is tried first.
  [[nodiscard]] CAROM_INLINE int limit(QpMethod tried, int variables, int rows) const {
    if (max_iterations > 0) return max_iterations;
    switch (tried) {
      case QpMethod::active_set:
        return 20 * (variables + rows);
      case QpMethod::admm:
        return 20000;
      case QpMethod::projected:
        return 100000;
      default:
        return 100;
    }
  }
  [[nodiscard]] CAROM_INLINE QpFirstOrderOptions first_order(QpMethod tried, int variables,
                                                             int rows) const {
    QpFirstOrderOptions options;
    options.tolerance = tolerance;
    options.max_iterations = limit(tried, variables, rows);
    options.polish = polish;
    options.over_relaxation = over_relaxation;
    options.penalty = penalty;
    return options;
  }
};

/// A batch and its result as the bodies see them. Pointers to inputs of no values may be null.
struct QpTaskArrays : QpBatchArrays<ConstPointer>, QpResultArrays<Pointer> {
  QpShape shape;
  int interval_rows;             ///< m, rows of `matrix`; the shape's others come from cone_matrix
  const std::uint8_t* equation;  ///< [rows], whether a row of C is an equation
  QpTaskSettings settings;
  QpStartArrays<ConstPointer> start;
  std::uint8_t* end;  ///< [problems], how the last attempt ended: qp_end, or kQpFinal
};

/// End of a problem about which nothing is left to do.
inline constexpr std::uint8_t kQpFinal = 255;

/// What is tried first, if not the dual pivots.
CAROM_INLINE constexpr QpMethod first_method(QpMethod asked) {
  return asked == QpMethod::automatic ? QpMethod::interior_point : asked;
}

/// The answer to one problem in addition to x, y or the proof.
struct QpVerdict {
  Status status = Status::numerical_error;
  QpMethod method = QpMethod::automatic;
  int iterations = 0;
  double residual = 0.0;
  double objective = 0.0;
  bool faced = false;  ///< a face belongs to it: QpResultArrays::certificate
};

/// Whether an answer with this end may be taken where its residual is small enough.
CAROM_INLINE bool may_be_solved(double end) {
  return end == qp_end::kActiveSet || end == qp_end::kConverged || end == qp_end::kStalled ||
         end == qp_end::kRunning;
}

/// Whether problems are small enough for a second look in twice the precision.
CAROM_INLINE bool qp_takes_refinement(const QpShape& shape) {
  return shape.cones == 0 && shape.variables + shape.rows <= 64;
}

/// Share of the tolerance that rounding may miss.
inline constexpr double kSeenByRounding = 1e-4;

/// Whether two rows differ, in direction, by less than a thousandth, yet by more than rounding: an
/// answer that misses them by little may be far away. entry(i, j): of row i.
template <class Entry>
CAROM_CALL bool qp_has_near_parallels(const QpShape& shape, Entry&& entry) {
  constexpr double kNear = 1e-6;  // squares
  constexpr double kRounding = 1e-28;
  for (int i = 1; i < shape.rows; ++i) {
    for (int k = 0; k < i; ++k) {
      double dot = 0.0, square = 0.0, own = 0.0;
      for (int j = 0; j < shape.variables; ++j) {
        const double a = entry(i, j), b = entry(k, j);
        dot = fused(a, b, dot);
        square = fused(b, b, square);
        own = fused(a, a, own);
      }
      if (!(dot * dot >= (1.0 - kNear) * own * square) || !(square > 0.0)) continue;
      const double share = dot / square;
      double rest = 0.0;
      for (int j = 0; j < shape.variables; ++j) {
        const double r = fused(-share, entry(k, j), entry(i, j));
        rest = fused(r, r, rest);
      }
      if (rest > kRounding * own) return true;
    }
  }
  return false;
}

/// Whether x misses a row by more than rounding and more than the tolerance of the row's own bound:
/// terms of an x far away make that little, and the rows may contradict each other by as much.
template <class Entry, class Bound, class X>
CAROM_CALL bool qp_misses_own_bounds(const QpShape& shape, double tolerance, Entry&& entry,
                                     Bound&& lower, Bound&& upper, X&& x) {
  for (int i = 0; i < shape.rows; ++i) {
    double value = 0.0, terms = 0.0;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      const double term = entry(i, j) * x(j);
      value += term;
      terms += magnitude(term);
    }
    const double below = lower(i) - value;
    const double over = larger(value - upper(i), below);
    const double own = magnitude(below > 0.0 ? lower(i) : upper(i));
    if (own > 0.0 && over > tolerance * own &&
        over > certificate::sum_rounding(shape.variables) * terms) {
      return true;
    }
  }
  return false;
}

/// Whether a solved answer is tried once more, in twice the precision: its residual is within the
/// tolerance, yet what multipliers make of it in the objective may not be. Most answers to small
/// problems are far below. misses(), hides(): QpSecondLook's misses_own_bounds, hides_objective.
template <class Entry, class Misses, class Hides>
CAROM_CALL bool qp_wants_refinement(const QpShape& shape, double residual, double tolerance,
                                    Entry&& entry, Misses&& misses, Hides&& hides) {
  if (!qp_takes_refinement(shape)) return false;
  return residual > 1e-2 * tolerance ||
         (residual > kSeenByRounding * tolerance &&
          (misses() || qp_has_near_parallels(shape, entry))) ||
         hides();
}
/// The same of problem p. Lanes: the caller's, so that each instruction set has its own code.
template <class Lanes, class Misses, class Hides>
CAROM_CALL bool qp_wants_refinement(const Lanes&, const QpTaskArrays& task, long p, double residual,
                                    Misses&& misses, Hides&& hides) {
  const long n = task.shape.variables;
  const long m = task.interval_rows;
  const long k = task.shape.rows - m;
  return qp_wants_refinement(
      task.shape, residual, task.settings.tolerance,
      [&](int i, int j) -> double {
        return i < m ? task.matrix[(p * m + i) * n + j] : task.cone_matrix[(p * k + i - m) * n + j];
      },
      misses, hides);
}
/// Of an active set, which meets its rows.
template <class Lanes>
CAROM_CALL bool qp_wants_refinement(const Lanes& lanes, const QpTaskArrays& task, long p,
                                    double residual) {
  const auto no = [] { return false; };
  return qp_wants_refinement(lanes, task, p, residual, no, no);
}

/// What an answer may depend on without an exact method's confirmation: anything if none can.
CAROM_INLINE certificate::Leaning qp_leaning(const QpShape& shape) {
  const bool decidable = shape.cones == 0 && convex_lemke_order(shape.variables, 2L * shape.rows) <=
                                                 kLargestConvexLemke;
  return decidable ? certificate::Leaning::refused : certificate::Leaning::allowed;
}

}  // namespace carom::kernels
