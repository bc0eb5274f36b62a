#include <carom/lcp.hpp>

#include <map>
#include <utility>
#include <variant>

#include "core/arrays.hpp"
#include "core/buffer_slice.hpp"
#include "run/cases.hpp"

namespace carom::run {

namespace {

std::vector<double> slacks(const LcpProblem& lcp, const std::vector<double>& z) {
  std::vector<double> w = lcp.vector;
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j < w.size(); ++j) w[i] += lcp.matrix[i * w.size() + j] * z[j];
  }
  return w;
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
      Proof w, farkas;
      if (has_answer(answer.status)) {
        answer.x = slice(result.solution, p, n);
        w = slacks(std::get<LcpProblem>(cases[members[p]].problem), answer.x);
      }
      if (answer.status == Status::infeasible) farkas = slice(result.farkas, p, n);
      answer.proofs = {{"w", std::move(w)}, {"farkas", std::move(farkas)}};
    }
  }
}

}  // namespace carom::run
