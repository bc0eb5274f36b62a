#include <cmath>
#include <string>

#include "cli/judge_terms.hpp"

namespace carom::cli {

using run::BoxedLcpProblem;

namespace {

bool is_friction(const BoxedLcpProblem& problem, std::size_t i) {
  return !problem.findex.empty() && problem.findex[i] >= 0;
}

/// y with the signs that make y'w >= 0 for every answer, and y'(M z + q) < 0 over the box.
void judge_infeasible(const BoxedLcpProblem& problem, Given& given) {
  const std::size_t n = problem.vector.size();
  const MatrixView matrix{problem.matrix, n, n};
  const Numbers& y = given.take("farkas", n);
  Numbers least_terms;
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_friction(problem, i) && problem.lower[i] > problem.upper[i]) return;
    const bool rubs = is_friction(problem, i);
    if (y[i] > 0.0 && (rubs || problem.upper[i] != kInfinity)) {
      refute("farkas[{}] is {}: w[{}] may be negative, must be <= 0", i, y[i], i);
    }
    if (y[i] < 0.0 && (rubs || problem.lower[i] != -kInfinity)) {
      refute("farkas[{}] is {}: w[{}] may be positive, must be >= 0", i, y[i], i);
    }
    least_terms.push_back(problem.vector[i] * y[i]);
  }
  std::vector<Numbers> pulls(n);
  for (std::size_t j = 0; j < n; ++j) append(pulls[j], matrix.column_by(j, y));
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_friction(problem, i)) continue;
    const auto j = static_cast<std::size_t>(problem.findex[i]);
    pulls[j].push_back(problem.friction[i] * std::fabs(exact_sum(matrix.column_by(i, y))));
  }
  std::vector<std::size_t> zeros;  // entries of M'farkas that must be
  for (std::size_t j = 0; j < n; ++j) {
    if (is_friction(problem, j)) continue;
    const double pull = exact_sum(pulls[j]);
    if (pull == 0.0) continue;
    const double bound = pull > 0.0 ? problem.upper[j] : problem.lower[j];
    if (std::isinf(bound)) {
      zeros.push_back(j);
    } else {
      least_terms.push_back(pull * bound);
    }
  }
  const double rounding = zero_for_margin(least_terms, "farkas'(M x + q) in the box");
  for (const std::size_t j : zeros) {
    const double pull = total(pulls[j], rounding);
    if (pull != 0.0) refute("entry {} of M'farkas is {}: x[{}] has no bound", j, pull, j);
  }
}

}  // namespace

void judge(const BoxedLcpProblem& problem, const std::string& status, Given& given) {
  if (status == "infeasible" && given.has("tree")) return judge_tree(problem, given);
  if (status == "infeasible") return judge_infeasible(problem, given);
  if (status != "solved") refute("status {} has no proof for this kind", status);
  const std::size_t n = problem.vector.size();
  const MatrixView matrix{problem.matrix, n, n};
  const Numbers& z = given.take("x", n);
  const Numbers& w = given.take("w", n);
  const bool frozen = problem.law == FrictionLaw::ode;
  static const Numbers kNone;
  const Numbers& limit = problem.findex.empty() ? kNone : given.take("limit", n);
  for (std::size_t i = 0; i < n; ++i) {
    double low = problem.lower[i], high = problem.upper[i];
    if (is_friction(problem, i)) {
      const double own = problem.friction[i] * z[static_cast<std::size_t>(problem.findex[i])];
      if (!frozen && limit[i] != own) {
        refute("limit[{}] is {}: mu x[{}] is {}", i, limit[i], problem.findex[i], own);
      }
      high = limit[i];
      low = -high;
    } else if (!limit.empty() && limit[i] != 0.0) {
      refute("limit[{}] is {}: row {} is no friction row, must be 0", i, limit[i], i);
    }
    if (!(z[i] >= low && z[i] <= high)) {
      refute("x[{}] is {}: must be in {} .. {}", i, z[i], low, high);
    }
    Numbers terms = matrix.row_by(i, z);
    terms.push_back(problem.vector[i]);
    const double own = total(terms);
    if (own > 0.0 && z[i] != low) {
      refute("row {} of M x + q is {} and x[{}] is {}: one must be 0 or x[{}] at its bound {}", i,
             own, i, z[i], i, low);
    }
    if (own < 0.0 && z[i] != high) {
      refute("row {} of M x + q is {} and x[{}] is {}: one must be 0 or x[{}] at its bound {}", i,
             own, i, z[i], i, high);
    }
    terms.push_back(-w[i]);
    if (total(terms) != 0.0) refute("w[{}] is {}: M x + q is {}", i, w[i], own);
  }
}

}  // namespace carom::cli
