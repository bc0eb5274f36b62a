#pragma once

#include <Eigen/Dense>

#include <carom/certificate_lp.hpp>
#include <carom/types/lp.hpp>

namespace carom::reference {

struct BlandOutcome {
  Status status = Status::numerical_error;  ///< a claim; no certificate has seen it yet
  int pivots = 0;
  Eigen::VectorXd solution;        ///< x where solved, [n]
  Eigen::VectorXd dual;            ///< y where solved, Farkas multipliers where infeasible, [m]
  Eigen::VectorXd ray;             ///< direction where unbounded, [n]
  Eigen::VectorXd point;           ///< a feasible point where unbounded, [n]
  std::vector<BasisStatus> basis;  ///< [n + m]
};

/// The two-phase primal simplex method on a dense tableau in standard form, in extended precision,
/// with Bland's rule, which cannot cycle (Bland 1977).
BlandOutcome solve_by_bland(const certificate::LpData& lp, int max_pivots);

}  // namespace carom::reference
