#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include <carom/coulomb.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "core/buffer_slice.hpp"

namespace carom::io {

/// w = M z + q >= 0, z >= 0, z'w = 0.
struct LcpProblem : LcpSizes, LcpBatchArrays<Values> {};

/// minimise or maximise c'x + offset over row_lower <= A x <= row_upper,
/// column_lower <= x <= column_upper; infinite bounds are absent.
struct LpProblem : LpSizes, LpBatchArrays<Values> {
  bool maximise = false;
  double offset = 0.0;
};

/// minimise 1/2 x'P x + q'x + offset over lower <= A x <= upper and b - C x in the cones. A file of
/// kind "qp" has A and no cones, one of kind "socp" cones and no A.
struct QpProblem : QpSizes, QpBatchArrays<Values> {
  double offset = 0.0;
};

/// One single problem of a file, of the kind that its key `kind` names.
struct CaseProblem {
  std::string file;  ///< as it was called
  std::string name;
  std::string kind;
  std::variant<LcpProblem, CoulombProblem, LpProblem, QpProblem> problem;
};

/// Reads one file: an object with the key `kind`: "lcp" (M, q, optionally n), "coulomb_friction"
/// (W, q, mu, dim, optionally nc), "lp" (c, A, row_lower, row_upper, col_lower, col_upper, with
/// null for a bound that is absent; optionally sense "min" or "max", offset, m, n), "qp" (P, q, A,
/// l, u with null for an absent bound; optionally r, m, n) or "socp" (P, q, A, b and cones, a list
/// of ["zero" | "nonneg" | "second_order", size]; optionally r, m, n). Other keys (source, licence,
/// reference answers) are comments.
/// Errors: InvalidInput naming file, key, position and value, or the kind that is not supported.
CaseProblem read_case(const std::filesystem::path& file);

}  // namespace carom::io
