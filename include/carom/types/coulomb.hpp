#pragma once

#include <vector>

#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>

/// The plain structs of carom/coulomb.hpp.
namespace carom {

/// One contact problem in contact coordinates: u = W r + q with the Signorini-Coulomb law. Contact
/// i owns `dimension` consecutive rows, its normal first: 0 <= u_n perp r_n >= 0, |r_t| <= mu r_n,
/// and sliding opposes u_t. In 3D the cone is the true second-order cone.
struct CoulombProblem {
  int dimension = 3;
  int contacts = 0;
  std::vector<double> matrix;    ///< W, row-major, [d m, d m]; need not be symmetric
  std::vector<double> vector;    ///< q, [d m]
  std::vector<double> friction;  ///< [m]
};

struct CoulombSettings {
  double tolerance = 1e-9;
  int max_iterations = 20000;

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest relative residual of a solution", Range::tolerance()},
          tables.tolerance...);
    visit({"max_iterations", "Largest number of iterations", Range::at_least(1)},
          tables.max_iterations...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

struct CoulombResult {
  Status status = Status::iteration_limit;
  std::vector<double> reaction;  ///< r; NaN unless solved or inaccurate
  std::vector<double> velocity;  ///< u = W r + q
  double residual = 0.0;         ///< coulomb_residual, relative
  int iterations = 0;
};

}  // namespace carom
