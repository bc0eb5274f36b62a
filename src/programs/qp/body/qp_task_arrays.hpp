#pragma once

#include <cstdint>

#include <carom/device/qp_problem.hpp>
#include <carom/qp.hpp>

#include "core/pointers.hpp"
#include "programs/qp/body/admm_qp_body.hpp"

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
  std::uint8_t* end;  ///< [problems], how `first` ended: qp_end or kQpRefused
};

}  // namespace carom::kernels
