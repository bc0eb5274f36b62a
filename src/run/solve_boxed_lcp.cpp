#include <carom/boxed_lcp.hpp>
#include <carom/lcp_decision.hpp>

#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/arrays.hpp"
#include "core/buffer_slice.hpp"
#include "run/decision.hpp"

namespace carom::run {

namespace {

/// mu_i z_j of friction rows, zero in others.
std::vector<double> limits(const BoxedLcpProblem& box, const std::vector<double>& z) {
  std::vector<double> limit(z.size(), 0.0);
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (box.findex[i] >= 0) limit[i] = box.friction[i] * z[static_cast<std::size_t>(box.findex[i])];
  }
  return limit;
}

/// Decides what the paths left open: an answer, or a tree that proves that there is none.
bool decide(const BoxedLcpProblem& box, const CaseSettings& settings, CaseAnswer& answer,
            Proof& farkas) {
  auto batch = allocate<BoxedLcpBatch>({1, box.order}, MemorySpace::host, !box.findex.empty());
  arrays::place(batch, 0, box);
  LcpDecisionSettings chosen;
  chosen.tolerance = settings.tolerance;
  chosen.threads = settings.threads;
  return take_decision(decide_boxed_lcp(batch, chosen).front(), box.vector.size(), answer, farkas);
}

}  // namespace

// Boxed LCPs of one order, with or without friction rows, are one batch.
void solve_boxed_lcp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  std::map<std::tuple<int, bool, FrictionLaw>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const auto* own = std::get_if<BoxedLcpProblem>(&cases[i].problem)) {
      groups[{own->order, !own->findex.empty(), own->law}].push_back(i);
    }
  }
  for (const auto& [shape, members] : groups) {
    const auto& [order, friction, law] = shape;
    BoxedLcpSettings chosen;
    chosen.tolerance = settings.tolerance;
    chosen.threads = settings.threads;
    chosen.friction_law = law;
    auto batch = allocate<BoxedLcpBatch>({static_cast<std::int64_t>(members.size()), order},
                                         MemorySpace::host, friction);
    for (std::size_t p = 0; p < members.size(); ++p) {
      const auto& own = std::get<BoxedLcpProblem>(cases[members[p]].problem);
      arrays::place(batch, static_cast<std::int64_t>(p), own);
    }
    const BoxedLcpResult result = solve_boxed_lcp(batch, chosen, settings.backend);
    const auto n = static_cast<std::size_t>(order);
    for (std::size_t p = 0; p < members.size(); ++p) {
      const auto& own = std::get<BoxedLcpProblem>(cases[members[p]].problem);
      CaseAnswer& answer = answers[members[p]];
      answer.status = result.status.host()[p];
      answer.residual = result.residual.host()[p];
      answer.iterations = result.pivots.host()[p];
      answer.numbers = numbers_of(result, batch, p);
      if (law != FrictionLaw::ode) {  // no error, as the limits are those of the answer
        std::erase_if(answer.numbers, [](const Number& number) {
          return std::string_view(number.field.name) == "limit_error";
        });
      }
      Proof w, farkas, limit;
      if (has_answer(answer.status)) {
        answer.x = slice(result.solution, p, n);
        w = slice(result.slack, p, n);
      }
      if (answer.status == Status::infeasible) farkas = slice(result.farkas, p, n);
      if (friction && has_answer(answer.status)) {
        limit = slice(result.limit, p, n);
        for (std::size_t i = 0; i < n; ++i) {
          if (own.findex[i] < 0) (*limit)[i] = 0.0;
        }
      }
      if (is_open(answer.status) && law == FrictionLaw::simultaneous &&
          decide(own, settings, answer, farkas)) {
        w.reset();
        limit.reset();
        if (answer.status == Status::solved) {
          w = slacks(own, answer.x);
          if (friction) limit = limits(own, answer.x);
        }
      }
      answer.proofs = {{"w", std::move(w)}, {"farkas", std::move(farkas)}};
      if (friction) answer.proofs.emplace_back("limit", std::move(limit));
    }
  }
}

}  // namespace carom::run
