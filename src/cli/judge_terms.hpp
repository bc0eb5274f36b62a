#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cli/exact_sum.hpp"
#include "core/constants.hpp"
#include "io/answers_kept.hpp"
#include "run/cases.hpp"

/// Sums, tolerances and checks shared by all kinds of answers (docs/howto/check_a_proof.md).
namespace carom::cli {

using Numbers = std::vector<double>;

inline constexpr double kRounding =
    1e-8;  // of the largest term of a sum, which is taken for zero below

/// What a judge found wrong, thrown to its end.
struct Refuted {
  std::string reason;
};

template <class... Values>
[[noreturn]] void refute(fmt::format_string<Values...> format, Values&&... values) {
  throw Refuted{fmt::format(format, std::forward<Values>(values)...)};
}

inline double largest(const Numbers& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

/// The sum, zero where it is below the rounding of its largest term; infinite where a term is.
inline double total(const Numbers& terms, double rounding = kRounding) {
  const double sum = exact_sum(terms);
  const double size = std::max(largest(terms), std::numeric_limits<double>::min());
  return std::isfinite(sum) && std::fabs(sum) <= rounding * size ? 0.0 : sum;
}

inline double sum_of_magnitudes(Numbers terms) {
  for (double& term : terms) term = std::fabs(term);
  return exact_sum(terms);
}

/// The rounding up to which the zeros of a proof count as such, whose margin these terms add to:
/// one far below its terms needs zeros that are as much nearer.
inline double zero_for_margin(const Numbers& margin, const char* what) {
  constexpr double kLeastMargin = 1e-13, kOfMargin = 1e-6;
  const double sum = exact_sum(margin);
  if (!(sum < -kLeastMargin * sum_of_magnitudes(margin))) {
    refute("{} is {}: must be < 0, by more than rounding", what, sum);
  }
  return std::min(kRounding, -kOfMargin * sum / largest(margin));
}

/// Whether a sum of products with given factors is no more than what their rounding leaves of zero.
inline bool is_rounding(const Numbers& terms) {
  constexpr double kLeft = 1e-15;
  const double room = kLeft * static_cast<double>(terms.size() + 1);
  return std::fabs(exact_sum(terms)) <= room * sum_of_magnitudes(terms);
}

struct MatrixView {
  const Numbers& values;
  std::size_t rows, columns;

  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
  /// The terms of row i times x.
  [[nodiscard]] Numbers row_by(std::size_t i, const Numbers& x) const {
    Numbers terms(columns);
    for (std::size_t j = 0; j < columns; ++j) terms[j] = at(i, j) * x[j];
    return terms;
  }
  [[nodiscard]] Numbers column_by(std::size_t j, const Numbers& y) const {
    Numbers terms(rows);
    for (std::size_t i = 0; i < rows; ++i) terms[i] = at(i, j) * y[i];
    return terms;
  }
  [[nodiscard]] double largest_of_row(std::size_t i) const {
    double most = 0.0;
    for (std::size_t j = 0; j < columns; ++j) most = std::max(most, std::fabs(at(i, j)));
    return most;
  }
};

/// The terms of a'b.
inline Numbers products(const Numbers& a, const Numbers& b) {
  Numbers terms(b.size());
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = a[i] * b[i];
  return terms;
}

/// a b without error: as two terms.
inline void append_product(Numbers& terms, double a, double b) {
  const double product = a * b;
  terms.push_back(product);
  terms.push_back(std::fma(a, b, -product));
}

/// a b c: as four.
inline void append_product(Numbers& terms, double a, double b, double c) {
  const double product = a * b;
  append_product(terms, product, c);
  append_product(terms, std::fma(a, b, -product), c);
}

inline void append(Numbers& terms, const Numbers& more) {
  terms.insert(terms.end(), more.begin(), more.end());
}

inline Numbers negated(Numbers values) {
  for (double& value : values) value = -value;
  return values;
}

inline void require_within(const Numbers& terms, double low, double high, double room,
                           const std::string& what) {
  for (const double bound : {low, high}) {
    if (std::isinf(bound)) continue;
    Numbers beyond = terms;
    beyond.push_back(-bound);
    const double rest = total(beyond);
    if (bound == low ? rest >= -room : rest <= room) {
      if (bound != low || bound != high) continue;
      if (std::fabs(rest) <= room) continue;
    }
    refute("{} is {}: beyond its bound {}", what, exact_sum(terms), bound);
  }
}

/// Terms of the least of m'v for v within the bounds.
inline Numbers least(const Numbers& m, const Numbers& low, const Numbers& high) {
  Numbers terms;
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (m[i] != 0.0) terms.push_back(m[i] * (m[i] > 0.0 ? low[i] : high[i]));
  }
  return terms;
}

/// Magnitudes of those terms of `least` whose rows may be rounding of the others: a huge bound must
/// not make a margin of them. Rows that share a column of A'm in which each is more than rounding
/// form a group. All rows of a group are meant if it is only rounding in a column of another group.
inline Numbers by_rounding(const MatrixView& a, const Numbers& m, const Numbers& low,
                           const Numbers& high, double share = 1e-15) {
  const double room = share * static_cast<double>(a.rows + 1);
  const auto own = [&](std::size_t i, std::size_t j) { return std::fabs(a.at(i, j) * m[i]); };
  std::vector<std::size_t> group(a.rows);
  std::iota(group.begin(), group.end(), std::size_t{0});
  std::vector<std::size_t> decided(a.columns);  // a row that is more than rounding in each column
  for (std::size_t j = 0; j < a.columns; ++j) {
    const double least = room * sum_of_magnitudes(a.column_by(j, m));
    std::size_t first = a.rows;
    for (std::size_t i = 0; i < a.rows; ++i) {
      if (!(own(i, j) > least)) continue;
      if (first == a.rows) first = i;
      const std::size_t from = group[i], to = group[first];
      if (from != to) std::replace(group.begin(), group.end(), from, to);
    }
    decided[j] = first;
  }
  std::vector<bool> stray(a.rows);  // of a group
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) {
      if (own(i, j) > 0.0 && group[decided[j]] != group[i]) stray[group[i]] = true;
    }
  }
  Numbers terms;
  for (std::size_t i = 0; i < a.rows; ++i) {
    if (m[i] != 0.0 && stray[group[i]]) {
      terms.push_back(std::fabs(m[i] * (m[i] > 0.0 ? low[i] : high[i])));
    }
  }
  return terms;
}

/// m without what its rounding presses against absent bounds.
inline Numbers pressing(Numbers m, const Numbers& low, const Numbers& high) {
  const double room = kRounding * largest(m);
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (std::fabs(m[i]) <= room && std::isinf(m[i] > 0.0 ? low[i] : high[i])) m[i] = 0.0;
  }
  return m;
}

inline bool crossed(const Numbers& low, const Numbers& high) {
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (low[i] > high[i]) return true;
  }
  return false;
}

inline void require_goes_on(double step, double low, double high, const std::string& what) {
  if (!std::isinf(low) && step < 0.0)
    refute("{} is {}: falls below {} far along the ray", what, step, low);
  if (!std::isinf(high) && step > 0.0)
    refute("{} is {}: exceeds {} far along the ray", what, step, high);
}

/// The numbers of a claim, all of which must be used or absent.
class Given {
 public:
  explicit Given(const io::KeptCaseAnswer& claim) : claim_(claim) {}

  const Numbers& take(const char* key, std::size_t count) {
    static const Numbers kNothing;
    const auto found = claim_.numbers.find(key);
    if (found == claim_.numbers.end()) {
      if (count == 0) return kNothing;
      refute("{} is missing", key);
    }
    const Numbers& values = found->second;
    if (values.size() != count) {
      refute("{} has {} numbers: must have {}", key, values.size(), count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(values[i])) refute("{}[{}] is {}: must be finite", key, i, values[i]);
    }
    used_.emplace_back(key);
    return values;
  }
  /// As many as there are; infinite ones are allowed.
  const Numbers& take_all(const char* key) {
    const auto found = claim_.numbers.find(key);
    if (found == claim_.numbers.end()) refute("{} is missing", key);
    used_.emplace_back(key);
    return found->second;
  }
  [[nodiscard]] bool has(const char* key) const { return claim_.numbers.count(key) == 1; }
  double objective() {
    if (!claim_.objective) refute("objective is missing");
    objective_used_ = true;
    return *claim_.objective;
  }
  void require_nothing_else() const {
    for (const auto& [key, values] : claim_.numbers) {
      if (!values.empty() && std::find(used_.begin(), used_.end(), key) == used_.end()) {
        refute("{}: status {} has none, must be null", key, claim_.status);
      }
    }
    if (claim_.objective && !objective_used_) {
      refute("objective: status {} has none, must be null", claim_.status);
    }
  }

 private:
  const io::KeptCaseAnswer& claim_;
  std::vector<std::string> used_;
  bool objective_used_ = false;
};

/// said: of an x with the exact terms of `value` and the slopes of the objective. No more of it may
/// be missing than rounding of x and of the sum explains.
inline void require_objective(Numbers value, const Numbers& x, const Numbers& slopes, double offset,
                              double said) {
  constexpr double kOfValue = 1e-10;  // digits of a sum in doubles
  const double own = exact_sum(value);
  value.push_back(offset);
  const double has = exact_sum(value);
  value.push_back(-said);
  const double rounding = 0x1p-53 * static_cast<double>(x.size() + 4);
  const double room =
      kOfValue * std::fabs(own) +
      rounding * (sum_of_magnitudes(products(slopes, x)) + std::fabs(offset) + std::fabs(has));
  if (!(std::fabs(exact_sum(value)) <= room)) refute("objective is {}: x has {}", said, has);
}

void judge(const run::LcpProblem& lcp, const std::string& status, Given& given);
void judge(const run::BoxedLcpProblem& problem, const std::string& status, Given& given);
/// A tree over the pairs of z_k and w_k that proves `infeasible` (carom/types/lcp_decision.hpp):
/// all sides of every branch are there, and y of each leaf proves that nothing has its sides.
void judge_tree(const run::BoxedLcpProblem& box, Given& given);
void judge(const run::LpProblem& lp, const std::string& status, Given& given);
void judge(const run::QpProblem& qp, bool cones, const std::string& status, Given& given);
void judge(const CoulombProblem& problem, const std::string& status, Given& given);

}  // namespace carom::cli
