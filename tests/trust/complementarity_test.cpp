#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include <carom/lcp.hpp>

#include "support/exact_program.hpp"
#include "support/from_environment.hpp"

// Random complementarity problems of small integers in any units: what is solved has a support
// whose exact solution it is, and exact arithmetic solves what ends on no ray there.
namespace carom {
namespace {

using test::Wide;

struct Problem {
  int n = 0;
  std::vector<Wide> matrix, vector;
  std::vector<double> row, column;  ///< units
};

class Problems {
 public:
  explicit Problems(unsigned seed) : engine_(seed) {}
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  Problem next(int n, int exponent) {
    Problem p;
    p.n = n;
    const int kind = pick(0, 2);
    for (int i = 0; i < n * n; ++i) p.matrix.push_back(pick(0, 3) == 0 ? 0 : pick(-3, 3));
    const auto at = [&](int i, int j) -> Wide& {
      return p.matrix[static_cast<std::size_t>(i * n + j)];
    };
    if (kind == 0) {  // semidefinite: B'B
      const std::vector<Wide> b = p.matrix;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          at(i, j) = 0;
          for (int k = 0; k < n / 2 + 1; ++k) {
            at(i, j) +=
                b[static_cast<std::size_t>(k * n + i)] * b[static_cast<std::size_t>(k * n + j)];
          }
        }
      }
    } else if (kind == 1) {  // strictly copositive
      for (int i = 0; i < n; ++i) at(i, i) += 4;
    }
    for (int i = 0; i < n; ++i) {
      p.vector.push_back(pick(-4, 3));
      p.row.push_back(std::ldexp(1.0, pick(-exponent, exponent)));
      p.column.push_back(std::ldexp(1.0, pick(-exponent, exponent)));
    }
    return p;
  }

 private:
  std::mt19937 engine_;
};

/// Whether z, in the problem's integer units, solves it to the accuracy of doubles.
bool solves(const Problem& p, const std::vector<long double>& z) {
  for (int i = 0; i < p.n; ++i) {
    long double w = static_cast<long double>(p.vector[static_cast<std::size_t>(i)]);
    long double size = 1.0L;
    for (int j = 0; j < p.n; ++j) {
      const long double term =
          static_cast<long double>(p.matrix[static_cast<std::size_t>(i * p.n + j)]) *
          z[static_cast<std::size_t>(j)];
      w += term;
      size += std::fabs(term);
    }
    if (size > 1e8L) return false;  // small integers do not explain that
    if (z[static_cast<std::size_t>(i)] < 0.0L || w < -1e-9L * size) return false;
    if (z[static_cast<std::size_t>(i)] > 1e-9L && w > 1e-9L * size) return false;
  }
  return true;
}

TEST(Complementarity, SolvedIsSolvedInAnyUnits) {
  const int seed = test::from_environment("CAROM_TRUST_SEED", 1);
  const int count = test::from_environment("CAROM_TRUST_PROBLEMS", 400);
  long solved = 0, rays = 0, open = 0;
  for (const int exponent : {0, 20}) {
    Problems problems(static_cast<unsigned>(6 + seed + exponent));
    for (int n = 1; n <= 8; ++n) {
      std::vector<Problem> family;
      std::vector<double> matrix, vector;
      for (int p = 0; p < count; ++p) {
        family.push_back(problems.next(n, exponent));
        const Problem& own = family.back();
        for (int i = 0; i < n; ++i) {
          const double row = own.row[static_cast<std::size_t>(i)];
          for (int j = 0; j < n; ++j) {
            matrix.push_back(static_cast<double>(own.matrix[static_cast<std::size_t>(i * n + j)]) *
                             row * own.column[static_cast<std::size_t>(j)]);
          }
          vector.push_back(static_cast<double>(own.vector[static_cast<std::size_t>(i)]) * row);
        }
      }
      LcpBatch batch;
      batch.problems = count;
      batch.order = n;
      batch.matrix = Buffer<double>::from(matrix);
      batch.vector = Buffer<double>::from(vector);
      const LcpResult result = solve_lcp(batch, {}, Backend::cpu);
      for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) {
        const Status status = result.status.host()[p];
        if (status == Status::solved) {
          std::vector<long double> z;
          for (int j = 0; j < n; ++j) {
            z.push_back(
                static_cast<long double>(result.solution.data()[p * static_cast<std::size_t>(n) +
                                                                static_cast<std::size_t>(j)]) *
                family[p].column[static_cast<std::size_t>(j)]);
          }
          EXPECT_TRUE(solves(family[p], z)) << n << " " << p << " 2^" << exponent;
          ++solved;
        } else if (status == Status::ray) {
          ++rays;
          if (exponent == 0) {  // the covering vector is that of the exact method
            const auto exact = test::decide_lcp(n, family[p].matrix, family[p].vector);
            EXPECT_NE(exact.status, Status::solved) << n << " " << p;
          }
        } else {
          ++open;
        }
      }
    }
  }
  const long all = 16L * count;
  EXPECT_GT(solved, all / 4);
  EXPECT_GT(rays, all / 16);
  EXPECT_LE(open, 2 + all / 500);
  RecordProperty("solved", static_cast<int>(solved));
  RecordProperty("open", static_cast<int>(open));
}

}  // namespace
}  // namespace carom
