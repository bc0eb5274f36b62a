#include "cli/judge_cases.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "cli/judge_terms.hpp"
#include "core/words.hpp"

namespace carom::cli {

namespace {

constexpr std::array<Status, 5> kClaims = {Status::solved, Status::infeasible, Status::unbounded,
                                           Status::nonconvex, Status::no_interior};

}  // namespace

Verdict judge(const run::CaseProblem& problem, const io::KeptCaseAnswer& claim) {
  Given given(claim);
  try {
    if (claim.kind != problem.kind) {
      refute("kind is {}: the problem's is {}", claim.kind, problem.kind);
    }
    const std::optional<Status> status = value_of<Status>(claim.status);
    if (!status) refute("status is \"{}\": must be one of {}", claim.status, listed<Status>());
    if (std::find(kClaims.begin(), kClaims.end(), *status) == kClaims.end()) {
      return {Judgement::unjudged, {}};
    }
    if (const auto* lcp = std::get_if<run::LcpProblem>(&problem.problem)) {
      judge(*lcp, claim.status, given);
    } else if (const auto* box = std::get_if<run::BoxedLcpProblem>(&problem.problem)) {
      judge(*box, claim.status, given);
    } else if (const auto* lp = std::get_if<run::LpProblem>(&problem.problem)) {
      judge(*lp, claim.status, given);
    } else if (const auto* qp = std::get_if<run::QpProblem>(&problem.problem)) {
      judge(*qp, problem.kind == "socp", claim.status, given);
    } else {
      judge(std::get<CoulombProblem>(problem.problem), claim.status, given);
    }
    given.require_nothing_else();
  } catch (const Refuted& refuted) {
    return {Judgement::refuted, refuted.reason};
  }
  return {};
}

}  // namespace carom::cli
