#pragma once

#include <Eigen/Dense>

namespace carom {

/// The convex program of a step for many unilateral rows on few velocities, in reduced form.
struct ElementsAnswer {
  Eigen::VectorXd impulse;
  double residual =
      0.0;  ///< largest error of a row, of the stationarity, of the gap, each relative
  int iterations = 0;
};

/// min |p|^2 / 2 over p >= 0, p + eta o (F F'p) >= bound, by a primal-dual interior-point method
/// whose linear systems have twice F's columns, not its rows: (83)-(85) of the paper with
/// G M^-1 G' = F F'. factor: F, [rows, velocities]; eta > 0.
ElementsAnswer solve_elements(const Eigen::MatrixXd& factor, const Eigen::VectorXd& eta,
                              const Eigen::VectorXd& bound, double tolerance, int max_iterations);

}  // namespace carom
