#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/backend.hpp>
#include <carom/qp.hpp>
#include <carom/status.hpp>

#include "io/case_file.hpp"

/// `carom solve`, one file per kind of problem: each function looks for its own kind among `cases`
/// and fills the answers at the same places.
namespace carom::cli {

/// Numbers that a reader needs to check a verdict, or none.
using Proof = std::optional<std::vector<double>>;

struct CaseAnswer {
  Status status = Status::cancelled;
  std::vector<double> x;  ///< empty unless solved or inaccurate
  double residual = 0.0;
  int iterations = 0;
  bool has_objective = false;       ///< whether the kind has one at all
  std::optional<double> objective;  ///< in the file's own sense, offset included
  std::string_view method;          ///< the one that gave the answer; empty where there is one only
  /// By their keys, those of its kind whatever the status; for the file's own problem and sense.
  std::vector<std::pair<std::string_view, Proof>> proofs;
};

/// What all kinds are told by the command line: of QpSettings tolerance and threads, qp and socp
/// the rest.
struct CaseSettings : QpSettings {
  Backend backend = Backend::automatic;
};

/// True where x is worth printing.
inline bool has_answer(Status status) {
  return status == Status::solved || status == Status::inaccurate;
}

/// The library writes NaN where a status leaves no such vector.
inline Proof proven(std::vector<double> values) {
  for (const double value : values) {
    if (value != value) return std::nullopt;
  }
  return values;
}

using Cases = std::vector<io::CaseProblem>;
using CaseAnswers = std::vector<CaseAnswer>;

void solve_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_friction_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_lp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);

}  // namespace carom::cli
