#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "programs/qp/kernels/qp_dual_pivot.hpp"

// The table of rows with a Hessian that is only semidefinite.
namespace carom {
namespace {

struct Proximal : kernels::QpOneEntry {
  static constexpr bool kProximal = true;
};
using TableData = kernels::PlainMemory<const double>;
using TableMemory = kernels::PlainMemory<double>;

/// Problem 52 of Hock and Schittkowski (1981), rank 4 of 5:
/// (4 a - b)^2 + (b + c - 2)^2 + (d - 1)^2 + (e - 1)^2, a + 3 b = 0, c + d - 2 e = 0, b - e = 0;
/// here with the last two equations added to each other once more, and a bound that is not met.
struct TableProblem {
  std::vector<double> hessian = {32, -8, 0, 0, 0, -8, 4, 2, 0, 0, 0, 2, 2,
                                 0,  0,  0, 0, 0, 2,  0, 0, 0, 0, 0, 2};
  std::vector<double> gradient = {0, -4, -4, -2, -2};
  std::vector<double> matrix = {1, 3,  0, 0, 0, 0, 0,  1, 1, -2, 0, 1, 0,
                                0, -1, 0, 1, 1, 1, -3, 1, 0, 0,  0, 0};
  std::vector<double> lower = {0, 0, 0, 0, -1};
  std::vector<double> upper = {0, 0, 0, 0, std::numeric_limits<double>::infinity()};
};

struct TableAnswer {
  kernels::QpOutcome<double> outcome;
  std::array<double, 5> x, y;
};

template <class Entry>
TableAnswer solve_by_table(const TableProblem& problem) {
  std::vector<int> first, column;
  for (int i = 0; i <= 5; ++i) first.push_back(5 * i);
  for (int e = 0; e < 25; ++e) column.push_back(e % 5);
  const std::array<int, 5> equations = {0, 1, 2, 3, 4};
  const int bound = 4;
  kernels::QpShape shape{};
  shape.variables = shape.rows = 5;
  shape.lowers = 1;
  shape.lower_row = &bound;
  shape.inequalities = 1;
  shape.inequality_row = &bound;
  shape.equations = 4;
  shape.equation_row = equations.data();
  shape.row_first = first.data();
  shape.column = column.data();
  std::vector<double> memory(static_cast<std::size_t>(kernels::qp_dual_pivot_workspace(5, 5)));
  kernels::QpDualPivots<double, TableMemory, Entry> body(shape, TableMemory{memory.data()});
  const kernels::QpView<TableData> view{{problem.hessian.data()},
                                        {problem.gradient.data()},
                                        {problem.matrix.data()},
                                        {problem.lower.data()},
                                        {problem.upper.data()}};
  TableAnswer answer{body.solve(view, {1e-9, 100}), {}, {}};
  for (int k = 0; k < 5; ++k) {
    answer.x[static_cast<std::size_t>(k)] = body.solution(k);
    answer.y[static_cast<std::size_t>(k)] = body.dual(k);
  }
  return answer;
}

TEST(QpDualPivots, TakeProximalStepsOutAgain) {
  const TableAnswer answer = solve_by_table<Proximal>({});
  EXPECT_EQ(answer.outcome.end, kernels::qp_end::kActiveSet);
  EXPECT_EQ(answer.outcome.level, 1.0);
  const std::array<double, 5> expected = {-33.0 / 349, 11.0 / 349, 180.0 / 349, -158.0 / 349,
                                          11.0 / 349};
  for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(answer.x[j], expected[j], 1e-15);
  EXPECT_EQ(answer.y[4], 0.0);
  EXPECT_EQ(solve_by_table<kernels::QpOneEntry>({}).outcome.end, kernels::qp_end::kRunning);
}

TEST(QpDualPivots, ABoundThatHoldsAndHessiansThatAreDefiniteOrNotConvex) {
  TableProblem problem;
  problem.lower[4] = -0.06;  // on a, which would be -0.0946
  const TableAnswer held = solve_by_table<Proximal>(problem);
  EXPECT_EQ(held.outcome.end, kernels::qp_end::kActiveSet);
  // a = -0.06, b = e = 0.02, c + d = 0.04; by hand c = (0.04 - 1 + 1.98) / 2 = 0.51.
  const std::array<double, 5> expected = {-0.06, 0.02, 0.51, -0.47, 0.02};
  for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(held.x[j], expected[j], 1e-15);
  EXPECT_LT(held.y[4], 0.0);

  problem.hessian[24] = -2.0;
  EXPECT_EQ(solve_by_table<Proximal>(problem).outcome.end, kernels::qp_end::kRunning);
  problem.hessian[24] = 2.0;
  problem.hessian[12] = 3.0;  // no longer a square of b + c
  const TableAnswer definite = solve_by_table<Proximal>(problem);
  EXPECT_EQ(definite.outcome.end, kernels::qp_end::kActiveSet);
  EXPECT_EQ(definite.outcome.level, 0.0);
}

}  // namespace
}  // namespace carom
