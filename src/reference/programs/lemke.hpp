#pragma once

#include <Eigen/Dense>

#include <carom/types/lcp.hpp>

namespace carom::reference {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// Whether residuals count in one unit for all rows, or each row in its own.
enum class Units { common, of_rows };

/// What Lemke's method made of one LCP(M, q).
struct LemkeOutcome {
  Status status = Status::numerical_error;
  Vector solution;        ///< z, [n]; NaN unless solved or inaccurate
  int pivots = 0;         ///< of all attempts
  double residual = 0.0;  ///< in the units asked for; NaN where there is no solution
};

/// Lemke's method with covering vector e and lexicographic ratio test; the basis inverse is
/// computed afresh at every pivot, so that rounding errors do not pile up. What ends uncertified is
/// tried again in long double, with several tolerances. max_pivots = 0: 50 (n + 1) an attempt.
LemkeOutcome lemke(const Matrix& matrix, const Vector& vector, double tolerance, int max_pivots = 0,
                   Units units = Units::of_rows);

}  // namespace carom::reference
