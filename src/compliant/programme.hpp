#pragma once

#include <vector>

#include <Eigen/Dense>

#include <carom/types/compliant.hpp>

namespace carom {

/// The convex programme of one step in p = h lambda of the rows that are not bilateral: minimise
/// 1/2 p'H p + g'p with A p >= q, p >= 0 on n and u, |p_t| <= mu p_n; (181)-(198) in the scaling of
/// docs/explanation/compliant.md.
struct ConvexProgramme {
  std::vector<RowType> type;   ///< of the variables
  std::vector<int> row;        ///< of the step's arrays behind each variable
  std::vector<int> bilateral;  ///< rows of the arrays that were eliminated
  Eigen::VectorXd friction;
  Eigen::MatrixXd hessian;   ///< H
  Eigen::VectorXd gradient;  ///< g
  double scale = 1.0;        ///< that the objective was divided by
  Eigen::MatrixXd matrix;    ///< A, a row for each n and u, each divided by its own diagonal
  Eigen::VectorXd bound;     ///< q
  /// beta_t = h (lambda_t - s_t) of the tangents, each divided by its own diagonal 1 + eta D_ii:
  /// beta_t / diagonal = slip p + slip_offset, (99).
  Eigen::MatrixXd slip;
  Eigen::VectorXd slip_offset;
  Eigen::VectorXd slip_diagonal;
  double zeta = 0.0;        ///< of (99)
  Eigen::MatrixXd recover;  ///< bilateral impulses: recover p + offset
  Eigen::VectorXd recover_offset;
};

/// Terms of problem `problem` of a host batch, whose numbers are good. weight: zeta; 0: 1/h.
ConvexProgramme convex_programme(const CompliantBatch& batch, std::int64_t problem,
                                 bool centripetal, double weight);

}  // namespace carom
