#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cli/judge_terms.hpp"

namespace carom::cli {

using run::LpProblem;

namespace {

constexpr double kLeastMargin = 1e-13;  // of a contradiction's terms

/// Linear programs.
class LinearJudge {
 public:
  LinearJudge(const LpProblem& lp, Given& given)
      : lp_(lp),
        given_(given),
        m_(static_cast<std::size_t>(lp.rows)),
        n_(static_cast<std::size_t>(lp.columns)),
        a_{lp.matrix, m_, n_},
        sign_(lp.maximise ? -1.0 : 1.0) {}

  void judge(const std::string& status) {
    if (status == "solved") return solved();
    if (status == "infeasible") return infeasible();
    if (status == "unbounded") return unbounded();
    refute("status {} has no proof for this kind", status);
  }

 private:
  void solved() {
    const Numbers& given = given_.take("x", n_);
    Numbers signed_y = given_.take("dual", m_);
    for (double& value : signed_y) value *= sign_;
    signed_y = pressing(std::move(signed_y), lp_.row_lower, lp_.row_upper);
    Numbers y = signed_y;
    for (double& value : y) value *= sign_;
    const Numbers& said = given_.take("reduced_costs", n_);
    Numbers x = given;
    for (std::size_t j = 0; j < n_; ++j) {
      x[j] = std::min(std::max(x[j], lp_.column_lower[j]), lp_.column_upper[j]);
    }
    const double room = kRounding * largest(x);
    for (std::size_t j = 0; j < n_; ++j) {
      if (!(std::fabs(x[j] - given[j]) <= room))
        refute("x[{}] is {}: beyond its bound {}", j, given[j], x[j]);
    }
    require_rows(x);
    Numbers costs(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      Numbers terms = a_.column_by(j, negated(y));
      terms.push_back(lp_.cost[j]);
      const bool held = std::isfinite(lp_.column_lower[j]) && std::isfinite(lp_.column_upper[j]) &&
                        !is_rounding(terms);
      costs[j] = sign_ * (held ? exact_sum(terms) : total(terms));
      terms.push_back(-said[j]);
      if (total(terms) != 0.0) {
        refute("reduced_costs[{}] is {}: c - A'y is {}", j, said[j], sign_ * costs[j]);
      }
    }
    Numbers gap, value;
    for (std::size_t j = 0; j < n_; ++j) {
      gap.push_back(sign_ * lp_.cost[j] * x[j]);
      append_product(value, lp_.cost[j], given[j]);
    }
    append(gap, negated(least(signed_y, lp_.row_lower, lp_.row_upper)));
    append(gap, negated(least(costs, lp_.column_lower, lp_.column_upper)));
    const double rest = total(gap);
    if (!(rest == 0.0)) refute("the dual bound misses the objective of x by {}", rest);
    require_objective(value, given, lp_.cost, lp_.offset, given_.objective());
  }

  void infeasible() {
    if (!given_.has("farkas") &&
        (crossed(lp_.row_lower, lp_.row_upper) || crossed(lp_.column_lower, lp_.column_upper))) {
      return;
    }
    const Numbers& y = given_.take("farkas", m_);
    Numbers g(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      const Numbers pull = a_.column_by(j, y);
      g[j] = is_rounding(pull) ? 0.0 : -exact_sum(pull);
    }
    Numbers terms = least(y, lp_.row_lower, lp_.row_upper);
    append(terms, least(g, lp_.column_lower, lp_.column_upper));
    const double surplus = exact_sum(terms);
    if (!(surplus > kLeastMargin * sum_of_magnitudes(terms))) {
      refute("farkas: its rows ask for {} more than columns allow", surplus);
    }
    const double rounded = largest(by_rounding(a_, y, lp_.row_lower, lp_.row_upper, 1e-16));
    if (!(2.0 * static_cast<double>(m_) * rounded <= surplus)) {
      refute("farkas: rounding of A'farkas adds {}: the contradiction is {}", rounded, surplus);
    }
  }

  void unbounded() {
    const Numbers& x = given_.take("point", n_);
    const Numbers& r = given_.take("ray", n_);
    require_rows(x);
    Numbers fall = products(lp_.cost, r);
    for (double& term : fall) term *= sign_;
    const double zero = zero_for_margin(fall, "the objective's fall along the ray");
    for (std::size_t j = 0; j < n_; ++j) {
      require_within({x[j]}, lp_.column_lower[j], lp_.column_upper[j], 0.0,
                     fmt::format("point[{}]", j));
      require_goes_on(r[j], lp_.column_lower[j], lp_.column_upper[j], fmt::format("ray[{}]", j));
    }
    for (std::size_t i = 0; i < m_; ++i) {
      require_goes_on(total(a_.row_by(i, r), zero), lp_.row_lower[i], lp_.row_upper[i],
                      fmt::format("row {} along the ray", i));
    }
  }

  void require_rows(const Numbers& x) const {
    for (std::size_t i = 0; i < m_; ++i) {
      require_within(a_.row_by(i, x), lp_.row_lower[i], lp_.row_upper[i], 0.0,
                     fmt::format("row {}", i));
    }
  }

  const LpProblem& lp_;
  Given& given_;
  std::size_t m_, n_;
  MatrixView a_;
  double sign_;
};

}  // namespace

void judge(const LpProblem& lp, const std::string& status, Given& given) {
  LinearJudge(lp, given).judge(status);
}

}  // namespace carom::cli
