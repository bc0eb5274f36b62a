#include <carom/affine_vi.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/message.hpp"

namespace carom {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

AffineViBatch inequalities() {
  AffineViBatch batch;
  static_cast<AffineViSizes&>(batch) = {3, 2, 2};
  const auto set = [](Buffer<double>& to, const std::vector<double>& values) {
    to = Buffer<double>::from(values);
  };
  set(batch.matrix, {0, 1, -1, 0, 2, 0, 0, 2, 1, 0, 0, 1});
  set(batch.vector, {-1, 1, -2, -2, 1, 1});
  set(batch.constraints, {1, 1, 1, -1, 1, 1, 1, -1, 1, 1, 1, -1});
  // x0 + x1 = 1/2, x0 - x1 <= 1/4; x0 + x1 <= 1; x0 - x1 >= 4
  set(batch.row_lower, {0.5, -kInf, -kInf, -kInf, -kInf, 4});
  set(batch.row_upper, {0.5, 0.25, 1, kInf, kInf, kInf});
  set(batch.column_lower, {0, 0, -kInf, -kInf, -kInf, -kInf});
  set(batch.column_upper, {kInf, kInf, kInf, kInf, kInf, 3});
  return batch;
}

TEST(AffineVi, SolvedAsItsBox) {
  const BoxedLcpBatch boxed = boxed_lcp_of(inequalities());
  ASSERT_EQ(boxed.order, 6);  // two lower sides and two upper ones
  const BoxedLcpResult result = solve_boxed_lcp(boxed);
  const double x[3][2] = {{0.375, 0.125}, {0.5, 0.5}, {1, -3}};
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(result.status.data()[p], Status::solved);
    EXPECT_LE(result.residual.data()[p], 1e-9);
    for (int j = 0; j < 2; ++j) EXPECT_NEAR(result.solution.data()[6 * p + j], x[p][j], 1e-14);
  }
  // The second problem has one side, the upper one of its first row: 2 x - 2 + s = 0.
  const double* second = result.solution.data() + 6 + 2;
  EXPECT_EQ(second[0], 0.0);
  EXPECT_EQ(second[1], 0.0);
  EXPECT_NEAR(second[2], 1.0, 1e-14);
  EXPECT_EQ(second[3], 0.0);
}

TEST(AffineVi, RefusesWhatDoesNotFit) {
  AffineViBatch batch = inequalities();
  batch.row_lower = {};
  EXPECT_EQ(test::refusal([&] { boxed_lcp_of(batch); }), "row_lower has 0 values: must have 6");
  batch = inequalities();
  batch.constraints.data()[1] = std::nan("");
  const BoxedLcpResult result = solve_boxed_lcp(boxed_lcp_of(batch));
  EXPECT_EQ(result.status.data()[0], Status::invalid_input);
  EXPECT_EQ(result.status.data()[1], Status::solved);
}

}  // namespace
}  // namespace carom
