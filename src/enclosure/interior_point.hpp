#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>

namespace carom::enclosure {

/// min cost.x over rows x <= bounds and low <= x <= high.
struct InnerProgram {
  Eigen::VectorXd cost, low, high;
  Eigen::SparseMatrix<double, Eigen::RowMajor> rows;
  Eigen::VectorXd bounds;
};

struct InnerSolution {
  bool solved = false;  ///< else x is as far as it came
  Eigen::VectorXd x;
  Eigen::VectorXd multipliers;  ///< of the rows, >= 0
};

/// Mehrotra's primal-dual method with dense normal equations, for a few hundred unknowns and rows
/// with few of them, many of which are at their bounds at once; x is feasible up to `tolerance`, as
/// far from the optimum. low < high, finite.
InnerSolution solve_inner(const InnerProgram& program, double tolerance);

}  // namespace carom::enclosure
