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
    EXPECT_EQ(to_string(result.status.host()[0]), item.outcome);
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
