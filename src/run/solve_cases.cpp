#include "run/cases.hpp"

namespace carom::run {

CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings) {
  CaseAnswers answers(cases.size());
  solve_lcp_cases(cases, settings, answers);
  solve_boxed_lcp_cases(cases, settings, answers);
  solve_friction_cases(cases, settings, answers);
  solve_lp_cases(cases, settings, answers);
  solve_qp_cases(cases, settings, answers);
  return answers;
}

}  // namespace carom::run
