#include <algorithm>
#include <chrono>
#include <numeric>
#include <variant>
#include <vector>

#include "run/cases.hpp"

namespace carom::run {

namespace {
constexpr std::ptrdiff_t kFirst = 16;  // problems
constexpr auto kMeasured = std::chrono::seconds(1);
}  // namespace

CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings) {
  CaseAnswers answers(cases.size());
  solve_lcp_cases(cases, settings, answers);
  solve_boxed_lcp_cases(cases, settings, answers);
  solve_friction_cases(cases, settings, answers);
  solve_lp_cases(cases, settings, answers);
  solve_qp_cases(cases, settings, answers);
  return answers;
}

CaseAnswers solve_cases(const Cases& cases, const CaseSettings& settings, const Control& control) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The last bits of a quadratic program depend on its batch: they stay together, at the end.
  const auto quadratic = std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
    return !std::holds_alternative<QpProblem>(cases[i].problem);
  });
  CaseAnswers answers(cases.size());
  std::ptrdiff_t done = 0;
  for (auto first = order.begin(), last = first; first != order.end(); first = last) {
    const bool measured = std::chrono::steady_clock::now() - start >= kMeasured;
    last = first == quadratic ? order.end()
           : measured         ? quadratic
                              : first + std::min(quadratic - first, std::max(kFirst, done));
    Cases some;
    for (auto i = first; i != last; ++i) some.push_back(cases[*i]);
    CaseAnswers of_some = solve_cases(some, settings);
    for (auto i = first; i != last; ++i) {
      answers[*i] = std::move(of_some[static_cast<std::size_t>(i - first)]);
    }
    done = last - order.begin();
    control.show(done, static_cast<std::int64_t>(cases.size()));
  }
  return answers;
}

}  // namespace carom::run
