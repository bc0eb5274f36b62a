#pragma once

#include <string>

#include "cli/verify_report.hpp"
#include "io/answers_kept.hpp"
#include "run/cases.hpp"

/// Answers of `carom solve` judged only from the problem's numbers, as docs/howto/check_a_proof.md
/// does it: by sums rounded once, and by nothing of what solved the problem.
namespace carom::cli {

struct Verdict {
  Judgement judgement = Judgement::proven;
  std::string reason;  ///< of a refuted one: what is wrong, with place and value
};

/// Judges status, numbers and objective. Statuses that claim nothing are `unjudged`.
Verdict judge(const run::CaseProblem& problem, const io::KeptCaseAnswer& answer);

}  // namespace carom::cli
