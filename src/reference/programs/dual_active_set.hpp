#pragma once

#include <vector>

#include <Eigen/Core>

namespace carom::reference {

using Scalar = long double;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// minimise 1/2 x'P x + q'x subject to a_i'x >= b_i, with equality where `equation`.
struct PlainQp {
  Matrix hessian;
  Vector gradient;
  Matrix rows;  ///< a_i', one a row
  Vector bounds;
  std::vector<bool> equation;
};

enum class PlainEnd { solved, infeasible, unbounded, gave_up };

struct PlainAnswer {
  PlainEnd end = PlainEnd::gave_up;
  Vector x;            ///< solution, or a direction of descent without end
  Vector multipliers;  ///< u with P x + q = A'u; or Farkas' proof A'u = 0, b'u > 0
  int iterations = 0;
};

/// The dual method of Goldfarb and Idnani (1983) in long double, every step's systems solved anew;
/// proximal steps make a semidefinite Hessian definite.
PlainAnswer solve_plain_qp(const PlainQp& problem, int max_iterations);

}  // namespace carom::reference
