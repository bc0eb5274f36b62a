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

/// One single problem of a file, of the kind that its key `kind` names.
struct CaseProblem {
  std::string name;
  std::string kind;
  std::variant<LcpProblem, CoulombProblem> problem;
};

/// Reads one file: an object with the key `kind`, "lcp" (M, q, optionally n) or "coulomb_friction"
/// (W, q, mu, dim, optionally nc). Other keys (source, licence, reference answers) are comments.
/// Errors: InvalidInput naming file, key, position and value, or the kind that is not supported.
CaseProblem read_case(const std::filesystem::path& file);

}  // namespace carom::io
