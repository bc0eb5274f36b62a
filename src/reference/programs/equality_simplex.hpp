#pragma once

#include <Eigen/Dense>

#include <carom/types/status.hpp>

namespace carom::reference {

struct EqualityOutcome {
  Status status = Status::numerical_error;  ///< solved, infeasible, unbounded, iteration_limit
  Eigen::VectorXd primal;                   ///< x; a ray d >= 0, A d = 0, c'd > 0 when unbounded
  Eigen::VectorXd dual;                     ///< y, A'y >= c; when infeasible A'y >= 0 with b'y < 0
};

/// max c'x over A x = b, x >= 0: two-phase primal simplex on a dense tableau with Bland's rule.
EqualityOutcome maximize_equality(const Eigen::VectorXd& cost, const Eigen::MatrixXd& matrix,
                                  const Eigen::VectorXd& right);

}  // namespace carom::reference
