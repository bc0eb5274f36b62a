#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <carom/lcp.hpp>

#include "programs/lcp/backends.hpp"
#include "programs/lcp/kernels/principal_pivots.hpp"
#include "support/random_problems.hpp"

// Problems that src/programs/lcp/kernels/principal_pivots.hpp takes instead of Lemke's method.
namespace carom {
namespace {

using test::Generator;
using test::Matrix;
using test::Vector;

/// Of principal pivots alone; z: [n] out.
int principal_pivots(const Matrix& matrix, const Vector& vector, std::vector<double>& z) {
  const int n = static_cast<int>(vector.size());
  std::vector<double> memory(static_cast<std::size_t>(kernels::principal_workspace(n)));
  z.assign(static_cast<std::size_t>(n), 0.0);
  return kernels::solve_by_principal_pivots(kernels::SingleLane{}, n, matrix.data(), vector.data(),
                                            1e-9, 50 * (n + 1), z.data(), memory.data())
      .pivots;
}

LcpBatch batch_of(const Matrix& matrix, const Vector& vector) {
  LcpBatch batch;
  batch.problems = 1;
  batch.order = static_cast<int>(vector.size());
  batch.matrix = Buffer<double>::from(test::flat(matrix));
  batch.vector = Buffer<double>::from(test::flat(vector));
  return batch;
}

/// Whole numbers, each diagonal entry one more than the sum of the magnitudes beside it, whose own
/// sum is not positive.
Matrix dominant(Generator& random, int n, int most, double share) {
  Matrix matrix = Matrix::Zero(n, n);
  for (double& entry : matrix.reshaped()) {
    if (random.unit() < share) entry = random.integer(-3, most);
  }
  for (int i = 0; i < n; ++i) {
    matrix(i, i) = 0.0;
    if (matrix.row(i).sum() > 0.0) matrix.row(i) *= -1.0;
    matrix(i, i) = 1.0 + matrix.row(i).cwiseAbs().sum();
  }
  return matrix;
}

// P-matrices have one solution, here of whole numbers: half of the pairs positive, some both zero.
TEST(PrincipalPivots, FindTheOnlySolution) {
  Generator random(41);
  int taken = 0;
  for (const int n : {10, 11, 15, 16, 17, 31, 64, 100, 128}) {
    SCOPED_TRACE(n);
    for (const int most : {0, 2}) {
      for (const double share : {0.1, 1.0}) {
        const Matrix matrix = dominant(random, n, most, share);
        Vector planted = Vector::Zero(n), slack = Vector::Zero(n);
        for (int i = 0; i < n; ++i) {
          (random.unit() < 0.5 ? planted : slack)[i] = random.integer(0, 5);
        }
        const Vector vector = slack - matrix * planted;
        std::vector<double> z;
        const int pivots = principal_pivots(matrix, vector, z);
        if (most == 0) {
          EXPECT_EQ(pivots, (planted.array() > 0.0).count());
        }
        if (pivots < 0) continue;  // one became negative
        ++taken;
        for (int i = 0; i < n; ++i) {
          EXPECT_NEAR(z[static_cast<std::size_t>(i)], planted[i], 1e-12) << i;
        }
      }
    }
  }
  EXPECT_GE(taken, 20);
}

// With less on the diagonal there may be no solution, or several: the least is where Lemke's path
// ends.
TEST(PrincipalPivots, EndWhereLemkeDoes) {
  Generator random(43);
  int found = 0, several = 0, proven = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = random.integer(10, 20);
    Matrix matrix = -random.normal_matrix(n, n).cwiseAbs() / n;
    for (int i = 0; i < n; ++i) matrix(i, i) = random.between(-0.1, 1.5);
    const Vector vector = random.normal_vector(n) + Vector::Constant(n, random.between(-0.5, 1.5));
    std::vector<double> z;
    const bool taken = principal_pivots(matrix, vector, z) >= 0;
    const LcpBatch batch = batch_of(matrix, vector);
    const LcpResult result = cpu::solve_lcp(batch, {});
    const LcpResult other = reference::solve_lcp(batch, {}, nullptr);
    ASSERT_EQ(result.status.data()[0], other.status.data()[0]) << trial;
    EXPECT_EQ(result.status.data()[0] == Status::solved, taken) << trial;
    if (!taken) {
      proven += result.status.data()[0] == Status::infeasible ? 1 : 0;
      continue;
    }
    ++found;
    several += matrix.determinant() < 0.0 ? 1 : 0;
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(result.solution.data()[i], other.solution.data()[i],
                  1e-10 * (1.0 + std::abs(other.solution.data()[i])))
          << trial;
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(several, 20);
  EXPECT_GT(proven, 50);
}

// Row by row all products have one sign: numbers far below the largest keep their digits.
TEST(PrincipalPivots, TailsKeepTheirDigits) {
  const int n = 40;
  Matrix matrix = 2.0 * Matrix::Identity(n, n);
  for (int i = 1; i < n; ++i) {
    matrix(i, i - 1) = -1e-3;
    matrix(i - 1, i) = -0.5;
  }
  Vector vector = Vector::Zero(n);
  vector[0] = -1.0;
  std::vector<double> z;
  ASSERT_EQ(principal_pivots(matrix, vector, z), n);
  // The equations from the last to the first, with exact ratios of neighbours.
  std::vector<long double> ratio(n, 0.0L);  // z_i / z_(i-1)
  for (int i = n - 1; i > 0; --i) {
    const long double next = i + 1 < n ? ratio[static_cast<std::size_t>(i) + 1] : 0.0L;
    ratio[static_cast<std::size_t>(i)] = 1e-3L / (2.0L - 0.5L * next);
  }
  long double exact = 1.0L / (2.0L - 0.5L * ratio[1]);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) exact *= ratio[i];
    EXPECT_NEAR(z[i] / static_cast<double>(exact), 1.0, 1e-13) << i;
  }
  EXPECT_LT(z[n - 1], 1e-120);
}

TEST(PrincipalPivots, LeaveTheRest) {
  const int n = 10;
  const Vector vector = Vector::Constant(n, -1.0);
  std::vector<double> z;
  Matrix matrix = Matrix::Identity(n, n);
  EXPECT_EQ(principal_pivots(matrix, vector, z), n);
  matrix(n - 1, 0) = 1.0;  // neither nonpositive nor less than the diagonal
  EXPECT_EQ(principal_pivots(matrix, vector, z), -1);
  matrix(n - 1, 0) = -1.0;
  EXPECT_EQ(principal_pivots(matrix, vector, z), n);
  matrix(n - 1, n - 1) = 0.0;  // no pivot, no solution
  EXPECT_EQ(principal_pivots(matrix, vector, z), -1);
  matrix(n - 1, n - 1) = 1.0;
  matrix(3, 3) = std::nan("");
  EXPECT_EQ(principal_pivots(matrix, vector, z), -1);
  matrix = Matrix::Identity(n - 1, n - 1);
  EXPECT_EQ(principal_pivots(matrix, vector.head(n - 1), z), -1);
}

TEST(PrincipalPivots, KeepThePivotLimit) {
  const int n = 12;
  LcpSettings settings;
  const LcpBatch batch = batch_of(Matrix::Identity(n, n), Vector::Constant(n, -1.0));
  settings.max_pivots = n;
  const LcpResult whole = cpu::solve_lcp(batch, settings);
  EXPECT_EQ(whole.status.data()[0], Status::solved);
  EXPECT_EQ(whole.pivots.data()[0], n);
  settings.max_pivots = n - 1;
  const LcpResult limited = cpu::solve_lcp(batch, settings);
  EXPECT_EQ(limited.status.data()[0], Status::iteration_limit);
  EXPECT_EQ(limited.pivots.data()[0], n - 1);
}

}  // namespace
}  // namespace carom
