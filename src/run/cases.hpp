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
#include <carom/types/fields.hpp>

#include "core/buffer_slice.hpp"
#include "run/control.hpp"
#include "run/numbers.hpp"

/// Problems of all kinds, in the order of the files. There is one source file per kind: each
/// function solves the problems of its kind among `cases` and writes answers at the same places.
namespace carom::run {

/// w = M z + q >= 0, z >= 0, z'w = 0.
struct LcpProblem : LcpSizes, LcpBatchArrays<Values> {};

/// A boxed LCP, or a mixed one, whose first `equations` unknowns are free.
struct BoxedLcpProblem : BoxedLcpSizes, BoxedLcpBatchArrays<Values> {
  FrictionLaw law = FrictionLaw::simultaneous;
  int equations = 0;  ///< > 0 only for kind mixed_lcp
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
  std::string file;  ///< its name in error messages
  std::string name;
  std::string kind;
  std::variant<LcpProblem, BoxedLcpProblem, CoulombProblem, LpProblem, QpProblem> problem;
};

/// A vector that proves a status, or none.
using Proof = std::optional<std::vector<double>>;

/// Proof that an LCP or boxed LCP has no answer (carom/lcp_decision.hpp).
struct ProofTree {
  std::vector<double> nodes;   ///< parent, pair and side of each; empty: none
  std::vector<double> leaves;  ///< Farkas vectors, one after the other
  int rows = 0;                ///< length of each
  double bound = 0.0;
};

struct CaseAnswer {
  Status status = Status::cancelled;
  std::vector<double> x;  ///< empty unless solved or inaccurate
  double residual = 0.0;
  int iterations = 0;
  /// As the file's problem has it, offset included; NaN without an answer.
  std::optional<double> objective;
  std::string_view method;  ///< that gave the answer; empty if the kind has only one
  Numbers numbers;          ///< of the kind, as the list of its result's arrays describes them
  ProofTree tree;
  /// Proofs by key: all keys of the kind, for every status. Signs refer to the file's problem.
  std::vector<std::pair<std::string_view, Proof>> proofs;

  /// Those of every kind, then those of its own.
  [[nodiscard]] Numbers all_numbers() const {
    Numbers all = numbers_of(*this);
    all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  }

  /// See carom/types/fields.hpp. What a kind does not have is nullopt or an empty text.
  template <class Visit, class... Tables>
  static void each_field(Visit&& visit, Tables&&... tables) {
    visit(Field{"residual", "number", "", "recomputed residual of the answer or its proof"},
          tables.residual...);
    visit(Field{"iterations", "number", "", "pivots or iterations"}, tables.iterations...);
    visit(
        Field{"objective", "number or null", "", "lp, qp and socp: objective in the file's sense"},
        tables.objective...);
    visit(Field{"method", "text", "", "qp and socp: method that computed the answer"},
          tables.method...);
  }
};

/// Settings from the command line. All kinds use tolerance and threads; the other members apply to
/// qp and socp only.
struct CaseSettings : QpSettings {
  Backend backend = Backend::automatic;
};

/// True if x is an answer that can be printed.
inline bool has_answer(Status status) {
  return status == Status::solved || status == Status::inaccurate;
}

/// The vector as a proof; none if it is NaN, which the library writes if a status has no proof.
inline Proof proven(std::vector<double> values) {
  for (const double value : values) {
    if (value != value) return std::nullopt;
  }
  return values;
}

using Cases = std::vector<CaseProblem>;
using CaseAnswers = std::vector<CaseAnswer>;

/// Solves all problems. Those of one kind and shape form a batch, except friction problems, which
/// are solved on the host one after the other. Errors: InvalidInput, BackendUnavailable.
CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings);

/// The same, with the same bits, in portions of growing size until a second has passed, then all
/// others; `control` is called after each portion. Quadratic programs come last, in one portion.
CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings, const Control& control);

void solve_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_boxed_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_friction_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_lp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);
void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers);

}  // namespace carom::run
