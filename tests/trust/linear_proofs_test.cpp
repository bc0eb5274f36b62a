#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <carom/lp.hpp>

#include "support/from_environment.hpp"
#include "support/lp_problems.hpp"

// Linear programs whose truth is known by construction and lies close to another one: rows that all
// but repeat each other, contradictions by little, numbers that are rounding. What is said is true
// beyond the rule on digits (docs/explanation/lp.md), and few are left open.
namespace carom {
namespace {

using test::batch_of;
using test::Generator;
using test::Lp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LinearProofs, PublicReportsAreWhatTheyAre) {
  for (const nlohmann::json& json : test::stored("lp_reports")) {
    SCOPED_TRACE(json.at("name").get<std::string>());
    const Lp lp = test::lp_from(json);
    const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
    const Status status = result.status.host()[0];
    const std::string expected = json.at("expected_status");
    EXPECT_EQ(to_string(status), expected);
    if (status != Status::solved) continue;
    const double objective = json.at("objective");
    EXPECT_NEAR(result.objective.host()[0], objective, 1e-14 * std::abs(objective));
  }
}

/// Rows and columns that ask for `margin` more than others allow, in three forms.
Lp contradiction(Generator& random, int form, double margin) {
  const int n = form == 0 ? random.integer(2, 6) : 1;
  Lp lp;
  lp.columns = n;
  lp.rows = form == 2 ? 1 : 2;
  for (int j = 0; j < n; ++j) {
    lp.cost.push_back(random.integer(-2, 2));
    lp.column_lower.push_back(0.0);
    lp.column_upper.push_back(form == 2 ? 1.0 - margin : kInfinity);
  }
  for (int i = 0; i < lp.rows; ++i)
    lp.matrix.insert(lp.matrix.end(), static_cast<std::size_t>(n), 1.0);
  lp.row_lower = {1.0, -kInfinity};
  lp.row_upper = {kInfinity, 1.0 - margin};
  lp.row_lower.resize(static_cast<std::size_t>(lp.rows));
  lp.row_upper.resize(static_cast<std::size_t>(lp.rows));
  return lp;
}

TEST(LinearProofs, ContradictionsByLittleAreInfeasible) {
  Generator random(38);
  for (int k = 0; k < test::from_environment("CAROM_TRUST_PROBLEMS", 600); ++k) {
    const double margin = std::pow(10.0, -14.0 * random.unit());
    const Lp lp = contradiction(random, k % 3, margin);
    const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
    SCOPED_TRACE("form " + std::to_string(k % 3) + ", margin " + std::to_string(margin * 1e9) +
                 "e-9");
    const Status status = result.status.host()[0];
    if (margin > 1e-9) {
      EXPECT_EQ(status, Status::infeasible);
    } else {
      EXPECT_TRUE(status == Status::infeasible || status == Status::solved ||
                  status == Status::unbounded)
          << to_string(status);
    }
    test::expect_proven(lp, result, 0);
  }
}

// The second row is the first one but for a column far away, on which all depends: without a bound
// it makes the problem feasible at 3 / difference, with one it need not.
TEST(LinearProofs, RowsThatAllButRepeatEachOther) {
  Generator random(6);
  int open = 0;
  int infeasible = 0;
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 600);
  for (int k = 0; k < problems; ++k) {
    const int n = random.integer(2, 5);
    const double difference = std::ldexp(1.0, -random.integer(13, 49));
    const bool bounded = random.integer(0, 1) == 1;
    Lp lp;
    lp.rows = 2;
    lp.columns = n;
    std::vector<double> row;
    for (int j = 0; j < n; ++j) {
      row.push_back(random.integer(1, 3));
      lp.cost.push_back(random.integer(-1, 1));
      lp.column_lower.push_back(random.integer(0, 1) == 1 ? -kInfinity : random.integer(-3, 0));
      lp.column_upper.push_back(bounded ? random.integer(1, 100) : kInfinity);
    }
    lp.matrix = row;
    row[0] *= 1.0 + difference;
    lp.matrix.insert(lp.matrix.end(), row.begin(), row.end());
    // a x <= 1, a x + a_0 difference x_0 >= 4: x_0 is 3 / (a_0 difference) or more.
    lp.row_lower = {-kInfinity, 4.0};
    lp.row_upper = {1.0, kInfinity};
    // Others make up for a large x_0 where they may fall without end.
    bool feasible = 3.0 / (lp.matrix[0] * difference) <= lp.column_upper[0];
    bool falls = false;
    for (int j = 1; j < n; ++j) falls |= lp.column_lower[static_cast<std::size_t>(j)] == -kInfinity;
    feasible = feasible && falls;
    const Status status = solve_lp(batch_of({lp}), {}, Backend::cpu).status.host()[0];
    SCOPED_TRACE(k);
    if (feasible) {
      EXPECT_NE(status, Status::infeasible) << difference;
    } else {
      EXPECT_TRUE(status != Status::solved && status != Status::unbounded) << to_string(status);
      infeasible += status == Status::infeasible ? 1 : 0;
      open += status == Status::infeasible ? 0 : 1;
    }
  }
  EXPECT_GT(infeasible, problems / 3);
  EXPECT_LE(open, problems / 20);
}

/// A row is minus a combination of three others but for the rounding of its entries, and asks for
/// `margin` more than they allow. In exact arithmetic some have a point at margin / 1e-17, which no
/// doubles name: every solver calls them infeasible, and the rule on digits does.
Lp contradiction_but_for_rounding(Generator& random, double& margin) {
  const int n = random.integer(2, 16);
  const int m = n + 3;
  margin = std::pow(10.0, -1.0 - 4.0 * random.unit());
  Lp lp;
  lp.columns = n;
  lp.rows = m + 1;
  lp.cost.assign(static_cast<std::size_t>(n), 0.0);
  lp.column_lower.assign(static_cast<std::size_t>(n), -kInfinity);
  lp.column_upper.assign(static_cast<std::size_t>(n), kInfinity);
  lp.row_lower.assign(static_cast<std::size_t>(m + 1), -kInfinity);
  for (int e = 0; e < m * n; ++e) lp.matrix.push_back(2.0 * random.unit() - 1.0);
  for (int i = 0; i < m; ++i) lp.row_upper.push_back(random.unit());
  std::vector<double> last(static_cast<std::size_t>(n), 0.0);
  double bound = -margin;
  for (int i = 0; i < 3; ++i) {
    const double weight = 0.2 + 0.8 * random.unit();
    for (int j = 0; j < n; ++j) {
      last[static_cast<std::size_t>(j)] -= weight * lp.matrix[static_cast<std::size_t>(i * n + j)];
    }
    bound -= weight * lp.row_upper[static_cast<std::size_t>(i)];
  }
  lp.matrix.insert(lp.matrix.end(), last.begin(), last.end());
  lp.row_upper.push_back(bound);
  return lp;
}

TEST(LinearProofs, ContradictionsButForRounding) {
  Generator random(static_cast<unsigned>(test::from_environment("CAROM_TRUST_SEED", 1)));
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 600);
  int open = 0;
  for (int k = 0; k < problems; ++k) {
    double margin = 0.0;
    const Lp lp = contradiction_but_for_rounding(random, margin);
    const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
    const Status status = result.status.host()[0];
    SCOPED_TRACE("problem " + std::to_string(k) + ", " + std::to_string(lp.columns) +
                 " columns, margin " + std::to_string(1e6 * margin) +
                 "e-6: " + std::string(to_string(status)));
    EXPECT_TRUE(status == Status::infeasible || status == Status::numerical_error);
    test::expect_proven(lp, result, 0);
    open += status == Status::infeasible ? 0 : 1;
  }
  EXPECT_LE(open, problems / 100);
}

// By 13e-6, where an x of 1e4 misses a row by 4e-10 of its terms.
TEST(LinearProofs, AContradictionThatAFarPointHides) {
  Generator random(200);
  double margin = 0.0;
  Lp lp;
  for (int k = 0; k <= 325; ++k) lp = contradiction_but_for_rounding(random, margin);
  EXPECT_NEAR(margin, 13.07e-6, 1e-8);
  const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
  EXPECT_EQ(to_string(result.status.host()[0]), "infeasible");
  test::expect_proven(lp, result, 0);
}

// A bound that is rounding in place of zero is no unit of its row.
TEST(LinearProofs, NoiseInPlaceOfZeros) {
  Generator random(11);
  for (int k = 0; k < 200; ++k) {
    const double noise = std::pow(10.0, -15.5 - 1.5 * random.unit());
    Lp lp;
    lp.rows = 3;
    lp.columns = 3;
    lp.cost = {-1.0, -1.0, -1.0};
    const double a = random.unit() + 0.5;
    const double b = random.unit() + 0.5;
    lp.matrix = {a, -b, 0.0, 0.0, b, -a, 1.0, 1.0, 1.0};
    lp.row_lower = {noise, -noise, -kInfinity};
    lp.row_upper = {noise, -noise, 3.0};
    lp.column_lower = {0.0, 0.0, 0.0};
    lp.column_upper = {kInfinity, kInfinity, kInfinity};
    const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
    EXPECT_EQ(result.status.host()[0], Status::solved) << noise;
    EXPECT_NEAR(result.objective.host()[0], -3.0, 1e-14);
  }
}

}  // namespace
}  // namespace carom
