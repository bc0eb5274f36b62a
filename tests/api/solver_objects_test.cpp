#include <carom/solver_objects.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "support/message.hpp"

namespace carom {
namespace {

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Values normal(std::mt19937_64& random, std::size_t count, double size = 1.0) {
  std::normal_distribution<double> draw(0.0, size);
  Values values(count);
  for (double& value : values) value = draw(random);
  return values;
}

struct SharedQps {
  int n, m;
  QpBatch one;
  Values lower, upper;
  SharedQps(std::mt19937_64& random, int variables, int rows, int rank)
      : n(variables), m(rows), lower(rows, -1.0), upper(rows, 1.0) {
    const auto size = static_cast<std::size_t>(n);
    const Values root = normal(random, size * static_cast<std::size_t>(rank));
    Values p(size * size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        p[i * size + j] = i == j && rank >= n ? 1.0 : 0.0;
        for (int k = 0; k < rank; ++k) {
          p[i * size + j] += root[static_cast<std::size_t>(k) * size + i] *
                             root[static_cast<std::size_t>(k) * size + j] / n;
        }
      }
    }
    one.problems = 1;
    one.variables = n;
    one.rows = m;
    one.hessian = Buffer<double>::from(p);
    one.matrix = Buffer<double>::from(normal(random, size * static_cast<std::size_t>(m)));
  }
  /// The same as a batch of problems with matrices of their own.
  [[nodiscard]] QpBatch batch(std::int64_t problems, const Values& q) const {
    QpBatch all;
    static_cast<QpSizes&>(all) = one;
    all.problems = problems;
    all = allocate<QpBatch>(all);
    for (std::int64_t p = 0; p < problems; ++p) {
      std::copy_n(one.hessian.data(), n * n, all.hessian.data() + p * n * n);
      std::copy_n(one.matrix.data(), m * n, all.matrix.data() + p * m * n);
      std::copy_n(q.data() + p * n, n, all.vector.data() + p * n);
      std::copy_n(lower.data(), m, all.lower.data() + p * m);
      std::copy_n(upper.data(), m, all.upper.data() + p * m);
    }
    return all;
  }
};

void expect_same(const QpResult& warm, const QpResult& cold) {
  for (std::size_t p = 0; p < cold.status.size(); ++p) {
    ASSERT_EQ(warm.status.data()[p], cold.status.data()[p]) << p;
    if (cold.status.data()[p] != Status::solved) continue;
    EXPECT_LE(warm.residual.data()[p], 1e-9);
    EXPECT_NEAR(warm.objective.data()[p], cold.objective.data()[p],
                1e-9 * (1.0 + std::abs(cold.objective.data()[p])));
  }
}

TEST(SolverObjects, QpsFromAnyWorkingSetEndWhereColdOnesEnd) {
  std::mt19937_64 random(1);
  constexpr std::int64_t kProblems = 70;
  for (const auto [n, m] : {std::pair{1, 1}, {5, 9}, {20, 60}, {40, 50}}) {
    SharedQps qps(random, n, m, n);
    if (m > 3) qps.lower[2] = qps.upper[2] = 0.25;  // an equation
    if (m > 4) qps.upper[4] = kInf;
    QpSolver solver(qps.one);
    ASSERT_TRUE(solver.keeps_factors());
    Values q = normal(random, static_cast<std::size_t>(kProblems * n), 2.0);
    std::vector<std::uint8_t> held(static_cast<std::size_t>(kProblems * m), 0);
    std::int64_t changes[3] = {};
    for (int step = 0; step < 3; ++step) {
      if (step == 2) {  // no start is too bad
        for (std::uint8_t& side : held) side = static_cast<std::uint8_t>(random() % 3);
      }
      const auto start = held;
      const QpResult warm = solver.solve({kProblems, q, qps.lower, qps.upper}, held);
      expect_same(warm, solve_qp(qps.batch(kProblems, q)));
      for (std::size_t p = 0; p < kProblems; ++p) changes[step] += warm.iterations.data()[p];
      for (std::size_t e = 0; e < held.size(); ++e) {
        const double y = warm.dual.data()[e];
        const bool equation = qps.lower[e % static_cast<std::size_t>(m)] ==
                              qps.upper[e % static_cast<std::size_t>(m)];
        if (!equation && y > 1e-9) ASSERT_EQ(held[e], 2);
        if (!equation && y < -1e-9) ASSERT_EQ(held[e], 1);
      }
      for (double& value : q) value *= 1.01;
    }
    if (m > 1) EXPECT_LT(2 * changes[1], changes[0]);
  }
}

TEST(SolverObjects, QpsWithoutAnswersKeepTheirVerdicts) {
  std::mt19937_64 random(2);
  SharedQps qps(random, 6, 12, 6);
  QpSolver solver(qps.one);
  const Values q = normal(random, 3 * 6);
  std::vector<std::uint8_t> held(3 * 12, 1);
  Values lower(3 * 12, -1.0);
  Values upper(3 * 12, 1.0);
  lower[12 + 3] = 2.0;  // above its upper bound
  lower[24] = std::nan("");
  const QpResult result = solver.solve({3, q, lower, upper}, held);
  EXPECT_EQ(result.status.data()[0], Status::solved);
  EXPECT_EQ(result.status.data()[1], Status::infeasible);
  EXPECT_EQ(result.status.data()[2], Status::invalid_input);

  SharedQps flat(random, 6, 12, 3);  // P is singular
  QpSolver without(flat.one);
  EXPECT_FALSE(without.keeps_factors());
  std::vector<std::uint8_t> sets(12, 0);
  const Values one(q.begin(), q.begin() + 6);
  expect_same(without.solve({1, one, flat.lower, flat.upper}, sets), solve_qp(flat.batch(1, one)));
}

TEST(SolverObjects, QpsWithMatricesOfTheirOwnBeginWithWhatWasActive) {
  std::mt19937_64 random(7);
  constexpr std::int64_t kProblems = 50;
  for (const auto [n, m] : {std::pair{1, 1}, {7, 9}, {20, 60}}) {
    SharedQps qps(random, n, m, n);
    if (m > 3) qps.lower[2] = qps.upper[2] = 0.25;
    if (m > 4) qps.upper[4] = kInf;
    Values q = normal(random, static_cast<std::size_t>(kProblems * n), 2.0);
    QpBatch all = qps.batch(kProblems, q);
    for (double& a : std::span(all.matrix.data(), all.matrix.size()))
      a *= 1.0 + 0.1 * static_cast<double>(random() % 10);
    for (std::int64_t p = 0; p < kProblems; ++p) all.hessian.data()[p * n * n] += p % 5;
    if (n > 1) std::fill_n(all.hessian.data(), n * n, 0.0);  // not definite
    QpSolver solver(all);
    ASSERT_TRUE(solver.keeps_factors());
    std::vector<std::uint8_t> held(static_cast<std::size_t>(kProblems * m), 0);
    std::int64_t changes[3] = {};
    for (int step = 0; step < 3; ++step) {
      if (step == 2) {
        for (std::uint8_t& side : held) side = static_cast<std::uint8_t>(random() % 3);
      }
      const QpResult warm = solver.solve({kProblems, q, qps.lower, qps.upper}, held);
      all.vector = Buffer<double>::from(q);
      expect_same(warm, solve_qp(all));
      for (std::size_t p = 1; p < kProblems; ++p) changes[step] += warm.iterations.data()[p];
      for (double& value : q) value *= 1.01;
    }
    if (m > 1) EXPECT_LT(2 * changes[1], changes[0]);
    const Values few(static_cast<std::size_t>(n), 1.0);
    const auto sets = std::span(held).first(static_cast<std::size_t>(m));
    EXPECT_EQ(test::refusal([&] {
                solver.solve({1, few, qps.lower, qps.upper}, sets);
              }),
              "problems is 1: must be as many as have matrices, 50");
  }
}

// Rows that say the same, in a start and as equations, more of these than unknowns.
TEST(SolverObjects, QpsBeginWithRowsThatDependOnOthers) {
  std::mt19937_64 random(11);
  constexpr std::int64_t kProblems = 12;
  for (const int n : {3, 9}) {
    const int m = 5 * n;
    SharedQps qps(random, n, m, n);
    const Values point = normal(random, static_cast<std::size_t>(n), 0.2);
    for (int i = 0; i < m; ++i) {
      double* row = qps.one.matrix.data() + i * n;
      if (i >= 3 * n) std::copy_n(row - n * n, n, row);  // n rows before
      if (i >= 2 * n && i < 3 * n) {                     // multiples of the first two
        for (int j = 0; j < n; ++j) row[j] = 2.0 * qps.one.matrix.data()[(i % 2) * n + j];
      }
      double value = 0.0;
      for (int j = 0; j < n; ++j) value += row[j] * point[static_cast<std::size_t>(j)];
      const auto at = static_cast<std::size_t>(i);
      qps.lower[at] = value - (i % n == 0 ? 0.0 : 0.5);
      qps.upper[at] = value + (i % n == 0 ? 0.0 : 0.5);
    }
    const Values q = normal(random, static_cast<std::size_t>(kProblems * n), 4.0);
    const QpBatch all = qps.batch(kProblems, q);
    const QpResult cold = solve_qp(all);
    for (const QpBatch* matrices : std::array<const QpBatch*, 2>{&qps.one, &all}) {
      QpSolver solver(*matrices);
      std::vector<std::uint8_t> held(static_cast<std::size_t>(kProblems * m), 0);
      for (std::uint8_t& side : held) side = static_cast<std::uint8_t>(random() % 3);
      for (int step = 0; step < 2; ++step) {
        const QpResult warm = solver.solve({kProblems, q, qps.lower, qps.upper}, held);
        expect_same(warm, cold);
        EXPECT_EQ(warm.status.data()[0], Status::solved);
      }
    }
  }
}

TEST(SolverObjects, QpsWhoseRowsExcludeEachOtherAreProvenFromAnyStart) {
  std::mt19937_64 random(13);
  constexpr std::int64_t kProblems = 10;
  constexpr int kRows = 12;
  SharedQps qps(random, 5, kRows, 5);
  double* const rows = qps.one.matrix.data();
  for (int j = 0; j < 5; ++j) rows[11 * 5 + j] = rows[2 * 5 + j] + 0.5 * rows[7 * 5 + j];
  const Values q = normal(random, 5 * kProblems);
  Values lower(kProblems * kRows, -1.0), upper(kProblems * kRows, 1.0);
  for (std::size_t p = 0; p < kProblems; p += 2) lower[p * kRows + 11] = 1.75;  // at most 1.5
  for (std::size_t p = 0; p < kProblems; ++p) upper[p * kRows + 11] = 3.0;
  const QpBatch all = qps.batch(kProblems, q);
  for (const QpBatch* matrices : std::array<const QpBatch*, 2>{&qps.one, &all}) {
    QpSolver solver(*matrices);
    std::vector<std::uint8_t> held(kProblems * kRows, 0);
    for (std::uint8_t& side : held) side = static_cast<std::uint8_t>(random() % 3);
    for (int step = 0; step < 2; ++step) {
      const QpResult result = solver.solve({kProblems, q, lower, upper}, held);
      for (std::size_t p = 0; p < kProblems; ++p) {
        ASSERT_EQ(result.status.data()[p], p % 2 == 0 ? Status::infeasible : Status::solved) << p;
        EXPECT_LE(result.residual.data()[p], 1e-9);
        if (p % 2 == 1) continue;
        const double* y = result.certificate.data() + p * kRows;
        double gain = 0.0;
        for (std::size_t i = 0; i < kRows; ++i) {
          gain += y[i] * (y[i] > 0.0 ? upper : lower)[p * kRows + i];
        }
        EXPECT_LT(gain, 0.0);
        for (int j = 0; j < 5; ++j) {
          double sum = 0.0;
          for (int i = 0; i < kRows; ++i) sum += y[i] * rows[i * 5 + j];
          EXPECT_NEAR(sum, 0.0, 1e-9);
        }
      }
    }
  }
}

/// Starts are found for a few problems at once: whole groups, what is left over, and one whose
/// gradient has no number.
TEST(SolverObjects, QpsHaveTheBitsThatTheyHaveByThemselves) {
  std::mt19937_64 random(13);
  constexpr std::int64_t kProblems = 71;
  const int n = 19;
  const int m = 37;
  SharedQps qps(random, n, m, n);
  QpSolver solver(qps.one);
  Values q = normal(random, static_cast<std::size_t>(kProblems * n), 2.0);
  q[30 * n + 3] = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::uint8_t> held(static_cast<std::size_t>(kProblems * m));
  for (std::uint8_t& side : held) side = static_cast<std::uint8_t>(random() % 9 / 7);
  const auto start = held;
  const QpResult all = solver.solve({kProblems, q, qps.lower, qps.upper}, held);
  for (std::int64_t p = 0; p < kProblems; ++p) {
    const auto at = static_cast<std::size_t>(p);
    std::vector<std::uint8_t> own(start.begin() + p * m, start.begin() + (p + 1) * m);
    const QpResult one =
        solver.solve({1, std::span(q).subspan(at * n, n), qps.lower, qps.upper}, own);
    ASSERT_EQ(one.status.data()[0], all.status.data()[p]) << p;
    ASSERT_EQ(one.status.data()[0], p == 30 ? Status::invalid_input : Status::solved) << p;
    for (int j = 0; j < n && p != 30; ++j) {
      ASSERT_EQ(one.solution.data()[j], all.solution.data()[p * n + j]) << p;
    }
    for (int i = 0; i < m && p != 30; ++i) {
      ASSERT_EQ(one.dual.data()[i], all.dual.data()[p * m + i]) << p;
      ASSERT_EQ(own[static_cast<std::size_t>(i)], held[static_cast<std::size_t>(p * m + i)]) << p;
    }
  }
}

TEST(SolverObjects, QpsTakeTheMemoryOfAResultAgain) {
  std::mt19937_64 random(12);
  SharedQps qps(random, 6, 12, 6);
  QpSolver solver(qps.one);
  std::vector<std::uint8_t> held(36, 0);
  const Values q = normal(random, 18);
  QpResult kept;
  solver.solve({3, q, qps.lower, qps.upper}, held, kept);
  const double* solution = kept.solution.data();
  std::fill(held.begin(), held.end(), 0);
  const QpResult fresh = solver.solve({3, q, qps.lower, qps.upper}, held);
  std::fill(held.begin(), held.end(), 0);
  solver.solve({3, q, qps.lower, qps.upper}, held, kept);
  EXPECT_EQ(kept.solution.data(), solution);
  for (std::size_t e = 0; e < 18; ++e) {
    EXPECT_EQ(kept.solution.data()[e], fresh.solution.data()[e]);
  }
  held.resize(12);
  solver.solve({1, std::span(q).first(6), qps.lower, qps.upper}, held, kept);
  EXPECT_EQ(kept.status.size(), 1U);
}

TEST(SolverObjects, QpsRefuseWhatDoesNotFit) {
  std::mt19937_64 random(3);
  SharedQps qps(random, 4, 3, 4);
  QpSolver solver(qps.one);
  std::vector<std::uint8_t> held(6, 0);
  const Values q(4, 1.0);
  EXPECT_EQ(test::refusal([&] {
              solver.solve({1, q, qps.lower, qps.upper}, held);
            }),
            "held has 6 values: must have 3");
  qps.one.matrix.data()[5] = std::nan("");
  EXPECT_EQ(test::refusal([&] { QpSolver(qps.one); }), "matrix[1][1] is nan: must be finite");
}

struct SharedLps {
  int m, n;
  LpBatch one;
  Values row_lower, row_upper, column_lower, column_upper;
  SharedLps(std::mt19937_64& random, int rows, int columns, std::int64_t problems, double spread)
      : m(rows), n(columns), column_lower(columns, 0.0), column_upper(columns, 2.0) {
    one.problems = 1;
    one.rows = m;
    one.columns = n;
    const auto size = static_cast<std::size_t>(n);
    const Values matrix = normal(random, size * static_cast<std::size_t>(m));
    const Values y = normal(random, static_cast<std::size_t>(m));
    std::uniform_real_distribution<double> draw(-1.0, 1.0);
    Values cost(size);
    for (std::size_t j = 0; j < size; ++j) {
      cost[j] = draw(random);
      for (std::size_t i = 0; i < y.size(); ++i) cost[j] += matrix[i * size + j] * y[i];
    }
    for (std::int64_t p = 0; p < problems; ++p) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < size; ++j) sum += matrix[i * size + j];
        row_upper.push_back(sum * (1.0 + spread * draw(random)));
        row_lower.push_back(row_upper.back() - 1.0);
      }
    }
    one.matrix = Buffer<double>::from(matrix);
    one.cost = Buffer<double>::from(cost);
  }
  [[nodiscard]] LpBatch batch() const {
    LpBatch all;
    static_cast<LpSizes&>(all) = one;
    all.problems = static_cast<std::int64_t>(row_lower.size()) / m;
    all = allocate<LpBatch>(all);
    for (std::int64_t p = 0; p < all.problems; ++p) {
      std::copy_n(one.matrix.data(), m * n, all.matrix.data() + p * m * n);
      std::copy_n(one.cost.data(), n, all.cost.data() + p * n);
      std::copy_n(column_lower.data(), n, all.column_lower.data() + p * n);
      std::copy_n(column_upper.data(), n, all.column_upper.data() + p * n);
    }
    std::copy(row_lower.begin(), row_lower.end(), all.row_lower.data());
    std::copy(row_upper.begin(), row_upper.end(), all.row_upper.data());
    return all;
  }
};

TEST(SolverObjects, LpsOfAPoolEndWhereColdOnesEnd) {
  constexpr std::int64_t kProblems = 200;
  for (const auto [m, n, spread] :
       {std::tuple{1, 1, 0.1}, {3, 2, 0.5}, {10, 20, 0.05}, {20, 40, 0.2}, {33, 70, 0.01}}) {
    std::mt19937_64 random(4);
    SharedLps lps(random, m, n, kProblems, spread);
    LpSolver solver(lps.one, {}, 40);
    std::vector<std::int32_t> start(kProblems, -1);
    const LpBounds bounds{kProblems, lps.row_lower, lps.row_upper, lps.column_lower,
                          lps.column_upper};
    const LpResult cold = solve_lp(lps.batch());
    for (int round = 0; round < 2; ++round) {
      const LpResult found = solver.solve(bounds, start);
      for (std::size_t p = 0; p < kProblems; ++p) {
        ASSERT_EQ(found.status.data()[p], cold.status.data()[p]) << m << ' ' << p;
        if (cold.status.data()[p] != Status::solved) continue;
        EXPECT_LE(found.residual.data()[p], 1e-9);
        EXPECT_NEAR(found.objective.data()[p], cold.objective.data()[p],
                    1e-9 * (1.0 + std::abs(cold.objective.data()[p])));
        if (round == 0) {  // an empty pool: solve_lp itself
          EXPECT_EQ(found.objective.data()[p], cold.objective.data()[p]);
        } else if (solver.pooled() < 40) {  // all bases are there
          EXPECT_EQ(found.pivots.data()[p], 0);
        }
      }
    }
    EXPECT_GT(solver.pooled(), 0);
  }
}

TEST(SolverObjects, APooledBasisDoesNotHideAnEmptyPolytope) {
  std::mt19937_64 random(5);
  SharedLps lps(random, 6, 9, 20, 0.1);
  LpSolver solver(lps.one);
  std::vector<std::int32_t> start(20, -1);
  solver.solve({20, lps.row_lower, lps.row_upper, lps.column_lower, lps.column_upper}, start);
  ASSERT_GT(solver.pooled(), 0);
  Values none(9, 3.0);  // above the columns' upper bounds
  const LpResult crossed =
      solver.solve({20, lps.row_lower, lps.row_upper, none, lps.column_upper}, start);
  Values far(lps.row_lower.size(), 1e3);
  Values farther(lps.row_lower.size(), 1e3 + 1.0);
  const LpResult empty =
      solver.solve({20, far, farther, lps.column_lower, lps.column_upper}, start);
  for (int p = 0; p < 20; ++p) {
    EXPECT_EQ(crossed.status.data()[p], Status::infeasible);
    EXPECT_EQ(empty.status.data()[p], Status::infeasible);
  }
  EXPECT_EQ(test::refusal([&] { LpSolver(lps.one, {}, -1); }), "pool is -1: must be in 0..4096");
}

}  // namespace
}  // namespace carom
