#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <carom/qp.hpp>

#include "core/constants.hpp"
#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "support/bits.hpp"
#include "support/large_qps.hpp"
#include "support/qp_residual.hpp"
#include "support/qp_runs.hpp"

/// Quadratic programs of 70 to 900 unknowns: the elastic foundation with a force for each element,
/// and random ones, by every method on the cpu and by the device's path on host lanes.
namespace carom {
namespace {

using test::with;

struct LargeWay {
  bool emulated;
  QpMethod method;
};

std::string large_way_name(const ::testing::TestParamInfo<LargeWay>& info) {
  return std::string(info.param.emulated ? "emulation_" : "cpu_") +
         std::string(to_string(info.param.method));
}

class LargeQp : public ::testing::TestWithParam<LargeWay> {
 protected:
  static QpResult solve(const QpBatch& batch, const QpSettings& settings) {
    return GetParam().emulated ? emulation::solve_qp(batch, settings, false)
                               : solve_qp(batch, settings, Backend::cpu);
  }
  static QpResult solve(const QpBatch& batch) { return solve(batch, with(GetParam().method)); }
};

void expect_optimal(const QpBatch& batch, const QpResult& result) {
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    SCOPED_TRACE(p);
    const auto at = static_cast<std::size_t>(p);
    ASSERT_EQ(to_string(result.status.host()[at]), "solved");
    EXPECT_LE(result.residual.host()[at], 1e-9);
    const test::PlainKkt kkt = test::plain_kkt(batch, result, p);
    EXPECT_LE(kkt.primal, 1e-8);
    EXPECT_LE(kkt.dual, 1e-8);
    EXPECT_LE(kkt.gap, 1e-8);
    EXPECT_NEAR(result.objective.host()[at], kkt.objective, 1e-9 * (1.0 + std::abs(kkt.objective)));
  }
}

TEST_P(LargeQp, ElasticFoundation) {
  for (const double modulus : {1e7, 1e11}) {
    for (const double step : {1e-2, 1e-3}) {
      SCOPED_TRACE(std::to_string(modulus) + " " + std::to_string(step));
      const test::Foundation foundation = test::foundation(10, 10, modulus, step);
      const QpResult result = solve(foundation.batch);
      expect_optimal(foundation.batch, result);
      // The same step in the cube's three velocities.
      const Eigen::VectorXd expected = test::foundation_forces(foundation);
      const Eigen::Map<const Eigen::VectorXd> forces(result.solution.data(), expected.size());
      EXPECT_LE((forces - expected).norm(), 1e-6 * expected.norm());
      EXPECT_GT(expected.norm(), 0.0);
    }
  }
}

TEST_P(LargeQp, ThreeHundredElements) {
  const test::Foundation foundation = test::foundation(15, 20, 1e11, 1e-3);
  const QpResult result = solve(foundation.batch);
  expect_optimal(foundation.batch, result);
  const Eigen::VectorXd expected = test::foundation_forces(foundation);
  const Eigen::Map<const Eigen::VectorXd> forces(result.solution.data(), expected.size());
  EXPECT_LE((forces - expected).norm(), 1e-6 * expected.norm());
}

TEST_P(LargeQp, RandomBoundsAndRows) {
  for (const int rows : {0, 20}) {
    for (const int rank : {105, 20}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, rank " + std::to_string(rank));
      const QpBatch batch = test::boxed_qps(100, rows, 2, rank, 3, 41);
      expect_optimal(batch, solve(batch));
    }
  }
}

// No rows; curvature in a few directions only; none at all.
TEST_P(LargeQp, WhatIsMissing) {
  QpBatch free = test::boxed_qps(70, 0, 0, 75, 2, 49);
  free.rows = 0;
  free.matrix = Buffer<double>(0);
  free.lower = Buffer<double>(0);
  free.upper = Buffer<double>(0);
  expect_optimal(free, solve(free));
  if (GetParam().method == QpMethod::projected) return;  // takes definite Hessians only
  for (const int rank : {10, 0}) {
    SCOPED_TRACE(rank);
    if (rank == 0 && GetParam().method == QpMethod::admm) continue;  // takes it too long
    const QpBatch batch = test::boxed_qps(70, 10, 1, rank, 2, 50, 0.0);
    expect_optimal(batch, solve(batch));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, LargeQp,
                         ::testing::Values(LargeWay{false, QpMethod::automatic},
                                           LargeWay{false, QpMethod::interior_point},
                                           LargeWay{false, QpMethod::active_set},
                                           LargeWay{false, QpMethod::admm},
                                           LargeWay{false, QpMethod::projected},
                                           LargeWay{true, QpMethod::automatic},
                                           LargeWay{true, QpMethod::admm}),
                         large_way_name);

TEST(LargeQpSizes, NineHundredElements) {
  const test::Foundation foundation = test::foundation(30, 30, 1e11, 1e-3);
  const QpResult result = solve_qp(foundation.batch, with(QpMethod::automatic), Backend::cpu);
  expect_optimal(foundation.batch, result);
  const Eigen::VectorXd expected = test::foundation_forces(foundation);
  const Eigen::Map<const Eigen::VectorXd> forces(result.solution.data(), expected.size());
  EXPECT_LE((forces - expected).norm(), 1e-6 * expected.norm());
}

TEST(LargeQpSizes, BothSidesOfEveryThreshold) {
  for (const int variables : {47, 48, 49, 64, 65}) {
    SCOPED_TRACE(variables);
    const QpBatch batch = test::boxed_qps(variables, 5, 1, variables + 3, 2, 42);
    const QpResult cpu = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
    expect_optimal(batch, cpu);
    const QpResult device = emulation::solve_qp(batch, with(QpMethod::automatic), false);
    expect_optimal(batch, device);
    for (std::size_t p = 0; p < 2; ++p) {
      EXPECT_NEAR(cpu.objective.host()[p], device.objective.host()[p],
                  1e-8 * (1.0 + std::abs(cpu.objective.host()[p])));
    }
  }
}

// Least squares of equations that can be met, r = A x - b with r'r, as in cvxpy's tests of products
// of arrays: the residuals, their gradient and the multipliers are nothing but rounding.
TEST(LargeQpSizes, EquationsThatCanBeMet) {
  constexpr int kProblems = 3;
  for (const int unknowns : {40, 60, 90}) {
    const int equations = unknowns * 2 / 3;
    SCOPED_TRACE(unknowns);
    const int n = unknowns + equations;
    std::mt19937 random(51);
    std::normal_distribution<double> normal;
    std::vector<double> hessian(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
    for (int j = unknowns; j < n; ++j) {
      hessian[static_cast<std::size_t>(j) * static_cast<std::size_t>(n + 1)] = 2.0;
    }
    QpBatch batch;
    batch.problems = kProblems;
    batch.variables = n;
    batch.rows = equations;
    std::vector<double> hessians, matrix, bounds;
    for (int p = 0; p < kProblems; ++p) {
      hessians.insert(hessians.end(), hessian.begin(), hessian.end());
      for (int i = 0; i < equations; ++i) {
        for (int j = 0; j < n; ++j) {
          const double residual = j == unknowns + i ? -1.0 : 0.0;
          matrix.push_back(j < unknowns ? normal(random) : residual);
        }
        bounds.push_back(normal(random));
      }
    }
    batch.hessian = Buffer<double>::from(hessians);
    batch.vector = Buffer<double>::from(
        std::vector<double>(static_cast<std::size_t>(kProblems) * static_cast<std::size_t>(n)));
    batch.matrix = Buffer<double>::from(matrix);
    batch.lower = Buffer<double>::from(bounds);
    batch.upper = Buffer<double>::from(bounds);
    for (const QpMethod method :
         {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set}) {
      SCOPED_TRACE(std::string(to_string(method)));
      const QpResult result = solve_qp(batch, with(method), Backend::cpu);
      expect_optimal(batch, result);
      for (std::size_t p = 0; p < kProblems; ++p) {
        EXPECT_NEAR(result.objective.host()[p], 0.0, 1e-20);
      }
    }
    expect_optimal(batch, emulation::solve_qp(batch, with(QpMethod::automatic), false));
  }
}

// The device's path for large problems.

TEST(LargeQpOnDevice, SplittingIsTheOneOfSmallProblems) {
  const QpBatch batch = test::boxed_qps(80, 10, 1, 30, 3, 43);
  const QpResult cpu = solve_qp(batch, with(QpMethod::admm), Backend::cpu);
  const QpResult device = emulation::solve_qp(batch, with(QpMethod::admm), false);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(cpu.iterations.host()[p], device.iterations.host()[p]);
    EXPECT_EQ(device.method.host()[p], QpMethod::admm);
  }
}

TEST(LargeQpOnDevice, LanesInAnyOrder) {
  const QpBatch batch = test::boxed_qps(70, 10, 1, 30, 5, 44);
  const QpResult forwards = emulation::solve_qp(batch, with(QpMethod::automatic), false);
  const QpResult backwards = emulation::solve_qp(batch, with(QpMethod::automatic), true);
  EXPECT_EQ(test::first_difference(forwards.solution, backwards.solution), -1);
  EXPECT_EQ(test::first_difference(forwards.dual, backwards.dual), -1);
}

TEST(LargeQpOnDevice, WithoutPolish) {
  const QpBatch batch = test::boxed_qps(70, 10, 1, 75, 2, 45);
  QpSettings settings = with(QpMethod::admm);
  settings.polish = false;
  settings.tolerance = 1e-7;
  const QpResult result = emulation::solve_qp(batch, settings, false);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), "solved");
    EXPECT_LE(result.residual.host()[p], 1e-7);
  }
}

TEST(LargeQpOnDevice, TooFewIterations) {
  const QpBatch batch = test::boxed_qps(70, 10, 1, 20, 2, 46);
  QpSettings settings = with(QpMethod::admm);
  settings.max_iterations = 7;
  const QpResult result = emulation::solve_qp(batch, settings, false);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), "iteration_limit");
    EXPECT_EQ(result.iterations.host()[p], 7);
    EXPECT_TRUE(std::isnan(result.solution.host()[p * 70]));
  }
}

// Proofs, refusals and what the splitting leaves; the sound neighbour keeps its bits.
TEST(LargeQpOnDevice, ProofsAndPoison) {
  const std::size_t n = 70;
  const std::size_t m = 80;
  const QpBatch sound = test::boxed_qps(70, 10, 1, 75, 6, 47);
  for (const QpMethod method : {QpMethod::automatic, QpMethod::admm}) {
    SCOPED_TRACE(std::string(to_string(method)));
    const QpResult expected = emulation::solve_qp(sound, with(method), false);
    QpBatch batch = sound.to(MemorySpace::host);
    batch.vector.data()[1 * n + 3] = std::numeric_limits<double>::quiet_NaN();
    batch.lower.data()[2 * m + 4] = 2.0;  // crossed
    batch.upper.data()[2 * m + 4] = 1.0;
    batch.hessian.data()[3 * n * n + 5 * n + 5] = -1.0;
    for (std::size_t j = 0; j < n; ++j) {  // the last row of problem 4 contradicts its bounds
      batch.matrix.data()[(4 * m + m - 1) * n + j] = j == 0 ? 1.0 : 0.0;
    }
    batch.lower.data()[4 * m + m - 1] = batch.upper.data()[4 * m] + 1.0;
    batch.upper.data()[4 * m + m - 1] = kInfinity;
    for (std::size_t i = 0; i < n; ++i) {  // nothing ends the last variable of problem 5
      batch.hessian.data()[5 * n * n + (n - 1) * n + i] = 0.0;
      batch.hessian.data()[5 * n * n + i * n + n - 1] = 0.0;
    }
    for (std::size_t i = 0; i < m; ++i) batch.matrix.data()[(5 * m + i) * n + n - 1] = 0.0;
    const QpResult result = emulation::solve_qp(batch, with(method), false);
    const char* statuses[] = {"solved",    "invalid_input", "infeasible",
                              "nonconvex", "infeasible",    "unbounded"};
    for (std::size_t p = 0; p < 6; ++p) {
      EXPECT_EQ(to_string(result.status.host()[p]), statuses[p]) << p;
      EXPECT_EQ(std::isnan(result.solution.host()[p * n]), p != 0) << p;
    }
    EXPECT_EQ(test::first_difference(result.solution, 0, expected.solution, 0, n), -1);
  }
}

}  // namespace
}  // namespace carom
