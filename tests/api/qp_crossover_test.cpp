#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "support/bits.hpp"
#include "support/folders.hpp"
#include "support/qp_cases.hpp"

// Programs of more than 60 unknowns whose optimal faces are large: an interior point ends in their
// middle, close to every row that might hold.
namespace carom {
namespace {

std::vector<test::QpCase> netlib_cases() {
  std::vector<test::QpCase> cases;
  for (const char* name : {"mm_QPCBLEND", "mm_QSHARE2B"}) {
    cases.push_back(
        test::read_qp_case(test::data_folder() / "qp_crossover" / (std::string(name) + ".json")));
  }
  return cases;
}

TEST(QpCrossover, EndsWithAllDigitsOnNetlibsProblems) {
  for (const test::QpCase& item : netlib_cases()) {
    const QpResult result = solve_qp(item.batch);
    EXPECT_EQ(to_string(result.status.host()[0]), "solved") << item.name;
    EXPECT_LE(result.residual.host()[0], 1e-12) << item.name;
    EXPECT_NEAR(result.objective.host()[0], *item.objective, 1e-6 * std::abs(*item.objective))
        << item.name;
  }
}

// A sum of what is not negative, at most -9e-16 as a subtraction left it: there is no such x.
TEST(QpCrossover, TakesNoContradictionForRounding) {
  std::vector<test::QpCase> cases = netlib_cases();
  QpBatch& batch = cases.back().batch;
  int turned = 0;
  for (int i = 0; i < batch.rows; ++i) {
    const double upper = batch.upper.host()[static_cast<std::size_t>(i)];
    if (upper >= 0.0 || upper < -1e-15) continue;
    double* row = batch.matrix.data() + static_cast<std::ptrdiff_t>(i) * batch.variables;
    for (int j = 0; j < batch.variables; ++j) row[j] = std::abs(row[j]);
    ++turned;
  }
  ASSERT_GT(turned, 0);
  EXPECT_NE(to_string(solve_qp(batch).status.host()[0]), "solved");
}

TEST(QpCrossover, LeavesBoundsThatCrossByRoundingToTheProof) {
  std::vector<test::QpCase> cases = netlib_cases();
  QpBatch& batch = cases.back().batch;
  for (int i = 0; i < batch.rows; ++i) {
    if (batch.lower.data()[i] != batch.upper.data()[i]) continue;
    batch.lower.data()[i] = std::nextafter(batch.upper.data()[i], 1e300);
    break;
  }
  EXPECT_EQ(to_string(solve_qp(batch).status.host()[0]), "infeasible");
}

TEST(QpCrossover, GivesTheSameBitsBesideOthersAndInThreads) {
  const std::vector<test::QpCase> cases = netlib_cases();
  const QpBatch& one = cases.front().batch;
  QpBatch both;
  both.problems = 2;
  both.variables = one.variables;
  both.rows = one.rows;
  const auto twice = [](const Buffer<double>& given, double factor) {
    std::vector<double> values(given.data(), given.data() + given.size());
    for (std::size_t i = 0; i < given.size(); ++i) values.push_back(factor * given.data()[i]);
    return Buffer<double>::from(values);
  };
  both.hessian = twice(one.hessian, 3.0);
  both.vector = twice(one.vector, 1.25);
  both.matrix = twice(one.matrix, 1.0);
  both.lower = twice(one.lower, 1.5);
  both.upper = twice(one.upper, 1.5);
  QpSettings threads;
  threads.threads = 2;
  const QpResult together = solve_qp(both, threads);
  const QpResult alone = solve_qp(one);
  ASSERT_EQ(to_string(alone.status.host()[0]), "solved");
  ASSERT_EQ(to_string(together.status.host()[1]), "solved");
  const std::size_t n = alone.solution.size(), m = alone.dual.size();
  EXPECT_EQ(test::first_difference(together.solution, 0, alone.solution, 0, n), -1);
  EXPECT_EQ(test::first_difference(together.dual, 0, alone.dual, 0, m), -1);
}

}  // namespace
}  // namespace carom
