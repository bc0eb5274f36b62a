#pragma once

#include <Eigen/Dense>

#include "programs/coulomb/law.hpp"

namespace carom::cpu {

struct CoulombSolution {
  Eigen::VectorXd reaction;  ///< the best point met, in the system's scaled variables
  double residual = 0.0;     ///< the larger of its law_residual and contact_residual
  int iterations = 0;        ///< Gauss-Seidel sweeps, Newton steps and Lemke pivots
};

/// Searches for a point with both residuals <= tolerance and then polishes it until the residual
/// stops falling. Gives up after `max_iterations`, or earlier when its list of starts is exhausted.
CoulombSolution search_coulomb(const CoulombSystem& system, double tolerance, int max_iterations);

}  // namespace carom::cpu
