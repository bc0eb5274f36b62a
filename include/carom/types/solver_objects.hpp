#pragma once

#include <cstdint>
#include <span>

/// The plain structs of carom/solver_objects.hpp.
namespace carom {

/// What changes from call to call of a QpSolver; the arrays of one problem serve all.
struct QpVectors {
  std::int64_t problems = 0;
  std::span<const double> vector;  ///< q, [problems or 1, n]
  std::span<const double> lower;   ///< [problems or 1, m]
  std::span<const double> upper;   ///< [problems or 1, m]
};

/// The same of an LpSolver.
struct LpBounds {
  std::int64_t problems = 0;
  std::span<const double> row_lower;     ///< [problems or 1, m]
  std::span<const double> row_upper;     ///< [problems or 1, m]
  std::span<const double> column_lower;  ///< [problems or 1, n]
  std::span<const double> column_upper;  ///< [problems or 1, n]
};

/// Largest number of bases in the pool of an LpSolver.
inline constexpr int kLargestPool = 4096;

}  // namespace carom
