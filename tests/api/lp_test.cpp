#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/backend.hpp>
#include <carom/lp.hpp>

#include "core/constants.hpp"
#include "support/folders.hpp"
#include "support/lp_problems.hpp"
#include "support/message.hpp"
#include "support/qp_cases.hpp"

namespace carom {
namespace {

using test::batch_of;
using test::expect_names;
using test::Lp;
using test::refusal;

/// max x + 2 y + 3 z over x + 2 z <= 3, y + 2 z <= 2, all >= 0: 7 at (3, 2, 0).
Lp corner() {
  Lp lp;
  lp.rows = 2;
  lp.columns = 3;
  lp.cost = {-1, -2, -3};
  lp.matrix = {1, 0, 2, 0, 1, 2};
  lp.row_lower = {-kInfinity, -kInfinity};
  lp.row_upper = {3, 2};
  lp.column_lower = {0, 0, 0};
  lp.column_upper = {kInfinity, kInfinity, kInfinity};
  return lp;
}

class SolveLp : public ::testing::TestWithParam<Backend> {};

TEST_P(SolveLp, StoredProblems) {
  const std::vector<test::LpCase> cases = test::lp_cases();
  ASSERT_EQ(cases.size(), 12U);
  for (const test::LpCase& item : cases) {
    SCOPED_TRACE(item.name);
    const LpResult result = solve_lp(batch_of({item.lp}), {}, GetParam());
    EXPECT_EQ(result.status.host()[0], item.optimal ? Status::solved : Status::infeasible);
    test::expect_proven(item.lp, result, 0);
    if (item.optimal) {
      EXPECT_NEAR(result.objective.host()[0], item.objective,
                  1e-9 * (1.0 + std::fabs(item.objective)));
    }
  }
}

TEST_P(SolveLp, SmallProblemByHand) {
  const LpResult result = solve_lp(batch_of({corner()}), {}, GetParam());
  ASSERT_EQ(result.status.host()[0], Status::solved);
  EXPECT_DOUBLE_EQ(result.objective.host()[0], -7.0);
  EXPECT_DOUBLE_EQ(result.solution.host()[0], 3.0);
  EXPECT_DOUBLE_EQ(result.solution.host()[1], 2.0);
  EXPECT_EQ(result.solution.host()[2], 0.0);
  // Both rows are active above: y < 0. The reduced cost of z is -3 + 2 + 4.
  EXPECT_DOUBLE_EQ(result.dual.host()[0], -1.0);
  EXPECT_DOUBLE_EQ(result.dual.host()[1], -2.0);
  const auto basis = result.basis.host();
  EXPECT_EQ(basis[0], BasisStatus::basic);
  EXPECT_EQ(basis[1], BasisStatus::basic);
  EXPECT_EQ(basis[2], BasisStatus::at_lower);
  EXPECT_EQ(basis[3], BasisStatus::at_upper);
  EXPECT_EQ(basis[4], BasisStatus::at_upper);
}

/// An integer programme in units of powers of two, with a bound of 1e11 on a sum that never holds:
/// the slack of that row must not lend its rounding to the others.
TEST_P(SolveLp, ALargeSlackBesideSmallNumbers) {
  Lp lp;
  lp.rows = 10;
  lp.columns = 5;
  lp.cost = {-0.0625, 0, 0, 0, 256};
  lp.matrix = {32768,    0,       4,       0,         0,         //
               32,       0,       0x1p-8,  0,         0,         //
               0,        0,       0,       0x1.8p-19, -0x1p-10,  //
               0,        0x1p-18, 0,       0,         0,         //
               0x1.8p-8, 0,       0,       -0x1p-6,   0,         //
               0.25,     0,       0,       0,         0,         //
               0,        0x1p-7,  0,       0,         0,         //
               0x1p-21,  0,       0,       0x1p-18,   0,         //
               -0x1p-4,  0,       0,       0,         0,         //
               0.125,    0x1p-13, 0x1p-16, 1,         512};
  lp.row_lower = {-262144, -256,       -kInfinity, -0.0625,    -kInfinity,
                  -4,      -kInfinity, -0x1p-18,   -kInfinity, -kInfinity};
  lp.row_upper = {-262144,   kInfinity, -0x1p-20,  kInfinity, 0x1p-6,
                  kInfinity, -128,      kInfinity, 0,         1e11};
  lp.column_lower.assign(5, -kInfinity);
  lp.column_upper.assign(5, kInfinity);
  const LpResult result = solve_lp(batch_of({lp}), {}, GetParam());
  ASSERT_EQ(result.status.host()[0], Status::solved);
  const std::vector<double> expected = {0, -16384, -65536, -1, -0x1p-9};
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(result.solution.host()[j], expected[j], 1e-14 * std::fabs(expected[j])) << j;
  }
}

TEST_P(SolveLp, UnboundedAndInfeasibleAreToldApart) {
  Lp unbounded = corner();
  unbounded.row_upper[1] = kInfinity;  // y may grow
  Lp infeasible = corner();
  infeasible.row_upper[0] = -1.0;
  Lp both = unbounded;
  both.row_upper[0] = -1.0;
  const LpResult result = solve_lp(batch_of({unbounded, infeasible, both}), {}, GetParam());
  EXPECT_EQ(result.status.host()[0], Status::unbounded);
  EXPECT_EQ(result.status.host()[1], Status::infeasible);
  EXPECT_EQ(result.status.host()[2], Status::infeasible);
  test::expect_proven(unbounded, result, 0);
  test::expect_proven(infeasible, result, 1);
  test::expect_proven(both, result, 2);
  EXPECT_GT(result.ray.host()[1], 0.0);
  LpSettings without;
  without.certificates = false;
  const LpResult bare = solve_lp(batch_of({unbounded}), without, GetParam());
  EXPECT_EQ(bare.status.host()[0], Status::unbounded);
  EXPECT_TRUE(bare.ray.empty());
  EXPECT_TRUE(bare.farkas.empty());
}

TEST_P(SolveLp, NoRowMatters) {
  // Rows without bounds, a free column without cost, a fixed one and a box.
  Lp lp = corner();
  lp.row_upper = {kInfinity, kInfinity};
  lp.cost = {0, 5, -1};
  lp.column_lower = {-kInfinity, 1.5, -2};
  lp.column_upper = {kInfinity, 1.5, 4};
  const LpResult result = solve_lp(batch_of({lp}), {}, GetParam());
  ASSERT_EQ(result.status.host()[0], Status::solved);
  EXPECT_DOUBLE_EQ(result.objective.host()[0], 3.5);
  test::expect_proven(lp, result, 0);
}

TEST_P(SolveLp, ObjectivesOfOnePolytope) {
  // A square: the support in 32 directions.
  Lp lp;
  lp.rows = 1;
  lp.columns = 2;
  lp.matrix = {1, 1};
  lp.row_lower = {-1.5};
  lp.row_upper = {1.5};
  lp.column_lower = {-1, -1};
  lp.column_upper = {1, 1};
  lp.cost = {0, 0};
  LpBatch batch = batch_of({lp});
  batch.objectives = 32;
  std::vector<double> cost;
  for (int k = 0; k < 32; ++k) {
    cost.push_back(-std::cos(0.1 + k));
    cost.push_back(-std::sin(0.1 + k));
  }
  batch.cost = Buffer<double>::from(cost);
  const LpResult result = solve_lp(batch, {}, GetParam());
  for (std::size_t k = 0; k < 32; ++k) {
    ASSERT_EQ(result.status.host()[k], Status::solved);
    double best = kInfinity;
    for (const auto& corner :
         {std::pair{1.0, 0.5}, {0.5, 1.0}, {-1.0, -0.5}, {-0.5, -1.0}, {1.0, -1.0}, {-1.0, 1.0}}) {
      best = std::min(best, cost[2 * k] * corner.first + cost[2 * k + 1] * corner.second);
    }
    EXPECT_NEAR(result.objective.host()[k], best, 1e-14);
  }
}

TEST_P(SolveLp, BrokenNumbersAreReported) {
  std::vector<Lp> problems(8, corner());
  problems[1].matrix[4] = std::nan("");
  problems[2].cost[0] = kInfinity;
  problems[3].row_lower[1] = kInfinity;
  problems[4].column_upper[2] = -kInfinity;
  problems[5].column_lower[0] = kInfinity;
  problems[5].column_upper[0] = 1.0;
  problems[6].row_upper[0] = std::nan("");
  const LpResult result = solve_lp(batch_of(problems), {}, GetParam());
  const LpResult alone = solve_lp(batch_of({corner()}), {}, GetParam());
  for (std::size_t p = 0; p < 8; ++p) {
    SCOPED_TRACE(p);
    if (p == 0 || p == 7) {
      EXPECT_EQ(result.status.host()[p], Status::solved);
      EXPECT_EQ(test::first_difference(result.solution, 3 * p, alone.solution, 0, 3), -1);
    } else {
      EXPECT_EQ(result.status.host()[p], Status::invalid_input);
      EXPECT_TRUE(std::isnan(result.solution.host()[3 * p]));
      EXPECT_TRUE(std::isnan(result.residual.host()[p]));
    }
  }
}

// One rule for bounds that cross, of columns and rows, alone and beside others.
TEST_P(SolveLp, CrossedBoundsAreInfeasible) {
  std::vector<Lp> problems(20, corner());
  problems[3].column_lower[0] = 2.0;
  problems[3].column_upper[0] = 1.0;
  problems[4].row_lower[1] = 1.0;
  problems[4].row_upper[1] = std::nextafter(1.0, 0.0);
  problems[5] = problems[4];
  problems[5].cost[1] = std::nan("");
  const LpResult result = solve_lp(batch_of(problems), {}, GetParam());
  for (std::size_t p = 0; p < problems.size(); ++p) {
    SCOPED_TRACE(p);
    const bool crossed = p == 3 || p == 4;
    EXPECT_EQ(result.status.host()[p], crossed  ? Status::infeasible
                                       : p == 5 ? Status::invalid_input
                                                : Status::solved);
    if (!crossed) continue;
    EXPECT_EQ(result.residual.host()[p], 0.0);
    EXPECT_EQ(result.farkas.host()[2 * p], 0.0);
    EXPECT_EQ(result.farkas.host()[2 * p + 1], p == 4 ? 1.0 : 0.0);
    EXPECT_TRUE(std::isnan(result.solution.host()[3 * p]));
  }
}

TEST_P(SolveLp, ProblemsWithoutRows) {
  Lp lp;
  lp.columns = 2;
  lp.cost = {1.0, -1.0};
  lp.column_lower = {0.0, 0.0};
  lp.column_upper = {1.0, 1.0};
  std::vector<Lp> problems(18, lp);
  problems[1].column_upper[1] = kInfinity;
  problems[2].column_upper[0] = -1.0;
  problems[3].column_lower[0] = -kInfinity;
  problems[3].cost[0] = 0.0;
  const LpResult result = solve_lp(batch_of(problems), {}, GetParam());
  for (std::size_t p = 0; p < problems.size(); ++p) {
    SCOPED_TRACE(p);
    EXPECT_EQ(result.status.host()[p], p == 1   ? Status::unbounded
                                       : p == 2 ? Status::infeasible
                                                : Status::solved);
    if (result.status.host()[p] == Status::solved) {
      EXPECT_EQ(result.objective.host()[p], -1.0);
      EXPECT_EQ(result.residual.host()[p], 0.0);
    }
  }
  EXPECT_GT(result.ray.host()[3], 0.0);
}

// A chain of differences with zero right-hand sides, as CVXPY's lp_7 has it: 303 rows, optimum 0.
TEST_P(SolveLp, ManyRowsWithoutRightHandSides) {
  if (GetParam() == Backend::reference) GTEST_SKIP() << "its tableau takes seconds";
  constexpr int kSteps = 50;
  constexpr int kPoints = kSteps + 1;
  Lp lp;  // positive parts, a, delta, b, positive parts of b
  lp.columns = 2 * kSteps + 3 * kPoints;
  lp.cost.assign(static_cast<std::size_t>(lp.columns), 0.0);
  std::fill_n(lp.cost.begin(), kSteps, 1.0);
  lp.column_lower.assign(static_cast<std::size_t>(lp.columns), -kInfinity);
  lp.column_upper.assign(static_cast<std::size_t>(lp.columns), kInfinity);
  const auto row = [&](double lower, std::initializer_list<std::pair<int, double>> entries) {
    std::vector<double> values(static_cast<std::size_t>(lp.columns), 0.0);
    for (const auto& [j, a] : entries) values[static_cast<std::size_t>(j)] = a;
    lp.matrix.insert(lp.matrix.end(), values.begin(), values.end());
    lp.row_lower.push_back(lower);
    lp.row_upper.push_back(0.0);
    ++lp.rows;
  };
  constexpr int kA = kSteps, kDelta = kA + kPoints, kB = kDelta + kSteps, kPart = kB + kPoints;
  for (int i = 0; i < kSteps; ++i) {
    row(0.0, {{kA + i + 1, 1.0}, {kA + i, -1.0}, {kDelta + i, -1.0}});
    row(-kInfinity, {{kDelta + i, 1.0}, {i, -1.0}});
    row(-kInfinity, {{i, -1.0}});
  }
  for (int i = 0; i < kPoints; ++i) {
    row(-kInfinity, {{kPart + i, 1.0}, {kA + i, -1.0}});
    row(-kInfinity, {{kB + i, 1.0}, {kPart + i, -1.0}});
    row(-kInfinity, {{kPart + i, -1.0}});
  }
  ASSERT_EQ(lp.rows, 303);
  const LpResult result = solve_lp(batch_of({lp}), {}, GetParam());
  EXPECT_EQ(result.status.host()[0], Status::solved);
  EXPECT_EQ(result.objective.host()[0], 0.0);
}

/// An LP with an empty matrix of `rows` by `columns`; x >= 0.
Lp blank(int rows, int columns) {
  Lp lp;
  lp.rows = rows;
  lp.columns = columns;
  lp.cost.assign(static_cast<std::size_t>(columns), 0.0);
  lp.matrix.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.0);
  lp.row_lower.assign(static_cast<std::size_t>(rows), -kInfinity);
  lp.row_upper.assign(static_cast<std::size_t>(rows), kInfinity);
  lp.column_lower.assign(static_cast<std::size_t>(columns), 0.0);
  lp.column_upper.assign(static_cast<std::size_t>(columns), kInfinity);
  return lp;
}

/// Larger than what LpFinish takes: min 1000 x - 4e-9 y, x >= 1, y <= 3, sixty times.
TEST(SolveLpSmallPrices, AColumnOfSmallCostEntersToo) {
  constexpr int kPairs = 60;
  Lp lp = blank(2 * kPairs, 2 * kPairs);
  for (std::size_t k = 0; k < 2 * kPairs; ++k) {
    lp.matrix[k * 2 * kPairs + k] = 1.0;
    lp.row_upper[k] = 3.0;
    lp.cost[k] = k % 2 == 0 ? 1000.0 : -4e-9;
    if (k % 2 == 0) lp.column_lower[k] = 1.0;
  }
  const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
  ASSERT_EQ(result.status.host()[0], Status::solved);
  test::expect_proven(lp, result, 0);
  for (std::size_t k = 0; k < 2 * kPairs; ++k) {
    EXPECT_EQ(result.solution.host()[k], k % 2 == 0 ? 1.0 : 3.0) << k;
  }
}

/// Blocks p y1 = 100, r y1 + y2 = 100 r / p + d, s y2 = y3: y2 and y3 are differences whose digits
/// the inverse of the whole basis does not have, though the block's own data give them.
TEST(SolveLpSmallPrices, SmallDifferencesOfLargeNumbersHaveTheirDigits) {
  constexpr int kBlocks = 30;
  constexpr std::size_t kOrder = 3 * kBlocks;
  for (const bool of_values : {false, true}) {
    SCOPED_TRACE(of_values ? "values" : "prices");
    Lp lp = blank(kOrder, kOrder);
    const auto entry = [&](std::size_t i, std::size_t j) -> double& {
      return lp.matrix[of_values ? j * kOrder + i : i * kOrder + j];
    };
    std::vector<double> wanted(kOrder), given(kOrder), other(kOrder);
    for (std::size_t k = 0; k < kBlocks; ++k) {
      const std::size_t i = 3 * k;
      const double p = 3.0 + static_cast<double>(k % 7), r = 3.0 + static_cast<double>(k % 5),
                   s = 3.0 + static_cast<double>(k % 4);
      entry(i, i) = p;
      entry(i, i + 1) = r;
      entry(i + 1, i + 1) = 1.0;
      entry(i + 1, i + 2) = s;
      entry(i + 2, i + 2) = -1.0;
      given[i] = 100.0;
      given[i + 1] = 100.0 / p * r + 1e-7 * static_cast<double>(1 + k % 9);
      wanted[i] = 100.0 / p;
      wanted[i + 1] = std::fma(-r, 100.0 / p, given[i + 1]) -
                      r * std::fma(-p, 100.0 / p, 100.0) / p;  // with the rounding of 100 / p
      wanted[i + 2] = s * wanted[i + 1];
      for (const std::size_t j : {i, i + 1, i + 2}) other[j] = 1.0 + static_cast<double>(j % 4);
    }
    (of_values ? lp.row_lower : lp.cost) = given;
    if (of_values) {
      lp.row_upper = lp.row_lower;
      lp.column_lower.assign(kOrder, -kInfinity);
      lp.cost = other;
    } else {
      for (std::size_t i = 0; i < kOrder; ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < kOrder; ++j) sum += entry(i, j) * other[j];
        lp.row_lower[i] = lp.row_upper[i] = sum;
      }
    }
    const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
    ASSERT_EQ(result.status.host()[0], Status::solved);
    test::expect_proven(lp, result, 0);
    const auto found = of_values ? result.solution.host() : result.dual.host();
    for (std::size_t i = 0; i < kOrder; ++i) {
      EXPECT_NEAR(found[i], wanted[i], 1e-12 * std::fabs(wanted[i])) << i;
    }
  }
}

/// Few pivots move at all: Bland's rule alone meets the limit of 26,550 pivots.
TEST(SolveLpDegenerate, AnyColumnEntersBeforeBlandsRule) {
  const nlohmann::json json = test::stored("lp_degenerate").at(0);
  const Lp lp = test::lp_from(json);
  const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
  EXPECT_EQ(result.status.host()[0], Status::infeasible);
  EXPECT_LE(result.pivots.host()[0], 5000);
  test::expect_proven(lp, result, 0);
}

/// The same problem with rows and columns in other units, which the largest entries do not tell.
TEST(SolveLpUnits, MixedUnitsAreSolvedLikeAll) {
  const QpBatch from =
      test::read_qp_case(test::data_folder() / "qp_crossover" / "mm_QPCBLEND.json").batch;
  const auto values = [](const Buffer<double>& buffer) {
    return std::vector<double>(buffer.data(), buffer.data() + buffer.size());
  };
  Lp lp;
  lp.rows = from.rows;
  lp.columns = from.variables;
  lp.cost = values(from.vector);
  lp.matrix = values(from.matrix);
  lp.row_lower = values(from.lower);
  lp.row_upper = values(from.upper);
  lp.column_lower.assign(lp.cost.size(), -kInfinity);
  lp.column_upper.assign(lp.cost.size(), kInfinity);
  const LpResult plain = solve_lp(batch_of({lp}), {}, Backend::cpu);
  ASSERT_EQ(plain.status.host()[0], Status::solved);
  const auto unit = [](std::size_t k, int step) {
    return std::ldexp(1.0, static_cast<int>(k) * step % 33 - 16);
  };
  const std::size_t n = lp.cost.size();
  for (std::size_t i = 0; i < lp.row_lower.size(); ++i) {
    for (std::size_t j = 0; j < n; ++j) lp.matrix[i * n + j] *= unit(i, 29) * unit(j, 17);
    lp.row_lower[i] *= unit(i, 29);
    lp.row_upper[i] *= unit(i, 29);
  }
  for (std::size_t j = 0; j < n; ++j) lp.cost[j] *= unit(j, 17);
  const LpResult result = solve_lp(batch_of({lp}), {}, Backend::cpu);
  ASSERT_EQ(result.status.host()[0], Status::solved);
  test::expect_proven(lp, result, 0);
  const double objective = plain.objective.host()[0];
  EXPECT_NEAR(result.objective.host()[0], objective, 1e-9 * std::fabs(objective));
  LpSettings limited;
  limited.max_pivots = 400;  // the caller's limit is kept
  EXPECT_LE(solve_lp(batch_of({lp}), limited, Backend::cpu).pivots.host()[0], 400);
}

TEST_P(SolveLp, EmptyBatchAndPivotLimit) {
  LpBatch empty;
  empty.rows = 3;
  empty.columns = 2;
  EXPECT_TRUE(solve_lp(empty, {}, GetParam()).status.empty());
  LpSettings settings;
  settings.max_pivots = 1;
  const LpResult result = solve_lp(batch_of({corner()}), settings, GetParam());
  EXPECT_EQ(result.status.host()[0], Status::iteration_limit);
  EXPECT_TRUE(std::isnan(result.solution.host()[0]));
}

INSTANTIATE_TEST_SUITE_P(Backends, SolveLp, ::testing::Values(Backend::cpu, Backend::reference),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

TEST(SolveLpErrors, ShapesAndSettingsAreNamed) {
  const auto solve = [](const LpBatch& batch, const LpSettings& settings = {},
                        const Buffer<BasisStatus>* start = nullptr) {
    return refusal([&] { solve_lp(batch, settings, Backend::cpu, start); });
  };
  LpBatch batch = batch_of({corner()});
  const auto with = [&](auto&& change) {
    LpBatch copy = batch.to(MemorySpace::host);
    change(copy);
    return copy;
  };
  expect_names(solve(with([](LpBatch& b) { b.rows = -1; })), {"rows", "-1", "0..512"});
  expect_names(solve(with([](LpBatch& b) { b.rows = 513; })), {"rows", "513"});
  expect_names(solve(with([](LpBatch& b) { b.rows = 0; })), {"matrix", "6", "0"});
  expect_names(solve(with([](LpBatch& b) { b.columns = 1025; })), {"columns", "1025", "1..1024"});
  expect_names(solve(with([](LpBatch& b) { b.objectives = 0; })), {"objectives", "0"});
  expect_names(solve(with([](LpBatch& b) { b.problems = -2; })), {"problems", "-2"});
  expect_names(solve(with([](LpBatch& b) { b.problems = 2; })), {"matrix", "6", "12"});
  expect_names(solve(with([](LpBatch& b) { b.objectives = 2; })), {"cost", "3", "6"});
  expect_names(solve(with([](LpBatch& b) { b.row_lower = Buffer<double>(3); })),
               {"row_lower", "3", "2"});
  expect_names(solve(with([](LpBatch& b) { b.row_upper = Buffer<double>(1); })), {"row_upper"});
  expect_names(solve(with([](LpBatch& b) { b.column_lower = Buffer<double>(1); })),
               {"column_lower"});
  expect_names(solve(with([](LpBatch& b) { b.column_upper = Buffer<double>(9); })),
               {"column_upper", "9", "3"});
  const Buffer<BasisStatus> start(4);
  expect_names(solve(batch, {}, &start), {"start", "4", "5"});
  LpSettings settings;
  settings.tolerance = -1.0;
  expect_names(solve(batch, settings), {"tolerance", "-1"});
  settings = {};
  settings.max_pivots = -3;
  expect_names(solve(batch, settings), {"max_pivots", "-3"});
  settings = {};
  settings.threads = -1;
  expect_names(solve(batch, settings), {"threads", "-1"});
}

TEST(LpCertificate, RefusesWhatIsWrong) {
  const Lp lp = corner();
  test::LpJudge judge(lp);
  ASSERT_TRUE(judge.usable());
  const std::vector<double> x = {3, 2, 0};
  const std::vector<double> y = {-1, -2};
  EXPECT_LE(judge->residual(x.data(), y.data()), 1e-15);
  EXPECT_EQ(judge->objective(), -7.0);
  const double nan = std::nan("");
  for (const std::vector<double>& wrong :
       {std::vector<double>{3.1, 2, 0}, {3, 2, -0.1}, {2, 2, 0}, {nan, 2, 0}, {3, 2, nan}}) {
    EXPECT_FALSE(judge->residual(wrong.data(), y.data()) <= 1e-3);
  }
  for (const std::vector<double>& wrong :
       {std::vector<double>{1, -2}, {-1, -1}, {-1, nan}, {-1.5, -2}}) {
    EXPECT_FALSE(judge->residual(x.data(), wrong.data()) <= 1e-3);
  }
  // The problem is feasible and bounded: neither claim can be proven.
  for (const std::vector<double>& claim : {std::vector<double>{-1, 0}, {0, -1}, {1, 1}, {nan, 1}}) {
    EXPECT_FALSE(judge->farkas_residual(claim.data()) <= 1e-3);
  }
  for (const std::vector<double>& claim :
       {std::vector<double>{1, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {nan, 0, 0}, {0, 0, 0}}) {
    EXPECT_FALSE(judge->ray_residual(claim.data()) <= 1e-3);
  }
}

/// Entries of rounding errors explain x and y of 1e15 and more: what rows miss by rounding, times
/// y, is a sixth of the objective.
TEST(LpCertificate, SeesWhatRoundingIsWorthFarAway) {
  Lp lp = blank(4, 5);
  lp.cost = {0.9999999999999997, -2.547492859064962e-15, -32.00000000000001, -2.9999999999999996,
             0.0};
  lp.matrix = {0.0,
               -8.56065309474051e-15,
               -1.712130618948102e-14,
               1.999999999999999,
               -0x1p-11,
               -2.0,
               8.0,
               32.000000000000014,
               -1.999999999999999,
               -0x1p-11,
               -0.125,
               -1.0000000000000004,
               -1.999999999999999,
               -0.125,
               0.0,
               -1.999999999999999,
               7.999999999999991,
               31.999999999999982,
               -1.0700816368425638e-15,
               -0x1p-10};
  lp.row_lower = {-3.0, -kInfinity, -kInfinity, 1.4865430975183632e-10};
  lp.row_upper = {-3.0, 5.0, kInfinity, kInfinity};
  lp.column_lower = {0.0, 0.0, 0.0, -kInfinity, -8192.0};
  lp.column_upper = {3.0, 0.375, kInfinity, kInfinity, kInfinity};
  test::LpJudge judge(lp);
  ASSERT_TRUE(judge.usable());
  const std::vector<double> x = {3.0, 0.375, 85419819132751.31, 683358553062008.8,
                                 2.7990366333419894e+18};
  const std::vector<double> y = {-4127178257871598.5, -4127178257871597.0, 0.0, 4127178257871597.5};
  EXPECT_NEAR(judge->residual(x.data(), y.data()), 0.16819465634060304, 1e-12);
  EXPECT_NE(solve_lp(batch_of({lp}), {}, Backend::cpu).status.host()[0], Status::solved);
}

/// The objective falls by what is left of terms that cancel: a row that has to stand still must do
/// so much more closely.
TEST(LpCertificate, RowsStandStillBesideASlightFall) {
  Lp lp = blank(1, 3);
  lp.cost = {1, -1, 0};
  lp.matrix = {1, 1, -1};
  lp.row_upper = {5};
  lp.column_lower.assign(3, -kInfinity);
  test::LpJudge judge(lp);
  ASSERT_TRUE(judge.usable());
  const double more = 0x1p-40;
  const std::vector<double> right = {1, 1 + more, 2 + more};
  EXPECT_EQ(judge->ray_residual(right.data()), 0.0);
  const std::vector<double> wrong = {1, 1 + more, 2 + more - 0x1p-51};
  EXPECT_EQ(judge->ray_residual(wrong.data()), kInfinity);
}

}  // namespace
}  // namespace carom
