#include <utility>
#include <variant>

#include <carom/coulomb.hpp>

#include "run/cases.hpp"

namespace carom::run {

// Always on the host, one after the other.
void solve_friction_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  CoulombSettings coulomb_settings;
  coulomb_settings.tolerance = settings.tolerance;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto* problem = std::get_if<CoulombProblem>(&cases[i].problem);
    if (problem == nullptr) continue;
    CoulombResult result = solve_coulomb(*problem, coulomb_settings);
    answers[i].status = result.status;
    answers[i].residual = result.residual;
    answers[i].iterations = result.iterations;
    if (has_answer(result.status)) answers[i].x = std::move(result.reaction);
  }
}

}  // namespace carom::run
