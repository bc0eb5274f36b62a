#pragma once

#include <vector>

#include <Eigen/Dense>

#include <carom/device/constraint_rows.hpp>

namespace carom::reference {

/// One step as the paper states it before anything is eliminated: unknowns v' and the impulses of
/// all rows, bilateral ones included.
struct CompliantEquations {
  double step_size = 0.0;
  int dimension = 3;
  bool centripetal = true;
  Eigen::MatrixXd mass;
  Eigen::VectorXd force;
  Eigen::VectorXd velocity;
  std::vector<RowType> type;
  Eigen::MatrixXd jacobian;
  Eigen::VectorXd jacobian_dot_v, phi, stiffness, damping, friction;
};

struct CompliantSolution {
  Eigen::VectorXd velocity;     ///< v'
  Eigen::VectorXd impulse;      ///< p, of all rows
  Eigen::VectorXd centripetal;  ///< m of (23), with the pseudo-inverse where a group is redundant
  int iterations = 0;
};

/// Gauss-Seidel over the rows finds the modes; Newton steps on the whole system, by LU with full
/// pivots, make the answer exact.
CompliantSolution solve_equations(const CompliantEquations& equations, int max_iterations);

/// M^ (dG/dt) v for every row, (23) and (24).
Eigen::VectorXd centripetal_forces(const CompliantEquations& equations);

}  // namespace carom::reference
