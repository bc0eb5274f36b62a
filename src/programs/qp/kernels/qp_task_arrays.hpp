#pragma once

#include <cstdint>

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>
#include <carom/types/qp.hpp>

#include "core/pointers.hpp"
#include "programs/kernels/convex_lemke.hpp"
#include "programs/qp/kernels/admm_qp.hpp"

namespace carom::kernels {

/// What the bodies see of QpSettings.
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

/// The answer to one problem beside x, y or the proof.
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

/// Whether a solved answer is tried once more, in twice the precision: its residual is within the
/// tolerance, yet what multipliers make of it in the objective may not be. Most answers to small
/// problems are far below.
CAROM_INLINE bool qp_wants_refinement(const QpShape& shape, double residual, double tolerance) {
  return shape.cones == 0 && shape.variables + shape.rows <= 64 && residual > 1e-2 * tolerance;
}

/// What an answer may lean on that no exact method has confirmed: where none can, on anything.
CAROM_INLINE certificate::Leaning qp_leaning(const QpShape& shape) {
  const bool decidable = shape.cones == 0 && convex_lemke_order(shape.variables, 2L * shape.rows) <=
                                                 kLargestConvexLemke;
  return decidable ? certificate::Leaning::refused : certificate::Leaning::allowed;
}

}  // namespace carom::kernels
