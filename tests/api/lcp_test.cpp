#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/backend.hpp>
#include <carom/lcp.hpp>

#include "support/bits.hpp"
#include "support/lcp_cases.hpp"
#include "support/message.hpp"
#include "support/random_problems.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::Matrix;
using test::refusal;
using test::Vector;

LcpBatch batch_of(int order, const std::vector<double>& matrix, const std::vector<double>& vector) {
  LcpBatch batch;
  batch.problems = static_cast<std::int64_t>(vector.size()) / order;
  batch.order = order;
  batch.matrix = Buffer<double>::from(matrix);
  batch.vector = Buffer<double>::from(vector);
  return batch;
}

class SolveLcp : public ::testing::TestWithParam<Backend> {};

TEST_P(SolveLcp, StoredProblemsAreJudgedByTheirResiduals) {
  for (const test::LcpCase& item : test::lcp_cases()) {
    SCOPED_TRACE(item.name);
    const LcpResult result =
        solve_lcp(batch_of(item.order, item.matrix, item.vector), {}, GetParam());
    EXPECT_EQ(to_string(result.status.host()[0]), item.status());
    if (result.status.host()[0] == Status::solved) {
      EXPECT_LE(test::lcp_residual(item.matrix, item.vector, result.solution.data()), 1e-9);
    } else {
      EXPECT_TRUE(std::isnan(result.solution.host()[0]));
    }
  }
}

TEST_P(SolveLcp, SmallProblemsByHand) {
  // w = 2 z - 4; w = z + 1; and [[2, 1], [1, 2]] z = [5, 6].
  const LcpResult one = solve_lcp(batch_of(1, {2, 1}, {-4, 1}), {}, GetParam());
  EXPECT_NEAR(one.solution.host()[0], 2.0, 1e-15);
  EXPECT_EQ(one.solution.host()[1], 0.0);
  EXPECT_EQ(one.pivots.host()[1], 0);
  const LcpResult two = solve_lcp(batch_of(2, {2, 1, 1, 2}, {-5, -6}), {}, GetParam());
  EXPECT_NEAR(two.solution.host()[0], 4.0 / 3.0, 1e-14);
  EXPECT_NEAR(two.solution.host()[1], 7.0 / 3.0, 1e-14);
  EXPECT_LE(two.residual.host()[0], 1e-15);
}

/// Largest share by which y misses y >= 0, M'y <= 0, q'y < 0; infinite where it is no proof at all.
double farkas_error(const std::vector<double>& matrix, const std::vector<double>& vector,
                    const double* y) {
  const std::size_t n = vector.size();
  long double margin = 0.0L, worst = 0.0L;
  for (std::size_t j = 0; j < n; ++j) {
    if (!(y[j] >= 0.0)) return HUGE_VAL;
    margin -= static_cast<long double>(vector[j]) * y[j];
    long double sum = 0.0L, size = 0.0L;
    for (std::size_t i = 0; i < n; ++i) {
      const long double term = static_cast<long double>(matrix[i * n + j]) * y[i];
      sum += term;
      size += std::fabs(term);
    }
    if (sum > 0.0L) worst = std::max(worst, sum / size);
  }
  return margin > 0.0L ? static_cast<double>(worst) : HUGE_VAL;
}

TEST_P(SolveLcp, ContradictoryInequalitiesAreProven) {
  struct Case {
    const char* name;
    std::vector<double> matrix, vector;
  };
  const Case cases[] = {
      {"M <= 0, github.com/dartsim/dart/pull/802", {-1}, {-9.8}},
      {"Kostreva, example 2", {1, -1, 3, 2, -1, 3, -1, -2, 0}, {-1, -1, -1}},
      {"z1 >= 1 and z1 <= 1 - 2^-10", {0, -1, -1, 1, 0, 0, -1, 0, 0}, {0, -1, 0.9990234375}},
      {"an empty row", {0, 0, 0, 1}, {-1e-10, 3}},
      {"rows in other units", {-0x1p40, 0, 0x1p-30, -0x1p-20}, {-0x1p60, 0x1p-50}},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.name);
    const int n = static_cast<int>(item.vector.size());
    const LcpBatch batch = batch_of(n, item.matrix, item.vector);
    const LcpResult result = solve_lcp(batch, {}, GetParam());
    ASSERT_EQ(result.status.host()[0], Status::infeasible);
    EXPECT_LE(farkas_error(item.matrix, item.vector, result.farkas.data()), 1e-15);
    EXPECT_LE(result.residual.host()[0], 1e-12);
    EXPECT_TRUE(std::isnan(result.solution.host()[0]));
    LcpSettings bare;
    bare.certificates = false;
    const LcpResult without = solve_lcp(batch, bare, GetParam());
    EXPECT_EQ(without.status.host()[0], Status::infeasible);
    EXPECT_TRUE(without.farkas.empty());
  }
  // Beside problems with answers.
  const LcpResult mixed = solve_lcp(batch_of(1, {2, -1, 1, 0}, {-4, -1, 3, -2}), {}, GetParam());
  EXPECT_EQ(mixed.status.host()[0], Status::solved);
  EXPECT_EQ(mixed.status.host()[1], Status::infeasible);
  EXPECT_EQ(mixed.status.host()[2], Status::solved);
  EXPECT_EQ(mixed.status.host()[3], Status::infeasible);
  EXPECT_TRUE(std::isnan(mixed.farkas.host()[0]));
  EXPECT_GT(mixed.farkas.host()[1], 0.0);
  EXPECT_TRUE(std::isnan(mixed.farkas.host()[2]));
  EXPECT_GT(mixed.farkas.host()[3], 0.0);
}

// x in [-1, 1]^2 with (H x + f)'(y - x) >= 0 for all y of the box, as an LCP in x - lower and the
// multipliers of the upper bounds (github.com/darnstrom/daqp docs/docs/avi.md).
TEST_P(SolveLcp, AffineVariationalInequality) {
  for (const auto& f : {std::vector<double>{0, 0}, {-3, 0.5}, {2, 2}, {0.5, -4}, {-9, -9}}) {
    const double h[2][2] = {{1, 1.75}, {0, 1}};
    std::vector<double> matrix(16, 0.0), vector(4);
    for (std::size_t i = 0; i < 2; ++i) {
      vector[i] = f[i];
      for (std::size_t j = 0; j < 2; ++j) {
        matrix[4 * i + j] = h[i][j];
        vector[i] -= h[i][j];  // lower = -1
      }
      matrix[4 * i + 2 + i] = 1.0;
      matrix[4 * (2 + i) + i] = -1.0;
      vector[2 + i] = 2.0;
    }
    const LcpResult result = solve_lcp(batch_of(4, matrix, vector), {}, GetParam());
    ASSERT_EQ(result.status.host()[0], Status::solved);
    EXPECT_LE(result.residual.host()[0], 1e-12);
    for (std::size_t i = 0; i < 2; ++i) {
      const double x = result.solution.host()[i] - 1.0;
      double gradient = f[i];
      for (std::size_t j = 0; j < 2; ++j) gradient += h[i][j] * (result.solution.host()[j] - 1.0);
      // Projection of x - gradient onto the box is x.
      EXPECT_NEAR(std::clamp(x - gradient, -1.0, 1.0), x, 1e-12);
    }
  }
}

TEST_P(SolveLcp, ThreadsAndPositionDoNotMatter) {
  test::Generator random(8);
  constexpr int kOrder = 6;
  constexpr int kCount = 100;
  std::vector<double> matrix, vector;
  for (int p = 0; p < kCount; ++p) {
    const Matrix b = random.normal_matrix(kOrder, kOrder);
    const Matrix m = b * b.transpose() + Matrix::Identity(kOrder, kOrder);
    const auto values = test::flat(m);
    const auto q = test::flat(random.normal_vector(kOrder));
    matrix.insert(matrix.end(), values.begin(), values.end());
    vector.insert(vector.end(), q.begin(), q.end());
  }
  LcpSettings settings;
  settings.threads = 1;
  const LcpResult one = solve_lcp(batch_of(kOrder, matrix, vector), settings, GetParam());
  settings.threads = 2;
  test::expect_identical(one, solve_lcp(batch_of(kOrder, matrix, vector), settings, GetParam()));
  for (const std::ptrdiff_t p : {0, 37, 99}) {
    const std::vector<double> m(matrix.begin() + p * 36, matrix.begin() + (p + 1) * 36);
    const std::vector<double> q(vector.begin() + p * 6, vector.begin() + (p + 1) * 6);
    const LcpResult alone = solve_lcp(batch_of(kOrder, m, q), {}, GetParam());
    EXPECT_EQ(
        test::first_difference(alone.solution, 0, one.solution, static_cast<std::size_t>(p) * 6, 6),
        -1);
  }
}

TEST_P(SolveLcp, BrokenNumbersAreReported) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LcpResult result =
      solve_lcp(batch_of(1, {1, nan, 1, 1}, {-1, -1, INFINITY, -2}), {}, GetParam());
  EXPECT_EQ(result.status.host()[0], Status::solved);
  EXPECT_EQ(result.status.host()[1], Status::invalid_input);
  EXPECT_EQ(result.status.host()[2], Status::invalid_input);
  EXPECT_EQ(result.status.host()[3], Status::solved);
  EXPECT_EQ(result.solution.host()[0], 1.0);
  EXPECT_TRUE(std::isnan(result.solution.host()[1]));
  EXPECT_EQ(result.solution.host()[3], 2.0);
}

TEST_P(SolveLcp, EmptyBatch) {
  const LcpResult result = solve_lcp(batch_of(3, {}, {}), {}, GetParam());
  EXPECT_TRUE(result.solution.empty());
  EXPECT_TRUE(result.status.empty());
}

INSTANTIATE_TEST_SUITE_P(Backends, SolveLcp, ::testing::Values(Backend::cpu, Backend::reference),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

TEST(SolveLcpErrors, ShapesAndSettingsAreNamed) {
  const auto solve = [](LcpBatch batch, const LcpSettings& settings = {}) {
    return refusal([&] { solve_lcp(batch, settings, Backend::cpu); });
  };
  LcpBatch batch = batch_of(2, {1, 0, 0, 1}, {1, 1});
  batch.order = 0;
  expect_names(solve(batch.to(MemorySpace::host)), {"order", "0", "1..128"});
  batch.order = 129;
  expect_names(solve(batch.to(MemorySpace::host)), {"order", "129", "128"});
  batch.order = 2;
  batch.problems = 3;
  expect_names(solve(batch.to(MemorySpace::host)), {"matrix", "4", "12"});
  batch.problems = -1;
  expect_names(solve(batch.to(MemorySpace::host)), {"problems", "-1"});
  expect_names(solve(batch_of(2, {1, 0, 0, 1}, {1, 1, 1})), {"vector", "3", "2"});
  LcpSettings settings;
  settings.tolerance = 0.0;
  expect_names(solve(batch_of(1, {1}, {1}), settings), {"tolerance", "0"});
  settings.tolerance = std::numeric_limits<double>::quiet_NaN();
  expect_names(solve(batch_of(1, {1}, {1}), settings), {"tolerance", "nan"});
  settings = {};
  settings.max_pivots = -4;
  expect_names(solve(batch_of(1, {1}, {1}), settings), {"max_pivots", "-4"});
  settings = {};
  settings.threads = -2;
  expect_names(solve(batch_of(1, {1}, {1}), settings), {"threads", "-2"});
}

TEST(SolveLcpErrors, CudaWithoutADeviceIsRefused) {
  if (!cuda_devices().empty()) GTEST_SKIP() << "a CUDA device is present";
  expect_names(test::refusal<BackendUnavailable>(
                   [] { solve_lcp(batch_of(1, {1}, {1}), {}, Backend::cuda); }),
               {"cuda"});
}

}  // namespace
}  // namespace carom
