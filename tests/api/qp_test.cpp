#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/constants.hpp"
#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "support/bits.hpp"
#include "support/qp_cases.hpp"
#include "support/qp_residual.hpp"
#include "support/qp_runs.hpp"
#include "support/random_qps.hpp"

namespace carom {
namespace {

using test::QpFlavour;
using test::random_qps;
using test::with;

bool takes(const QpBatch& batch, QpMethod method) {
  if (method != QpMethod::active_set) return true;
  for (const Cone& cone : batch.cones) {
    if (cone.kind == ConeKind::second_order && cone.size > 1) return false;
  }
  return true;
}

enum class Emulated { no, forwards, backwards };

struct Way {
  Backend backend;
  QpMethod method;
  Emulated emulated = Emulated::no;
};

std::string way_name(const ::testing::TestParamInfo<Way>& info) {
  const char* prefix[] = {"", "forwards_", "backwards_"};
  return prefix[static_cast<int>(info.param.emulated)] +
         std::string(to_string(info.param.backend)) + "_" +
         std::string(to_string(info.param.method));
}

class SolveQp : public ::testing::TestWithParam<Way> {
 protected:
  static QpResult solve(const QpBatch& batch) {
    if (GetParam().emulated != Emulated::no) {
      return emulation::solve_qp(batch, with(GetParam().method),
                                 GetParam().emulated == Emulated::backwards);
    }
    return solve_qp(batch, with(GetParam().method), GetParam().backend);
  }
};

TEST_P(SolveQp, StoredProblems) {
  for (const test::QpCase& item : test::qp_cases()) {
    SCOPED_TRACE(item.name);
    if (!takes(item.batch, GetParam().method)) continue;
    const QpResult result = solve(item.batch);
    if (GetParam().method == QpMethod::projected &&
        (item.status != "solved" || result.status.host()[0] == Status::numerical_error)) {
      continue;  // proves nothing, and refuses Hessians that are only semidefinite
    }
    ASSERT_EQ(to_string(result.status.host()[0]), item.status);
    if (item.status != "solved") {
      EXPECT_TRUE(std::isnan(result.solution.host()[0]));
      EXPECT_FALSE(std::isnan(result.certificate.host()[0]));
      continue;
    }
    const test::PlainKkt kkt = test::plain_kkt(item.batch, result, 0);
    EXPECT_LE(kkt.primal, 1e-8);
    EXPECT_LE(kkt.dual, 1e-8);
    EXPECT_LE(kkt.gap, 1e-8);
    EXPECT_LE(result.residual.host()[0], 1e-9);
    const double objective = kkt.objective + item.constant;
    EXPECT_NEAR(result.objective.host()[0] + item.constant, objective,
                1e-9 * (1.0 + std::abs(kkt.objective)));
    if (item.objective.has_value()) {
      EXPECT_NEAR(objective, *item.objective, 1e-4 * (1.0 + std::abs(objective)));
    }
    if (item.name.rfind("mm_", 0) == 0) {
      EXPECT_NEAR(objective, *item.objective, 1e-6 * (1.0 + std::abs(objective)));
    }
  }
}

void expect_like_reference(const QpBatch& batch, const QpResult& result) {
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    SCOPED_TRACE(p);
    const auto at = static_cast<std::size_t>(p);
    ASSERT_EQ(to_string(reference.status.host()[at]), "solved");
    ASSERT_EQ(to_string(result.status.host()[at]), "solved");
    const test::PlainKkt kkt = test::plain_kkt(batch, result, p);
    EXPECT_LE(kkt.primal, 1e-8);
    EXPECT_LE(kkt.dual, 1e-8);
    EXPECT_LE(kkt.gap, 1e-8);
    const double expected = reference.objective.host()[at];
    EXPECT_NEAR(result.objective.host()[at], expected, 1e-7 * (1.0 + std::abs(expected)));
  }
}

TEST_P(SolveQp, RandomIntervalRows) {
  QpFlavour flavour;
  const QpBatch batch = random_qps(flavour, 50, 1);
  expect_like_reference(batch, solve(batch));
  flavour.variables = 12;
  flavour.rank = 13;
  flavour.rows = 30;
  flavour.equations = 4;
  const QpBatch larger = random_qps(flavour, 30, 2);
  expect_like_reference(larger, solve(larger));
}

TEST_P(SolveQp, RandomCones) {
  QpFlavour flavour;
  flavour.rows = 4;
  flavour.cones = {{ConeKind::second_order, 3},
                   {ConeKind::nonnegative, 2},
                   {ConeKind::zero, 1},
                   {ConeKind::second_order, 1},
                   {ConeKind::second_order, 4}};
  const QpBatch batch = random_qps(flavour, 20, 3);
  if (!takes(batch, GetParam().method)) GTEST_SKIP() << "takes no second-order cones";
  expect_like_reference(batch, solve(batch));
}

TEST_P(SolveQp, SemidefiniteHessians) {
  if (GetParam().method == QpMethod::projected) GTEST_SKIP() << "wants a definite Hessian";
  QpFlavour flavour;
  flavour.rank = 3;
  flavour.rows = 24;
  const QpBatch batch = random_qps(flavour, 40, 4);
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  const QpResult result = solve(batch);
  int solved = 0;
  for (std::size_t p = 0; p < 40; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), to_string(reference.status.host()[p])) << p;
    if (result.status.host()[p] != Status::solved) continue;
    ++solved;
    const double expected = reference.objective.host()[p];
    EXPECT_NEAR(result.objective.host()[p], expected, 1e-7 * (1.0 + std::abs(expected)));
  }
  EXPECT_GE(solved, 30);
}

TEST_P(SolveQp, InfeasibleIsProven) {
  if (GetParam().method == QpMethod::projected) GTEST_SKIP() << "proves nothing";
  QpFlavour flavour;
  flavour.infeasible = true;
  const QpBatch batch = random_qps(flavour, 30, 5);
  const QpResult result = solve(batch);
  const int n = batch.variables;
  const int m = batch.rows;
  for (int p = 0; p < 30; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "infeasible");
    // A'y = 0 with a negative support, from the problem's own numbers.
    const double* y = result.certificate.data() + static_cast<std::ptrdiff_t>(p) * std::max(n, m);
    double support = 0.0;
    for (int i = 0; i < m; ++i) {
      const auto at = static_cast<std::size_t>(p * m + i);
      const double bound = y[i] > 0.0 ? batch.upper.host()[at] : batch.lower.host()[at];
      if (y[i] != 0.0) support += y[i] * bound;
    }
    EXPECT_LT(support, 0.0);
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int i = 0; i < m; ++i) {
        sum += y[i] * batch.matrix.host()[static_cast<std::size_t>((p * m + i) * n + j)];
      }
      EXPECT_NEAR(sum, 0.0, 1e-7 * -support);
    }
    EXPECT_TRUE(std::isnan(result.objective.host()[static_cast<std::size_t>(p)]));
  }
}

TEST_P(SolveQp, UnboundedIsProven) {
  if (GetParam().method == QpMethod::projected) GTEST_SKIP() << "wants a definite Hessian";
  QpFlavour flavour;
  flavour.unbounded = true;
  flavour.rows = 20;
  const QpBatch batch = random_qps(flavour, 30, 6);
  const QpResult result = solve(batch);
  const int n = batch.variables;
  for (int p = 0; p < 30; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "unbounded");
    const double* d =
        result.certificate.data() + static_cast<std::ptrdiff_t>(p) * std::max(n, batch.rows);
    double slope = 0.0;
    for (int j = 0; j < n; ++j)
      slope += d[j] * batch.vector.host()[static_cast<std::size_t>(p * n + j)];
    EXPECT_LT(slope, 0.0);
    for (int i = 0; i < n; ++i) {
      double curved = 0.0;
      for (int j = 0; j < n; ++j) {
        curved += d[j] * batch.hessian.host()[static_cast<std::size_t>((p * n + i) * n + j)];
      }
      EXPECT_NEAR(curved, 0.0, 1e-6 * -slope);
    }
  }
}

TEST_P(SolveQp, NonconvexIsCalledNonconvex) {
  QpFlavour flavour;
  flavour.nonconvex = true;
  const QpBatch batch = random_qps(flavour, 20, 7);
  const QpResult result = solve(batch);
  const int n = batch.variables;
  for (int p = 0; p < 20; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "nonconvex");
    const double* d =
        result.certificate.data() + static_cast<std::ptrdiff_t>(p) * std::max(n, batch.rows);
    double curvature = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        curvature +=
            d[i] * d[j] * batch.hessian.host()[static_cast<std::size_t>((p * n + i) * n + j)];
      }
    }
    EXPECT_LT(curvature, 0.0);
  }
}

TEST_P(SolveQp, UnitsOfVariablesDoNotMatter) {
  QpFlavour flavour;
  flavour.spread = 8.0;
  flavour.equations = 1;
  const QpBatch batch = random_qps(flavour, 30, 8);
  const QpResult result = solve(batch);
  for (std::size_t p = 0; p < 30; ++p) EXPECT_EQ(to_string(result.status.host()[p]), "solved") << p;
}

TEST_P(SolveQp, SmallProblemsByHand) {
  // (x - 3)^2 / 2 with x <= 1; x^2 / 2 with 2 <= x; and no row in reach.
  QpBatch batch;
  batch.problems = 3;
  batch.variables = 1;
  batch.rows = 1;
  batch.hessian = Buffer<double>::from({1, 1, 1});
  batch.vector = Buffer<double>::from({-3, 0, -3});
  batch.matrix = Buffer<double>::from({1, 1, 1});
  batch.lower = Buffer<double>::from({-kInfinity, 2, -kInfinity});
  batch.upper = Buffer<double>::from({1, kInfinity, kInfinity});
  const QpResult result = solve(batch);
  const double x[] = {1, 2, 3};
  const double y[] = {2, -2, 0};
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), "solved");
    EXPECT_NEAR(result.solution.host()[p], x[p], 1e-9);
    EXPECT_NEAR(result.dual.host()[p], y[p], 1e-9);
  }
}

/// (2 x1 + 3 x2)^2 / 2 - 5 (2 x1 + 3 x2) with x1 = 1e8 / 3: terms of 1e16 make -12.5.
TEST(FarAlongTheNullSpace, TheObjectiveHasItsDigits) {
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 2;
  batch.rows = 1;
  batch.hessian = Buffer<double>::from({4, 6, 6, 9});
  batch.vector = Buffer<double>::from({-10, -15});
  batch.matrix = Buffer<double>::from({1, 0});
  batch.lower = Buffer<double>::from({1e8 / 3.0});
  batch.upper = Buffer<double>::from({1e8 / 3.0});
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set,
                                QpMethod::admm, QpMethod::lemke}) {
    const QpResult result = solve_qp(batch, with(method), Backend::cpu);
    ASSERT_EQ(to_string(result.status.host()[0]), "solved") << to_string(method);
    EXPECT_NEAR(result.objective.host()[0], -12.5, 1e-12) << to_string(method);
  }
}

/// Least 3 x1 + 2 x2 + x3 with |x| <= t <= 5 and x1 + x2 + 3 x3 >= 1: t has no cost, and its
/// column holds the cone's first multiplier and that of its bound alone.
// An equation beside a row that is parallel to it but for 3e-7 (qpsolvers' issue 18): by exact
// arithmetic the multipliers are 1.6e10 and 4.8e9, x ordinary. Doubles beside them must be found.
TEST(NearlyParallelRows, AreSolvedAsTheirDigitsSay) {
  constexpr int kVariables = 6;
  QpBatch batch;
  batch.problems = 1;
  batch.variables = kVariables;
  batch.rows = 3;
  std::vector<double> hessian(kVariables * kVariables, 0.0);
  for (std::size_t j = 0; j < kVariables; ++j) hessian[j * kVariables + j] = 5.91249627;
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(
      {-0.37214733, 15.92113921, 15.84163501, 1.2103246, -0.16915788, -1.21201618});
  batch.matrix = Buffer<double>::from({-0.185864514, -0.54987856, 0.208186925, -0.0703941541,
                                       -0.024005419, 9.40351703e-17, 0.0, 0.0548184665,
                                       0.0437742048, -0.0137938157, -0.00365468438, 0.0, 0.0,
                                       -0.18543256, -0.14807351, 0.04665987, 0.01236258, 0.0});
  batch.lower = Buffer<double>::from({-kInfinity, -kInfinity, 0.03536153});
  batch.upper = Buffer<double>::from({-0.0691808, -0.01045375, 0.03536153});
  const double x[] = {0.06294250567028264, 0.739947978447791,   -1.590772299127477,
                      -0.5164556499480842, -3.1450964559852097, 0.2049922950733633};
  for (const QpMethod method : {QpMethod::automatic, QpMethod::lemke}) {
    const QpResult result = solve_qp(batch, with(method), Backend::cpu);
    ASSERT_EQ(to_string(result.status.host()[0]), "solved") << to_string(method);
    EXPECT_LE(result.residual.host()[0], 1e-9);
    EXPECT_NEAR(result.objective.host()[0], 25.481574753937977, 1e-7);
    for (std::size_t j = 0; j < kVariables; ++j) {
      EXPECT_NEAR(result.solution.host()[j], x[j], 1e-8) << j;
    }
  }
}

TEST(ConeProgrammes, BoundOfANormWithoutCost) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 4;
  batch.rows = 2;
  batch.cones.assign(1, {ConeKind::second_order, 4});
  std::vector<double> cone(16, 0.0);
  cone[3] = cone[4] = cone[9] = cone[14] = -1.0;
  batch.hessian = Buffer<double>::from(std::vector<double>(16, 0.0));
  batch.vector = Buffer<double>::from(std::vector<double>{3.0, 2.0, 1.0, 0.0});
  batch.matrix = Buffer<double>::from(std::vector<double>{1.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0, 1.0});
  batch.lower = Buffer<double>::from(std::vector<double>{1.0, -kInfinity});
  batch.upper = Buffer<double>::from(std::vector<double>{kInfinity, 5.0});
  batch.cone_matrix = Buffer<double>::from(cone);
  batch.cone_vector = Buffer<double>::from(std::vector<double>(4, 0.0));
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::admm}) {
    SCOPED_TRACE(to_string(method));
    const QpResult result = solve_qp(batch, with(method), Backend::cpu);
    ASSERT_EQ(result.status.host()[0], Status::solved);
    EXPECT_NEAR(result.objective.host()[0], -13.548638904065, 1e-7);
    EXPECT_NEAR(result.solution.host()[3], 5.0, 1e-7);
  }
}

/// Fermat's point of a triangle: min t_1 + t_2 + t_3 over |x - p_i| <= t_i. Only the cones hold x,
/// whose columns have no cost: what explains t_i's multipliers explains those of x.
TEST(ConeProgrammes, ColumnsWithoutCost) {
  const double height = std::sqrt(3.0);
  const double corners[3][2] = {{0.0, 0.0}, {2.0, 0.0}, {1.0, height}};
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 5;
  batch.rows = 0;
  batch.cones.assign(3, {ConeKind::second_order, 3});
  std::vector<double> matrix(9 * 5, 0.0);
  std::vector<double> vector(9, 0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    matrix[3 * k * 5 + 2 + k] = -1.0;
    for (std::size_t d = 0; d < 2; ++d) {
      matrix[(3 * k + 1 + d) * 5 + d] = -1.0;
      vector[3 * k + 1 + d] = -corners[k][d];
    }
  }
  batch.hessian = Buffer<double>::from(std::vector<double>(25, 0.0));
  batch.vector = Buffer<double>::from(std::vector<double>{0.0, 0.0, 1.0, 1.0, 1.0});
  batch.cone_matrix = Buffer<double>::from(matrix);
  batch.cone_vector = Buffer<double>::from(vector);
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::admm}) {
    SCOPED_TRACE(to_string(method));
    const QpResult result = solve_qp(batch, with(method), Backend::cpu);
    ASSERT_EQ(result.status.host()[0], Status::solved);
    EXPECT_NEAR(result.objective.host()[0], 2.0 * height, 1e-8);
    EXPECT_NEAR(result.solution.host()[0], 1.0, 1e-7);
    EXPECT_NEAR(result.solution.host()[1], height / 3.0, 1e-7);
  }
}

// t >= |x|^2 as (1 + t, 1 - t, 2 x): the cone's terms are far smaller than the ones beside them.
TEST(ConeProgrammes, SquaresOfSmallNumbers) {
  for (const double slope : {1.0, 0.1, 1e-2, 1e-3, 1e-6}) {
    SCOPED_TRACE(slope);
    QpBatch batch;
    batch.problems = 1;
    batch.variables = 2;
    batch.cones.assign(1, {ConeKind::second_order, 3});
    batch.hessian = Buffer<double>::from(std::vector<double>(4, 0.0));
    batch.vector = Buffer<double>::from(std::vector<double>{-slope, 1.0});
    batch.cone_matrix = Buffer<double>::from(std::vector<double>{0.0, -1.0, 0.0, 1.0, -2.0, 0.0});
    batch.cone_vector = Buffer<double>::from(std::vector<double>{1.0, 1.0, 0.0});
    const QpResult result = solve_qp(batch, {}, Backend::cpu);
    ASSERT_EQ(to_string(result.status.host()[0]), "solved");
    EXPECT_NEAR(result.objective.host()[0], -0.25 * slope * slope, 1e-8 * slope * slope);
    EXPECT_NEAR(result.solution.host()[0], 0.5 * slope, 1e-4 * slope);
  }
}

// Three shares with risks 0.14, 0.16 and 0.18 and costs of trading: numbers of cvxpy's test of its
// issue 2437. By hand: x_j = (r_j - c_j) / (2 s_j^2).
TEST(ConeProgrammes, SharesWithCostsOfTrading) {
  constexpr int kShares = 3;
  constexpr int kVariables = 3 * kShares;  // x, x^2's bounds, |x|'s bounds
  QpBatch batch;
  batch.problems = 1;
  batch.variables = kVariables;
  batch.cones.assign(1, {ConeKind::nonnegative, 2 * kShares});
  batch.cones.insert(batch.cones.end(), kShares, {ConeKind::second_order, 3});
  std::vector<double> vector(kVariables);
  std::vector<double> rows;
  std::vector<double> bounds(2 * kShares, 0.0);
  const auto add = [&](int a, double value_a, int b, double value_b) {
    std::vector<double> row(kVariables, 0.0);
    row[static_cast<std::size_t>(a)] = value_a;
    row[static_cast<std::size_t>(b)] = value_b;
    rows.insert(rows.end(), row.begin(), row.end());
  };
  double objective = 0.0;
  for (int j = 0; j < kShares; ++j) {
    const auto share = static_cast<std::size_t>(j);
    vector[share] = -(0.04 + 0.01 * j);
    vector[share + 3] = 1.0;
    vector[share + 6] = 0.01 * (1 + j);
    const double risk = 0.07 + 0.01 * j;
    objective -= 0.03 * 0.03 / (4.0 * risk * risk);
  }
  for (const double sign : {1.0, -1.0}) {
    for (int j = 0; j < kShares; ++j) add(j, sign, j + 6, -1.0);
  }
  for (int j = 0; j < kShares; ++j) {
    add(j + 3, -1.0, j + 6, 0.0);
    add(j + 3, -1.0, j + 6, 0.0);
    add(j, -(0.14 + 0.02 * j), j + 6, 0.0);
    bounds.insert(bounds.end(), {1.0, -1.0, 0.0});
  }
  batch.hessian = Buffer<double>::from(std::vector<double>(kVariables * kVariables, 0.0));
  batch.vector = Buffer<double>::from(vector);
  batch.cone_matrix = Buffer<double>::from(rows);
  batch.cone_vector = Buffer<double>::from(bounds);
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point}) {
    SCOPED_TRACE(to_string(method));
    const QpResult result = solve_qp(batch, with(method), Backend::cpu);
    ASSERT_EQ(to_string(result.status.host()[0]), "solved");
    EXPECT_NEAR(result.objective.host()[0], objective, 1e-8);
  }
}

TEST_P(SolveQp, EmptyBatchAndNoRows) {
  QpBatch batch = random_qps({}, 0, 1);
  EXPECT_TRUE(solve(batch).status.empty());
  QpFlavour flavour;
  flavour.rows = 0;
  const QpBatch free = random_qps(flavour, 3, 1);
  const QpResult result = solve(free);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(to_string(result.status.host()[p]), "solved");
}

TEST_P(SolveQp, PoisonHarmsNoNeighbour) {
  QpFlavour flavour;
  flavour.equations = 1;
  const QpBatch clean = random_qps(flavour, 21, 9);
  QpBatch poisoned = clean.to(MemorySpace::host);
  const std::size_t n = 6;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  poisoned.hessian.host()[2 * n * n + 7] = nan;
  poisoned.vector.host()[3 * n] = kInfinity;
  poisoned.matrix.host()[5 * 8 * n + 1] = nan;
  poisoned.lower.host()[9 * 8 + 3] = nan;
  poisoned.upper.host()[11 * 8 + 3] = -kInfinity;
  const QpResult expected = solve(clean);
  const QpResult result = solve(poisoned);
  for (std::size_t p = 0; p < 21; ++p) {
    const bool bad = p == 2 || p == 3 || p == 5 || p == 9 || p == 11;
    EXPECT_EQ(to_string(result.status.host()[p]), bad ? "invalid_input" : "solved") << p;
    for (std::size_t j = 0; j < n; ++j) {
      if (bad) {
        EXPECT_TRUE(std::isnan(result.solution.host()[p * n + j]));
      }
    }
    if (bad) continue;
    EXPECT_EQ(test::first_difference(result.solution, p * n, expected.solution, p * n, n), -1) << p;
    EXPECT_EQ(test::first_difference(result.dual, p * 8, expected.dual, p * 8, 8), -1) << p;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, SolveQp,
                         ::testing::Values(Way{Backend::cpu, QpMethod::automatic},
                                           Way{Backend::cpu, QpMethod::interior_point},
                                           Way{Backend::cpu, QpMethod::active_set},
                                           Way{Backend::cpu, QpMethod::admm},
                                           Way{Backend::reference, QpMethod::automatic}),
                         way_name);

// The kernels' text on host lanes: first attempts, the second launch, proofs and all.
INSTANTIATE_TEST_SUITE_P(
    Emulated, SolveQp,
    ::testing::Values(Way{Backend::cuda, QpMethod::automatic, Emulated::forwards},
                      Way{Backend::cuda, QpMethod::active_set, Emulated::forwards},
                      Way{Backend::cuda, QpMethod::active_set, Emulated::backwards},
                      Way{Backend::cuda, QpMethod::admm, Emulated::backwards}),
    way_name);

// The projected gradient takes definite Hessians only, and proves nothing.
INSTANTIATE_TEST_SUITE_P(Projected, SolveQp,
                         ::testing::Values(Way{Backend::cpu, QpMethod::projected}), way_name);

}  // namespace
}  // namespace carom
