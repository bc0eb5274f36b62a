#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include <carom/coulomb.hpp>

namespace carom::io {

/// w = M z + q >= 0, z >= 0, z'w = 0.
struct LcpProblem {
  int order = 0;
  std::vector<double> matrix;  ///< M, row-major, [n, n]
  std::vector<double> vector;  ///< q, [n]
};

/// minimise or maximise c'x + offset over row_lower <= A x <= row_upper,
/// column_lower <= x <= column_upper; infinite bounds are absent.
struct LpProblem {
  int rows = 0;
  int columns = 0;
  bool maximise = false;
  double offset = 0.0;
  std::vector<double> cost;          ///< c, [n]
  std::vector<double> matrix;        ///< A, row-major, [m, n]
  std::vector<double> row_lower;     ///< [m]
  std::vector<double> row_upper;     ///< [m]
  std::vector<double> column_lower;  ///< [n]
  std::vector<double> column_upper;  ///< [n]
};

/// One single problem of a file, of the kind that its key `kind` names.
struct CaseProblem {
  std::string name;
  std::string kind;
  std::variant<LcpProblem, CoulombProblem, LpProblem> problem;
};

/// Reads one file: an object with the key `kind`: "lcp" (M, q, optionally n), "coulomb_friction"
/// (W, q, mu, dim, optionally nc) or "lp" (c, A, row_lower, row_upper, col_lower, col_upper, with
/// null for a bound that is absent; optionally sense "min" or "max", offset, m, n). Other keys
/// (source, licence, reference answers) are comments.
/// Errors: InvalidInput naming file, key, position and value, or the kind that is not supported.
CaseProblem read_case(const std::filesystem::path& file);

}  // namespace carom::io
