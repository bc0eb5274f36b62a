#pragma once

#include <optional>
#include <string>
#include <vector>

#include <carom/backend.hpp>
#include <carom/status.hpp>

#include "io/case_file.hpp"

/// `carom solve`, one file per kind of problem: each function looks for its own kind among `cases`
/// and fills the answers at the same places.
namespace carom::cli {

struct CaseAnswer {
  Status status = Status::cancelled;
  std::vector<double> x;  ///< empty unless solved or inaccurate
  double residual = 0.0;
  int iterations = 0;
  bool has_objective = false;       ///< whether the kind has one at all
  std::optional<double> objective;  ///< in the file's own sense, offset included
};

/// What all kinds are told by the command line.
struct CaseSettings {
  double tolerance = 1e-9;
  int threads = 0;
  Backend backend = Backend::automatic;
};

/// True where x is worth printing.
inline bool has_answer(Status status) {
  return status == Status::solved || status == Status::inaccurate;
}

using Cases = std::vector<io::CaseProblem>;
using CaseAnswers = std::vector<CaseAnswer>;

void solve_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_friction_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_lp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);

}  // namespace carom::cli
