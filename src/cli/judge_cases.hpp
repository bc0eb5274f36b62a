#pragma once

#include <string>

#include "cli/verify_report.hpp"
#include "io/answers_kept.hpp"
#include "run/cases.hpp"

/// Verifies answers of `carom solve` from the problem's numbers, as docs/howto/check_a_proof.md:
/// with sums that are rounded once, and without code of the solvers.
namespace carom::cli {

struct Verdict {
  Judgement judgement = Judgement::proven;
  std::string reason;  ///< of a refuted one: what is wrong, with place and value
};

/// Judges status, numbers and objective. Statuses that claim nothing are `unjudged`.
Verdict judge(const run::CaseProblem& problem, const io::KeptCaseAnswer& answer);

}  // namespace carom::cli
