#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>

/// The plain structs of carom/sdp.hpp.
namespace carom {

inline constexpr int kMaxSdpBlock = 32;

/// max b'y over C - sum_i y_i A_i positive semidefinite, and its dual
/// min <C, X> over <A_i, X> = b_i, X positive semidefinite; all matrices symmetric, with the same
/// blocks on the diagonal. Blocks of size 1 are linear inequalities.
struct SdpProblem {
  std::vector<int> blocks;           ///< sizes, 1 to kMaxSdpBlock
  std::vector<double> objective;     ///< b, [variables]
  std::vector<double> constant;      ///< C, block after block, each by rows, [sum of n^2]
  std::vector<double> coefficients;  ///< A_1, A_2, ..., each as C, [variables, sum of n^2]
};

struct SdpSettings {
  double tolerance = 1e-8;  ///< on SdpResult::residual
  int max_iterations = 100;
  int threads = 0;  ///< 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest residual of an answer", Range::tolerance()}, tables.tolerance...);
    visit({"max_iterations", "Largest number of iterations", Range::at_least(1)},
          tables.max_iterations...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// Status: solved, inaccurate (finished, residual above the tolerance), infeasible (no y: proven by
/// X), unbounded (y is feasible, `ray` proves), iteration_limit, numerical_error. What is neither
/// solved nor inaccurate has NaN where nothing is proven.
struct SdpResult {
  Status status = Status::numerical_error;
  std::vector<double> y;    ///< [variables]
  std::vector<double> ray;  ///< where unbounded: d with b'd = 1, -sum d_i A_i semidefinite
  /// X; where infeasible with <A_i, X> = 0 and <C, X> = -1. As C.
  std::vector<double> x;
  double objective = 0.0;  ///< b'y
  double dual = 0.0;       ///< <C, X>
  /// Largest of: negative eigenvalues of C - sum y A and of X, |<A_i, X> - b_i|, the gap
  /// <C, X> - b'y; each relative to the size of what it belongs to. Of a proof likewise.
  double residual = 0.0;
  int iterations = 0;
};

}  // namespace carom
