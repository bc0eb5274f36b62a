#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include <carom/error.hpp>

#include "cli/judge_cases.hpp"
#include "cli/verify_files.hpp"
#include "io/answers_kept.hpp"
#include "io/case_file.hpp"

namespace carom::cli {

VerifyReport verify_answers(const std::string& file, const std::vector<std::string>& problems) {
  io::KeptCaseAnswers kept = io::read_case_answers(file);
  if (kept.problems && !problems.empty()) {
    throw InvalidInput(fmt::format("--problem {}: {} has its problems itself: leave it out",
                                   problems.front(), file));
  }
  if (!kept.problems && problems.empty()) {
    throw InvalidInput(file +
                       ": has answers without their problems: give the files that were solved, "
                       "--problem FILE");
  }
  if (!kept.problems) {
    kept.problems.emplace();
    for (const std::string& name : problems) {
      for (run::CaseProblem& problem : io::read_cases(name)) {
        kept.problems->push_back(std::move(problem));
      }
    }
  }
  if (kept.problems->size() != kept.answers.size()) {
    throw InvalidInput(fmt::format("{} has {} answers, --problem {} problems: must be equal", file,
                                   kept.answers.size(), kept.problems->size()));
  }
  VerifyReport report{"solve", "answers", kept.answers.size(), {}, {}, {}};
  for (std::size_t i = 0; i < kept.answers.size(); ++i) {
    const io::KeptCaseAnswer& answer = kept.answers[i];
    const Verdict verdict = judge((*kept.problems)[i], answer);
    report.add(answer.status, verdict.judgement);
    if (verdict.judgement == Judgement::refuted) report.refute(i, verdict.reason);
    if (verdict.judgement == Judgement::unjudged) {
      report.leave_out(fmt::format("everything of answers of status {}", answer.status));
    }
  }
  for (const std::string& field : kept.other_fields) report.leave_out(field);
  return report;
}

}  // namespace carom::cli
