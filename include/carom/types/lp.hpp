#pragma once

#include <cstdint>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/lp.hpp.
namespace carom {

/// Largest numbers of rows m and columns n of a dense LP that the batched solvers accept.
inline constexpr int kMaxLpRows = 512;
inline constexpr int kMaxLpColumns = 1024;

struct LpSizes {
  std::int64_t problems = 0;
  int rows = 0;        ///< m, 0..kMaxLpRows
  int columns = 0;     ///< n, 1..kMaxLpColumns
  int objectives = 1;  ///< K >= 1
};

template <template <class> class Array>
struct LpBatchArrays {
  using Sizes = LpSizes;

  Array<double> cost;          ///< c, [problems, objectives, columns]
  Array<double> matrix;        ///< A, row-major, [problems, rows, columns]
  Array<double> row_lower;     ///< [problems, rows]
  Array<double> row_upper;     ///< [problems, rows]
  Array<double> column_lower;  ///< [problems, columns]
  Array<double> column_upper;  ///< [problems, columns]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, m, n, objectives] = sizes;
    visit("matrix", Extents{p, m, n}, tables.matrix...);
    visit("cost", Extents{p, objectives, n}, tables.cost...);
    visit("row_lower", Extents{p, m}, tables.row_lower...);
    visit("row_upper", Extents{p, m}, tables.row_upper...);
    visit("column_lower", Extents{p, n}, tables.column_lower...);
    visit("column_upper", Extents{p, n}, tables.column_upper...);
  }
};

/// Independent linear programs of one shape, each with K objectives over one polytope:
///
///   minimise c_k'x   subject to   row_lower <= A x <= row_upper,  column_lower <= x <=
///   column_upper.
///
/// An infinite bound is absent; equal bounds make an equation. Objectives of one problem are solved
/// in turn, each from the basis of the one before: order them so that neighbours are alike, as in a
/// sweep of directions.
struct LpBatch : LpSizes, LpBatchArrays<Buffer> {
  [[nodiscard]] LpBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

struct LpSettings {
  double tolerance = 1e-9;  ///< on LpResult::residual, and on the residuals of rays
  int max_pivots = 0;       ///< per objective; 0: 50 (m + n)
  bool certificates =
      true;         ///< fill LpResult::farkas, ::ray and ::point; without it they stay empty
  int threads = 0;  ///< cpu: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest relative residual of a solution", Range::tolerance()},
          tables.tolerance...);
    visit({"max_pivots", "Largest number of pivots per objective", Range::at_least(0), "",
           "50 (m + n)"},
          tables.max_pivots...);
    visit({"certificates", "Return Farkas vectors, rays and points"}, tables.certificates...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// Where a variable stands: a column x_j, or the activity (A x)_i of a row.
enum class BasisStatus : std::uint8_t {
  basic,
  at_lower,
  at_upper,
  at_zero,  ///< nonbasic at zero, strictly between its bounds or without any
};

template <template <class> class Array>
struct LpResultArrays {
  using Sizes = LpSizes;

  Array<double> solution;   ///< x, [problems, objectives, columns]; NaN unless solved or inaccurate
  Array<double> dual;       ///< y, [problems, objectives, rows]; reduced costs are c - A'y
  Array<double> objective;  ///< c'x, [problems, objectives]
  Array<Status> status;     ///< [problems, objectives]: solved, inaccurate, infeasible, unbounded,
                            ///< iteration_limit, numerical_error, invalid_input
  Array<std::int32_t> pivots;  ///< [problems, objectives], bound flips included
  Array<double> residual;      ///< [problems, objectives]: certificate::lp_residual of x and y,
                               ///< farkas_residual where infeasible, ray_residual where unbounded
  Array<double> farkas;        ///< y of certificate::farkas_residual, [problems, objectives, rows];
                               ///< NaN unless infeasible; see solve_lp for crossed bounds
  Array<double> ray;    ///< r of certificate::ray_residual, [problems, objectives, columns]; NaN
                        ///< unless unbounded
  Array<double> point;  ///< [problems, objectives, columns], NaN unless unbounded: satisfies the
                        ///< bounds
  Array<BasisStatus> basis;  ///< [problems, columns + rows], where the last objective ended

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, m, n, objectives] = sizes;
    visit("solution", Extents{p, objectives, n}, tables.solution...);
    visit("dual", Extents{p, objectives, m}, tables.dual...);
    visit("objective", Extents{p, objectives}, tables.objective...);
    visit("status", Extents{p, objectives}, tables.status...);
    visit("pivots", Extents{p, objectives}, tables.pivots...);
    visit("residual", Extents{p, objectives}, tables.residual...);
    visit("farkas", Extents{p, objectives, m}.or_empty(), tables.farkas...);
    visit("ray", Extents{p, objectives, n}.or_empty(), tables.ray...);
    visit("point", Extents{p, objectives, n}.or_empty(), tables.point...);
    visit("basis", Extents{p, n + m}, tables.basis...);
  }
};
struct LpResult : LpResultArrays<Buffer> {};

}  // namespace carom
