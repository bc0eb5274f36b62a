#include <carom/sdp.hpp>

#include <cmath>
#include <string>

#include "core/parallel.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/sdp/judge.hpp"

namespace carom {

namespace {

void require_symmetric(const SdpProblem& problem, const double* matrix, const char* field,
                       std::int64_t variable, const Refusal& whose) {
  std::size_t at = 0;
  for (const int n : problem.blocks) {
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double a = matrix[at + i * size + j], b = matrix[at + j * size + i];
        if (a == b) continue;
        std::vector<std::int64_t> index{static_cast<std::int64_t>(at + i * size + j)};
        if (variable >= 0) index.insert(index.begin(), variable);
        require::refuse(whose, field, index, settings::shown(a), "must be symmetric");
      }
    }
    at += size * size;
  }
}

void check(const SdpProblem& problem, std::int64_t index) {
  const Refusal whose{.problem = index};
  std::size_t size = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const int n = problem.blocks[i];
    if (n < 1 || n > kMaxSdpBlock) {
      require::refuse(whose, "blocks", {static_cast<std::int64_t>(i)}, std::to_string(n),
                      "must be in 1.." + std::to_string(kMaxSdpBlock));
    }
    size += static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  }
  const std::size_t variables = problem.objective.size();
  require::at_least("blocks", static_cast<std::int64_t>(problem.blocks.size()), 1, whose);
  require::at_least("objective", static_cast<std::int64_t>(variables), 1, whose);
  require::size("constant", problem.constant.size(), size, whose);
  require::size("coefficients", problem.coefficients.size(), variables * size, whose);
  require::finite("objective", problem.objective.data(), variables, 0, whose);
  require::finite("constant", problem.constant.data(), size, 0, whose);
  require::finite("coefficients", problem.coefficients.data(), variables * size,
                  static_cast<std::int64_t>(size), whose);
  require_symmetric(problem, problem.constant.data(), "constant", -1, whose);
  for (std::size_t i = 0; i < variables; ++i) {
    require_symmetric(problem, problem.coefficients.data() + i * size, "coefficients",
                      static_cast<std::int64_t>(i), whose);
  }
}

}  // namespace

void SdpSettings::validate() const { require::settings(*this); }

std::vector<SdpResult> solve_sdps(std::span<const SdpProblem> problems,
                                  const SdpSettings& settings) {
  settings.validate();
  for (std::size_t i = 0; i < problems.size(); ++i)
    check(problems[i], static_cast<std::int64_t>(i));
  std::vector<SdpResult> results(problems.size());
  parallel_for_each(static_cast<std::int64_t>(problems.size()), settings.threads,
                    [&](std::int64_t i) {
                      const auto k = static_cast<std::size_t>(i);
                      results[k] = sdp::solve_judged(problems[k], settings);
                    });
  return results;
}

SdpResult solve_sdp(const SdpProblem& problem, const SdpSettings& settings) {
  return solve_sdps({&problem, 1}, settings).front();
}

}  // namespace carom
