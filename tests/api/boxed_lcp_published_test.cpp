#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <carom/boxed_lcp.hpp>

#include "support/boxed_problems.hpp"

// Boxes whose answers are published, or follow from the statement by another method. Each fills the
// lanes of several packs, and one is solved by itself.
namespace carom {
namespace {

using test::BoxProblem;
using test::Matrix;
using test::Vector;

/// The answer of one problem, which all of its copies have in the same bits.
Vector solved(const BoxProblem& problem) {
  const auto n = static_cast<std::size_t>(problem.order());
  const BoxedLcpResult one = solve_boxed_lcp(test::boxed_batch({problem}));
  const BoxedLcpResult many =
      solve_boxed_lcp(test::boxed_batch(std::vector<BoxProblem>(19, problem)));
  EXPECT_EQ(one.status.host()[0], Status::solved);
  EXPECT_LE(one.residual.host()[0], 1e-12);
  for (std::size_t i = 0; i < 19 * n; ++i) {
    EXPECT_EQ(many.solution.host()[i], one.solution.host()[i % n]);
  }
  return Eigen::Map<const Vector>(one.solution.data(), problem.order());
}

/// Least of x'P x / 2 + c'x with A x >= b and lower <= x <= upper by its multipliers.
Vector solved_quadratic(const Matrix& p, const Vector& c, const Matrix& a, const Vector& b,
                        const Vector& lower, const Vector& upper) {
  const auto n = c.size(), m = b.size();
  BoxProblem problem;
  problem.matrix = Matrix::Zero(n + m, n + m);
  problem.matrix.topLeftCorner(n, n) = p;
  problem.matrix.topRightCorner(n, m) = -a.transpose();
  problem.matrix.bottomLeftCorner(m, n) = a;
  problem.vector.resize(n + m);
  problem.vector << c, -b;
  problem.lower.resize(n + m);
  problem.lower << lower, Vector::Zero(m);
  problem.upper.resize(n + m);
  problem.upper << upper, Vector::Constant(m, HUGE_VAL);
  return solved(problem).head(n);
}

// Hock and Schittkowski 1981, numbers 21, 35 and 76.
TEST(PublishedBoxes, QuadraticProgramsOfHockAndSchittkowski) {
  const Vector first = solved_quadratic(Matrix{{0.02, 0}, {0, 2}}, Vector{{0, 0}}, Matrix{{10, -1}},
                                        Vector{{10}}, Vector{{2, -50}}, Vector{{50, 50}});
  EXPECT_NEAR(first[0], 2.0, 1e-14);
  EXPECT_NEAR(first[1], 0.0, 1e-14);

  const Vector second = solved_quadratic(Matrix{{4, 2, 2}, {2, 4, 0}, {2, 0, 2}},
                                         Vector{{-8, -6, -4}}, Matrix{{-1, -1, -2}}, Vector{{-3}},
                                         Vector::Zero(3), Vector::Constant(3, HUGE_VAL));
  EXPECT_NEAR(second[0], 4.0 / 3.0, 1e-14);
  EXPECT_NEAR(second[1], 7.0 / 9.0, 1e-14);
  EXPECT_NEAR(second[2], 4.0 / 9.0, 1e-14);

  const Vector third = solved_quadratic(
      Matrix{{2, 0, -1, 0}, {0, 1, 0, 0}, {-1, 0, 2, 1}, {0, 0, 1, 1}}, Vector{{-1, -3, 1, -1}},
      Matrix{{-1, -2, -1, -1}, {-3, -1, -2, 1}, {0, 1, 4, 0}}, Vector{{-5, -4, 1.5}},
      Vector::Zero(4), Vector::Constant(4, HUGE_VAL));
  EXPECT_NEAR(third[0], 3.0 / 11.0, 1e-14);
  EXPECT_NEAR(third[1], 23.0 / 11.0, 1e-14);
  EXPECT_EQ(third[2], 0.0);
  EXPECT_NEAR(third[3], 6.0 / 11.0, 1e-14);
}

// On which Lemke's method with z <= infinity takes 2^n pivots in other orders (Murty 1988, 6.2).
TEST(PublishedBoxes, MurtysTriangle) {
  for (const int n : {8, 20}) {
    BoxProblem problem{.matrix = Matrix::Identity(n, n),
                       .vector = Vector::Constant(n, -1.0),
                       .lower = Vector::Zero(n),
                       .upper = Vector::Constant(n, HUGE_VAL)};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) problem.matrix(i, j) = 2.0;
    }
    Vector right = Vector::Zero(n);
    right[0] = 1.0;
    EXPECT_EQ(solved(problem), right);
    // With z_0 <= 1/4 row 1 lacks 1/2, which z_1 brings; all rows below have enough then.
    problem.upper[0] = 0.25;
    right[0] = 0.25;
    right[1] = 0.5;
    EXPECT_EQ(solved(problem), right);
  }
}

// Firms with price a - b Q, costs c_i and capacities: each makes (a - c_i - b Q) / b, at most its
// capacity (Cournot 1838).
TEST(PublishedBoxes, CournotsFirmsWithCapacities) {
  const double a = 100.0, b = 2.0;
  const Vector cost{{10, 20, 30, 60, 95}}, capacity{{5, 20, 20, 20, 20}};
  const BoxProblem problem{.matrix = b * (Matrix::Identity(5, 5) + Matrix::Ones(5, 5)),
                           .vector = cost.array() - a,
                           .lower = Vector::Zero(5),
                           .upper = capacity};
  const Vector made = solved(problem);
  const double price = a - b * made.sum();
  for (int i = 0; i < 5; ++i) {
    const double wanted = std::max(0.0, (price - cost[i]) / b);
    EXPECT_NEAR(made[i], std::min(capacity[i], wanted), 1e-12) << i;
  }
  EXPECT_EQ(made[0], 5.0);
  EXPECT_EQ(made[4], 0.0);
}

// A membrane on a square above an obstacle and below a ceiling, five points for the Laplacian;
// against projected Gauss-Seidel (Cryer 1971).
TEST(PublishedBoxes, MembraneBetweenObstacles) {
  const int side = 7, n = side * side;
  BoxProblem problem{.matrix = 4.0 * Matrix::Identity(n, n),
                     .vector = Vector::Constant(n, 0.05),
                     .lower = Vector(n),
                     .upper = Vector::Constant(n, 0.4)};
  for (int i = 0; i < n; ++i) {
    const int x = i % side, y = i / side;
    if (x > 0) problem.matrix(i, i - 1) = problem.matrix(i - 1, i) = -1.0;
    if (y > 0) problem.matrix(i, i - side) = problem.matrix(i - side, i) = -1.0;
    const double bump = std::sin(std::numbers::pi * (x + 1) / (side + 1)) *
                        std::sin(2.0 * std::numbers::pi * (y + 1) / (side + 1));
    problem.lower[i] = bump > 0.8 ? 0.4 : 0.4 * bump;
  }
  Vector other = problem.lower;
  for (int sweep = 0; sweep < 2000; ++sweep) {
    for (int i = 0; i < n; ++i) {
      const double w = problem.matrix.row(i).dot(other) + problem.vector[i];
      other[i] = std::clamp(other[i] - w / 4.0, problem.lower[i], problem.upper[i]);
    }
  }
  const Vector found = solved(problem);
  EXPECT_LE((found - other).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_GT((found.array() == problem.lower.array()).count(), 5);
  EXPECT_GT((found.array() > problem.lower.array()).count(), 5);
}

}  // namespace
}  // namespace carom
