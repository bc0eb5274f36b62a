#include "stability/label_program.hpp"

#include "programs/sdp/solver.hpp"

namespace carom::stability {

namespace {

constexpr double kMostSlack = 1.0;
constexpr double kLeastSlack = 1e-7;  ///< errors of the programme's answer are far smaller
constexpr double kEnough = 1e-2;      ///< a slack that needs no improvement
constexpr double kHopeless = -1e-3;   ///< a bound below which no slack is near 0
constexpr double kTolerance = 1e-9;
constexpr int kIterations = 60;

}  // namespace

SdpProblem LabelProgram::programme(double size) const {
  std::size_t extra = 0;
  for (const Condition& c : conditions_) {
    if (c.copositive) extra += static_cast<std::size_t>(c.matrix.n * (c.matrix.n - 1) / 2);
  }
  const std::size_t variables = unknowns_ + extra + 1, last = variables - 1;
  SdpProblem problem;
  problem.objective.assign(variables, 0.0);
  problem.objective[last] = 1.0;
  std::size_t numbers = 0;
  for (const Condition& c : conditions_) numbers += c.matrix.entry.size();
  numbers += extra + 2 * unknowns_ + 1;
  problem.constant.reserve(numbers);
  problem.coefficients.assign(variables * numbers, 0.0);
  // C - sum y A: coefficients with their signs turned
  const auto set = [&](std::size_t variable, std::size_t place, double value) {
    problem.coefficients[variable * numbers + place] = -value;
  };
  const auto scalar = [&](double constant) {
    problem.blocks.push_back(1);
    problem.constant.push_back(constant);
    return problem.constant.size() - 1;
  };
  std::size_t next = unknowns_;
  for (const Condition& c : conditions_) {
    const auto n = static_cast<std::size_t>(c.matrix.n);
    const std::size_t at = problem.constant.size();
    problem.blocks.push_back(c.matrix.n);
    for (std::size_t k = 0; k < n * n; ++k) {
      const Affine& entry = c.matrix.entry[k];
      problem.constant.push_back(entry.constant);
      for (std::size_t i = 0; i < unknowns_; ++i) {
        if (entry.coefficient[i] != 0.0) set(i, at + k, entry.coefficient[i]);
      }
    }
    if (!c.slackless) {
      for (std::size_t i = 0; i < n; ++i) set(last, at + i * n + i, -1.0);
    }
    if (!c.copositive) continue;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        set(next, at + i * n + j, -1.0);
        set(next, at + j * n + i, -1.0);
        ++next;
      }
    }
  }
  for (std::size_t i = unknowns_; i < last; ++i) set(i, scalar(0.0), 1.0);
  for (std::size_t i = 0; i < unknowns_; ++i) {
    set(i, scalar(size), 1.0);
    set(i, scalar(size), -1.0);
  }
  set(last, scalar(kMostSlack), -1.0);
  return problem;
}

LabelProgram::Answer LabelProgram::solve(double size) const {
  const SdpProblem problem = programme(size);
  const std::size_t variables = problem.objective.size(), last = variables - 1;
  SdpSettings settings;
  settings.tolerance = kTolerance;
  settings.max_iterations = kIterations;
  const SdpResult result = sdp::solve(problem, settings, {kEnough, kHopeless});
  Answer answer;
  if (result.y.size() != variables) return answer;
  for (std::size_t i = 0; i < unknowns_; ++i) answer.x[i] = result.y[i];
  answer.slack = result.y[last];
  // However the method ended: what counts is that every condition holds at y with a margin.
  answer.found = answer.slack > kLeastSlack;
  if (!answer.found) return answer;
  answer.slack = sdp::least_slack(problem, result.y, answer.slack);
  answer.found = answer.slack > 0.1 * kLeastSlack;
  return answer;
}

}  // namespace carom::stability
