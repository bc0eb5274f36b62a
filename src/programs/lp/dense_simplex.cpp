#include "programs/lp/dense_simplex.hpp"

#include <numeric>
#include <vector>

namespace carom::dense {

SimplexOutcome maximize(const Eigen::VectorXd& cost, const Eigen::MatrixXd& matrix,
                        const Eigen::VectorXd& bound, double tolerance) {
  const int rows = static_cast<int>(matrix.rows());
  const int n = static_cast<int>(matrix.cols());
  const int right = n + rows;
  // Rows [A I | b] and, last, [-c 0 | 0].
  Eigen::MatrixXd tableau = Eigen::MatrixXd::Zero(rows + 1, right + 1);
  tableau.topLeftCorner(rows, n) = matrix;
  tableau.block(0, n, rows, rows).setIdentity();
  tableau.col(right).head(rows) = bound;
  tableau.row(rows).head(n) = -cost.transpose();
  const double cost_scale = n > 0 ? cost.cwiseAbs().maxCoeff() : 0.0;
  std::vector<int> basis(rows);
  std::iota(basis.begin(), basis.end(), n);

  SimplexOutcome outcome;
  outcome.primal = Eigen::VectorXd::Zero(n);
  const int limit = 1000 * (n + rows + 1);
  for (int pivots = 0;; ++pivots) {
    int entering = 0;
    while (entering < right && tableau(rows, entering) >= -tolerance * cost_scale) ++entering;
    if (entering == right) break;
    if (pivots == limit) {
      outcome.status = Status::iteration_limit;
      return outcome;
    }
    const double threshold = tolerance * tableau.col(entering).head(rows).cwiseAbs().maxCoeff();
    int leaving = -1;
    for (int i = 0; i < rows; ++i) {
      if (tableau(i, entering) <= threshold) continue;
      if (leaving < 0) {
        leaving = i;
        continue;
      }
      const double here = tableau(i, right) * tableau(leaving, entering);
      const double there = tableau(leaving, right) * tableau(i, entering);
      if (here < there || (here == there && basis[i] < basis[leaving])) leaving = i;
    }
    if (leaving < 0) {
      outcome.status = Status::unbounded;
      if (entering < n) outcome.primal[entering] = 1.0;
      for (int i = 0; i < rows; ++i) {
        if (basis[i] < n) outcome.primal[basis[i]] = -tableau(i, entering);
      }
      return outcome;
    }
    tableau.row(leaving) /= tableau(leaving, entering);
    for (int i = 0; i <= rows; ++i) {
      if (i != leaving) tableau.row(i) -= tableau(i, entering) * tableau.row(leaving);
    }
    basis[leaving] = entering;
  }
  for (int i = 0; i < rows; ++i) {
    if (basis[i] < n) outcome.primal[basis[i]] = tableau(i, right);
  }
  outcome.dual = tableau.row(rows).segment(n, rows).transpose();
  outcome.status = Status::solved;
  return outcome;
}

}  // namespace carom::dense
