#pragma once

#include <Eigen/Dense>

#include <carom/types/status.hpp>

namespace carom::dense {

struct SimplexOutcome {
  Status status = Status::numerical_error;  ///< solved, unbounded, iteration_limit
  Eigen::VectorXd primal;                   ///< x, [n]; a ray of increasing c'x when unbounded
  Eigen::VectorXd dual;                     ///< y >= 0 of A x <= b, [rows]; empty when unbounded
};

/// max c'x over A x <= b, x >= 0 with b >= 0, so that x = 0 is feasible: the primal simplex method
/// on a dense tableau with Bland's rule, which cannot cycle. Values within `tolerance` of zero,
/// relative to their column's largest, count as zero.
SimplexOutcome maximize(const Eigen::VectorXd& cost, const Eigen::MatrixXd& matrix,
                        const Eigen::VectorXd& bound, double tolerance = 1e-11);

}  // namespace carom::dense
