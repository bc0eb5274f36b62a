#include <carom/lcp.hpp>
#include <carom/lcp_decision.hpp>

#include <map>
#include <utility>
#include <variant>

#include "core/arrays.hpp"
#include "core/buffer_slice.hpp"
#include "run/decision.hpp"

namespace carom::run {

namespace {

/// What the method left open, decided: an answer, or a tree that proves that there is none.
void decide(const LcpProblem& lcp, const CaseSettings& settings, CaseAnswer& answer,
            Proof& farkas) {
  auto batch = allocate<LcpBatch>({1, lcp.order});
  arrays::place(batch, 0, lcp);
  LcpDecisionSettings chosen;
  chosen.tolerance = settings.tolerance;
  chosen.threads = settings.threads;
  take_decision(decide_lcp(batch, chosen).front(), lcp.vector.size(), answer, farkas);
}

}  // namespace

// LCPs of one order are one batch.
void solve_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  LcpSettings lcp_settings;
  lcp_settings.tolerance = settings.tolerance;
  lcp_settings.threads = settings.threads;
  std::map<int, std::vector<std::size_t>> by_order;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const auto* lcp = std::get_if<LcpProblem>(&cases[i].problem)) {
      by_order[lcp->order].push_back(i);
    }
  }
  for (const auto& [order, members] : by_order) {
    auto batch = allocate<LcpBatch>({static_cast<std::int64_t>(members.size()), order});
    for (std::size_t p = 0; p < members.size(); ++p) {
      arrays::place(batch, static_cast<std::int64_t>(p),
                    std::get<LcpProblem>(cases[members[p]].problem));
    }
    const LcpResult result = solve_lcp(batch, lcp_settings, settings.backend);
    const auto n = static_cast<std::size_t>(order);
    for (std::size_t p = 0; p < members.size(); ++p) {
      CaseAnswer& answer = answers[members[p]];
      answer.status = result.status.host()[p];
      answer.residual = result.residual.host()[p];
      answer.iterations = result.pivots.host()[p];
      answer.numbers = numbers_of(result, batch, p);
      Proof w, farkas;
      if (has_answer(answer.status)) {
        answer.x = slice(result.solution, p, n);
        w = slacks(std::get<LcpProblem>(cases[members[p]].problem), answer.x);
      }
      if (answer.status == Status::infeasible) farkas = slice(result.farkas, p, n);
      if (is_open(answer.status)) {
        const auto& lcp = std::get<LcpProblem>(cases[members[p]].problem);
        decide(lcp, settings, answer, farkas);
        if (answer.status == Status::solved) w = slacks(lcp, answer.x);
      }
      answer.proofs = {{"w", std::move(w)}, {"farkas", std::move(farkas)}};
    }
  }
}

}  // namespace carom::run
