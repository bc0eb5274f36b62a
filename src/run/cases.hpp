#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <carom/backend.hpp>
#include <carom/boxed_lcp.hpp>
#include <carom/coulomb.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>
#include <carom/status.hpp>

#include "core/buffer_slice.hpp"
#include "run/control.hpp"

/// Problems of all kinds side by side, as files hold them. One source file per kind: each function
/// looks for its own kind among `cases` and fills the answers at the same places.
namespace carom::run {

/// w = M z + q >= 0, z >= 0, z'w = 0.
struct LcpProblem : LcpSizes, LcpBatchArrays<Values> {};

/// A boxed LCP, or a mixed one, whose first `equations` unknowns are free.
struct BoxedLcpProblem : BoxedLcpSizes, BoxedLcpBatchArrays<Values> {
  FrictionLaw law = FrictionLaw::simultaneous;
  int equations = 0;  ///< of a file of kind mixed_lcp
};

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

/// One problem of a file, of the kind that its key `kind` names.
struct CaseProblem {
  std::string file;  ///< as refusals call it
  std::string name;
  std::string kind;
  std::variant<LcpProblem, BoxedLcpProblem, CoulombProblem, LpProblem, QpProblem> problem;
};

/// Numbers that a reader needs to check a verdict, or none.
using Proof = std::optional<std::vector<double>>;

/// Proof of an LCP or a boxed one without an answer (carom/lcp_decision.hpp).
struct ProofTree {
  std::vector<double> nodes;   ///< parent, pair and side of each; empty: none
  std::vector<double> leaves;  ///< Farkas' vectors one after the other
  int rows = 0;                ///< of each
  double bound = 0.0;
};

struct CaseAnswer {
  Status status = Status::cancelled;
  std::vector<double> x;  ///< empty unless solved or inaccurate
  double residual = 0.0;
  int iterations = 0;
  bool has_objective = false;         ///< whether the kind has one at all
  std::optional<double> objective;    ///< in the file's own sense, offset included
  std::optional<double> limit_error;  ///< of boxed LCPs with the law ode, and only of those
  std::string_view method;  ///< the one that gave the answer; empty where there is one only
  ProofTree tree;
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

using Cases = std::vector<CaseProblem>;
using CaseAnswers = std::vector<CaseAnswer>;

/// Solves all of them, those of one shape as one batch, but for friction problems, which are solved
/// on the host one after the other. Errors: InvalidInput, BackendUnavailable.
CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings);

/// The same bits, first a few, then twice as many again and again, until a second has passed, and
/// all others; the caller is told after each. Quadratic programs come last, all of them together.
CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings, const Control& control);

void solve_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_boxed_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_friction_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_lp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);

}  // namespace carom::run
