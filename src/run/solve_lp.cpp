#include <carom/lp.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "core/arrays.hpp"
#include "core/buffer_slice.hpp"
#include "run/cases.hpp"

namespace carom::run {

namespace {

// The library minimises: of a maximised objective its multipliers are the negative. A file's own
// satisfy c = A'y + reduced costs in either sense.
Proof own_dual(const LpProblem& lp, Proof y) {
  if (lp.maximise && y) {
    for (double& value : *y) value = 0.0 - value;  // no -0
  }
  return y;
}

Proof reduced_costs(const LpProblem& lp, const Proof& y) {
  if (!y) return std::nullopt;
  std::vector<double> costs = lp.cost;
  for (std::size_t i = 0; i < y->size(); ++i) {
    for (std::size_t j = 0; j < costs.size(); ++j) {
      costs[j] -= lp.matrix[i * costs.size() + j] * (*y)[i];
    }
  }
  return costs;
}

/// Whether a lower bound lies above its upper bound.
bool crossed(const LpProblem& lp) {
  const auto above = [](const std::vector<double>& lower, const std::vector<double>& upper) {
    return !std::equal(lower.begin(), lower.end(), upper.begin(), std::less_equal<>());
  };
  return above(lp.row_lower, lp.row_upper) || above(lp.column_lower, lp.column_upper);
}

}  // namespace

// LPs of one shape are one batch.
void solve_lp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  LpSettings lp_settings;
  lp_settings.tolerance = settings.tolerance;
  lp_settings.threads = settings.threads;
  std::map<std::pair<int, int>, std::vector<std::size_t>> by_shape;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const auto* lp = std::get_if<LpProblem>(&cases[i].problem)) {
      by_shape[{lp->rows, lp->columns}].push_back(i);
    }
  }
  for (const auto& [shape, members] : by_shape) {
    auto batch = allocate<LpBatch>(
        {static_cast<std::int64_t>(members.size()), shape.first, shape.second, 1});
    const auto m = static_cast<std::size_t>(shape.first);
    const auto n = static_cast<std::size_t>(shape.second);
    for (std::size_t p = 0; p < members.size(); ++p) {
      const auto& lp = std::get<LpProblem>(cases[members[p]].problem);
      arrays::place(batch, static_cast<std::int64_t>(p), lp);
      if (!lp.maximise) continue;
      for (double& cost : batch.cost.host().subspan(p * n, n)) cost = -cost;
    }
    const LpResult result = solve_lp(batch, lp_settings, settings.backend);
    for (std::size_t p = 0; p < members.size(); ++p) {
      const auto& lp = std::get<LpProblem>(cases[members[p]].problem);
      CaseAnswer& answer = answers[members[p]];
      answer.status = result.status.host()[p];
      answer.residual = result.residual.host()[p];
      answer.iterations = result.pivots.host()[p];
      answer.objective = kNone;
      answer.numbers = numbers_of(result, batch, p);
      const bool ended = has_answer(answer.status);
      Proof y = ended ? own_dual(lp, proven(slice(result.dual, p, m))) : std::nullopt;
      Proof costs = reduced_costs(lp, y);
      // Crossed bounds need no vector.
      Proof farkas = crossed(lp) ? std::nullopt : proven(slice(result.farkas, p, m));
      answer.proofs = {{"dual", std::move(y)},
                       {"reduced_costs", std::move(costs)},
                       {"farkas", std::move(farkas)},
                       {"point", proven(slice(result.point, p, n))},
                       {"ray", proven(slice(result.ray, p, n))}};
      if (!ended) continue;
      answer.x = slice(result.solution, p, n);
      const double value = result.objective.host()[p];
      answer.objective = (lp.maximise ? -value : value) + lp.offset;
    }
  }
}

}  // namespace carom::run
