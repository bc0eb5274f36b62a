#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/lcp.hpp>

#include "core/constants.hpp"
#include "emulation/emulation.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lcp/kernels/box_lemke.hpp"
#include "support/bits.hpp"
#include "support/lcp_cases.hpp"
#include "support/random_problems.hpp"

// The body of src/programs/lcp/kernels/lemke.hpp on one lane and on an emulated warp.
namespace carom {
namespace {

using test::Generator;
using test::Matrix;
using test::Vector;

struct Problem {
  Matrix matrix;
  Vector vector;
};

LcpBatch pack(const std::vector<Problem>& problems) {
  LcpBatch batch;
  batch.problems = static_cast<std::int64_t>(problems.size());
  batch.order = static_cast<int>(problems.front().vector.size());
  std::vector<double> matrix, vector;
  for (const Problem& problem : problems) {
    const auto m = test::flat(problem.matrix);
    const auto q = test::flat(problem.vector);
    matrix.insert(matrix.end(), m.begin(), m.end());
    vector.insert(vector.end(), q.begin(), q.end());
  }
  batch.matrix = Buffer<double>::from(matrix);
  batch.vector = Buffer<double>::from(vector);
  return batch;
}

LcpBatch pack(const test::LcpCase& item) {
  LcpBatch batch;
  batch.problems = 1;
  batch.order = item.order;
  batch.matrix = Buffer<double>::from(item.matrix);
  batch.vector = Buffer<double>::from(item.vector);
  return batch;
}

double residual(const Problem& problem, const double* z) {
  return test::lcp_residual(test::flat(problem.matrix), test::flat(problem.vector), z);
}

/// The largest |min(z, w)| of a row over that row's own terms.
double row_residual(const Problem& problem, const double* z) {
  double worst = 0.0;
  for (int i = 0; i < problem.vector.size(); ++i) {
    long double w = problem.vector[i];
    long double size = std::fabs(problem.vector[i]);
    for (int j = 0; j < problem.vector.size(); ++j) {
      const long double term = static_cast<long double>(problem.matrix(i, j)) * z[j];
      w += term;
      size += std::fabs(term);
    }
    const long double miss = w < 0.0L ? -w : (z[i] > 0.0 ? w : 0.0L);
    if (miss > 0.0L) worst = std::max(worst, static_cast<double>(miss / size));
  }
  return worst;
}

TEST(LemkeBody, StoredProblemsTakeExactPivots) {
  const auto cases = test::lcp_cases();
  ASSERT_EQ(cases.size(), 35U);
  for (const test::LcpCase& item : cases) {
    SCOPED_TRACE(item.name);
    const LcpResult result = cpu::solve_lcp(pack(item), {});
    EXPECT_EQ(to_string(result.status.data()[0]), item.status());
    EXPECT_EQ(result.pivots.data()[0], item.pivots);
    if (item.outcome != "solved") {
      for (const double z : result.solution.host()) EXPECT_TRUE(std::isnan(z));
      continue;
    }
    EXPECT_TRUE(item.solvable);
    EXPECT_LE(test::lcp_residual(item.matrix, item.vector, result.solution.data()), 1e-9);
    EXPECT_LE(result.residual.data()[0], 1e-9);
    double largest = 0.0;
    for (const double z : item.solution) largest = std::max(largest, std::abs(z));
    for (int i = 0; i < item.order; ++i) {
      EXPECT_NEAR(result.solution.data()[i], item.solution[static_cast<std::size_t>(i)],
                  1e-8 * largest);
    }
  }
}

TEST(LemkeBody, LanesDoNotChangeStoredProblems) {
  for (const test::LcpCase& item : test::lcp_cases()) {
    SCOPED_TRACE(item.name);
    const LcpBatch batch = pack(item);
    const LcpResult single = cpu::solve_lcp(batch, {});
    test::expect_identical(single, emulation::solve_lcp(batch, {}, false));
    test::expect_identical(single, emulation::solve_lcp(batch, {}, true));
  }
}

enum class Kind { positive_definite, semidefinite, copositive, p_matrix };

std::string kind_name(Kind kind) {
  switch (kind) {
    case Kind::positive_definite:
      return "positive_definite";
    case Kind::semidefinite:
      return "semidefinite";
    case Kind::copositive:
      return "copositive";
    case Kind::p_matrix:
      return "p_matrix";
  }
  return {};
}

Matrix skew(Generator& random, int n) {
  const Matrix b = random.normal_matrix(n, n);
  return 0.5 * (b - b.transpose());
}

/// A problem that every method for its class must solve; `planted` is a solution of it.
Problem make(Generator& random, Kind kind, int n, Vector& planted) {
  Problem problem;
  switch (kind) {
    case Kind::positive_definite: {
      const Matrix b = random.normal_matrix(n, n);
      problem.matrix = b * b.transpose() / n + 0.1 * Matrix::Identity(n, n);
      break;
    }
    case Kind::semidefinite: {  // rank about n/2, with a skew part of the same kernel
      const Matrix b = random.normal_matrix(n, (n + 1) / 2);
      problem.matrix =
          b *
          (Matrix::Identity(b.cols(), b.cols()) + 0.3 * skew(random, static_cast<int>(b.cols()))) *
          b.transpose() / n;
      break;
    }
    case Kind::copositive: {  // semidefinite + nonnegative, indefinite in general
      const Matrix b = random.normal_matrix(n, (n + 1) / 2);
      problem.matrix = b * b.transpose() / n + random.normal_matrix(n, n).cwiseAbs() +
                       0.1 * Matrix::Identity(n, n);
      break;
    }
    case Kind::p_matrix: {  // positive definite up to positive scalings of rows and columns
      const Matrix b = random.normal_matrix(n, n);
      problem.matrix =
          b * b.transpose() / n + 0.2 * Matrix::Identity(n, n) + skew(random, n) / std::sqrt(n);
      for (int i = 0; i < n; ++i) {
        problem.matrix.row(i) *= random.between(0.2, 5.0);
        problem.matrix.col(i) *= random.between(0.2, 5.0);
      }
      break;
    }
  }
  planted = Vector::Zero(n);
  Vector slack = Vector::Zero(n);
  for (int i = 0; i < n; ++i) (random.unit() < 0.5 ? planted : slack)[i] = random.between(0.1, 2.0);
  problem.vector = slack - problem.matrix * planted;
  return problem;
}

class LemkeRandom : public ::testing::TestWithParam<Kind> {};

TEST_P(LemkeRandom, SolvesItsClassOnEveryKindOfLanes) {
  Generator random(17 + static_cast<std::uint64_t>(GetParam()));
  const bool unique = GetParam() == Kind::positive_definite || GetParam() == Kind::p_matrix;
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 23, 31, 32, 33, 48, 64, 128}) {
    SCOPED_TRACE(n);
    const int count = n <= 16 ? 40 : (n <= 64 ? 8 : 2);
    std::vector<Problem> problems;
    std::vector<Vector> planted(static_cast<std::size_t>(count));
    for (Vector& z : planted) problems.push_back(make(random, GetParam(), n, z));
    const LcpBatch batch = pack(problems);
    const LcpResult result = cpu::solve_lcp(batch, {});
    for (int p = 0; p < count; ++p) {
      const double* z = result.solution.data() + static_cast<std::ptrdiff_t>(p) * n;
      ASSERT_EQ(result.status.data()[p], Status::solved) << "problem " << p;
      ASSERT_LE(residual(problems[static_cast<std::size_t>(p)], z), 1e-9) << "problem " << p;
      if (!unique) continue;
      const Vector& known = planted[static_cast<std::size_t>(p)];
      EXPECT_LE((Eigen::Map<const Vector>(z, n) - known).cwiseAbs().maxCoeff(), 1e-8)
          << "problem " << p;
    }
    test::expect_identical(result, emulation::solve_lcp(batch, {}, false));
    test::expect_identical(result, emulation::solve_lcp(batch, {}, true));
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, LemkeRandom,
                         ::testing::Values(Kind::positive_definite, Kind::semidefinite,
                                           Kind::copositive, Kind::p_matrix),
                         [](const auto& test_case) { return kind_name(test_case.param); });

TEST(LemkeBody, PoisonStaysInItsProblem) {
  Generator random(5);
  Vector unused;
  for (const double poison : {kNan, std::numeric_limits<double>::infinity()}) {
    for (const bool in_matrix : {false, true}) {
      std::vector<Problem> problems;
      for (int p = 0; p < 33; ++p) {
        problems.push_back(make(random, Kind::positive_definite, 9, unused));
      }
      const LcpResult clean = cpu::solve_lcp(pack(problems), {});
      if (in_matrix)
        problems[16].matrix(4, 2) = poison;
      else
        problems[16].vector[3] = poison;
      const LcpResult result = cpu::solve_lcp(pack(problems), {});
      EXPECT_EQ(result.status.data()[16], Status::invalid_input);
      EXPECT_TRUE(std::isnan(result.residual.data()[16]));
      for (int i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(result.solution.data()[16 * 9 + i]));
      EXPECT_EQ(test::first_difference(result.solution, 0, clean.solution, 0, 16 * 9), -1);
      EXPECT_EQ(test::first_difference(result.solution, 17 * 9, clean.solution, 17 * 9, 16 * 9),
                -1);
      EXPECT_EQ(test::first_difference(result.pivots, 17, clean.pivots, 17, 16), -1);
    }
  }
}

// Infeasible problems of a class that Lemke decides: M semidefinite, one row forbids every z.
TEST(LemkeBody, InfeasibleProblemsAreProven) {
  Generator random(23);
  Vector unused;
  for (int n = 2; n <= 40; n += 3) {
    Problem problem = make(random, Kind::semidefinite, n, unused);
    problem.matrix.row(n / 2).setZero();
    problem.matrix.col(n / 2).setZero();
    problem.vector[n / 2] = -1.0;
    const LcpResult result = cpu::solve_lcp(pack({problem}), {});
    EXPECT_EQ(result.status.data()[0], Status::infeasible) << n;
    EXPECT_TRUE(std::isnan(result.solution.data()[0]));
    for (int i = 0; i < n; ++i) EXPECT_EQ(result.farkas.data()[i] > 0.0, i == n / 2) << n;
  }
}

// Whatever the numbers, `solved` means a small residual, and anything else but `inaccurate` is NaN.
TEST(LemkeBody, NeverFalselySolved) {
  Generator random(29);
  int solved = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int n = random.integer(1, 12);
    Problem problem{random.normal_matrix(n, n), random.normal_vector(n)};
    const double exponent = trial % 3 == 0 ? 140.0 : (trial % 3 == 1 ? 8.0 : 0.0);
    for (double& value : problem.matrix.reshaped()) {
      value *= std::pow(10.0, random.between(-exponent, exponent));
    }
    for (double& value : problem.vector)
      value *= std::pow(10.0, random.between(-exponent, exponent));
    const LcpResult result = cpu::solve_lcp(pack({problem}), {});
    const Status status = result.status.data()[0];
    if (status == Status::solved) {
      ++solved;
      EXPECT_LE(row_residual(problem, result.solution.data()), 1.001e-9) << "trial " << trial;
      EXPECT_GE(*std::min_element(result.solution.data(), result.solution.data() + n), 0.0);
    } else if (status != Status::inaccurate) {
      for (int i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(result.solution.data()[i]));
    }
  }
  // In one unit for all rows more would seem solved: rows of small numbers missed by all of them.
  EXPECT_GT(solved, 900);
}

TEST(LemkeBody, PivotLimitAndToleranceAreRespected) {
  Generator random(31);
  Vector unused;
  Problem problem = make(random, Kind::positive_definite, 12, unused);
  problem.vector.setConstant(-1.0);
  LcpSettings settings;
  settings.max_pivots = 2;
  const LcpResult limited = cpu::solve_lcp(pack({problem}), settings);
  EXPECT_EQ(limited.status.data()[0], Status::iteration_limit);
  EXPECT_EQ(limited.pivots.data()[0], 2);
  EXPECT_TRUE(std::isnan(limited.solution.data()[0]));
  settings.max_pivots = 0;
  settings.tolerance = 1e-300;
  problem.vector = random.normal_vector(12) - Vector::Constant(12, 1.0);
  const LcpResult strict = cpu::solve_lcp(pack({problem}), settings);
  ASSERT_GT(strict.residual.data()[0], 0.0);
  EXPECT_EQ(strict.status.data()[0], Status::inaccurate);
  EXPECT_LE(residual(problem, strict.solution.data()), 1e-12);
}

// Scaling q by a power of two scales z exactly; so does scaling M by its inverse.
TEST(LemkeBody, ScalesExactly) {
  Generator random(37);
  Vector unused;
  for (int n = 1; n <= 24; ++n) {
    Problem problem = make(random, Kind::copositive, n, unused);
    const LcpResult plain = cpu::solve_lcp(pack({problem}), {});
    problem.vector *= 0x1p-20;
    const LcpResult small = cpu::solve_lcp(pack({problem}), {});
    EXPECT_EQ(small.pivots.data()[0], plain.pivots.data()[0]);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(small.solution.data()[i], 0x1p-20 * plain.solution.data()[i]);
    }
  }
}

}  // namespace

// The body of src/programs/lcp/kernels/box_lemke.hpp likewise.
namespace box {
namespace {

using kernels::BoxEnd;
using kernels::Doubled;

struct Problem {
  int order;
  std::vector<double> matrix, vector, width;
  std::vector<bool> free;
};

Problem random_problem(std::mt19937& engine, int n) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Problem problem{n, {}, {}, {}, {}};
  std::vector<double> root(static_cast<std::size_t>(n * n));
  for (double& value : root) value = normal(engine);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = i == j ? 0.1 : 0.0;
      for (int k = 0; k < n; ++k) sum += root[i * n + k] * root[j * n + k] / n;
      problem.matrix.push_back(sum + (i < j ? 0.3 : i > j ? -0.3 : 0.0));
    }
    problem.vector.push_back(3.0 * normal(engine));
    problem.free.push_back(uniform(engine) < 0.2);
    const bool wide = problem.free.back() || uniform(engine) < 0.5;
    problem.width.push_back(wide ? std::numeric_limits<double>::infinity() : uniform(engine));
  }
  return problem;
}

struct Outcome {
  BoxEnd end;
  int pivots;
  std::vector<double> x;
};

template <class Number, class Lanes>
Outcome follow(const Problem& problem, const Lanes& lanes) {
  const int n = problem.order;
  std::vector<double> memory(
      static_cast<std::size_t>(kernels::box_lemke_workspace(n, sizeof(Number) > sizeof(double))));
  kernels::BoxLemke<Lanes, Number> lemke(lanes, n, memory.data());
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto width = [&](int i) { return problem.width[at(i)]; };
  Outcome outcome{};
  outcome.end = lemke.run([&](int i, int j) { return Number(problem.matrix[at(i * n + j)]); },
                          [&](int i) { return Number(problem.vector[at(i)]); }, width,
                          [&](int i) { return bool(problem.free[at(i)]); },
                          [&](int i) { return problem.free[at(i)] ? 0.0 : 1.0; }, 50 * (n + 1));
  outcome.pivots = lemke.pivots();
  for (int i = 0; i < n; ++i) outcome.x.push_back(double(lemke.solution(i, width)));
  return outcome;
}

double error_of(const Problem& problem, const std::vector<double>& x) {
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double v = problem.vector[i];
    for (std::size_t j = 0; j < x.size(); ++j) v += problem.matrix[i * x.size() + j] * x[j];
    if (problem.free[i]) {
      worst = std::max(worst, std::fabs(v));
      continue;
    }
    worst = std::max({worst, -x[i], x[i] - problem.width[i]});
    if (x[i] > 0.0) worst = std::max(worst, v);
    if (x[i] < problem.width[i]) worst = std::max(worst, -v);
  }
  return worst;
}

TEST(BoxLemke, LanesGiveTheBitsOfOne) {
  std::mt19937 engine(4);
  int flips = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem = random_problem(engine, 2 + trial % 30);
    const Outcome one = follow<double>(problem, kernels::SingleLane{});
    ASSERT_EQ(one.end, BoxEnd::solution) << trial;
    EXPECT_LE(error_of(problem, one.x), 1e-10) << trial;
    for (std::size_t i = 0; i < one.x.size(); ++i) flips += one.x[i] == problem.width[i] ? 1 : 0;
    for (const Outcome& other : {follow<double>(problem, kernels::EmulatedLanes<32, false>{}),
                                 follow<double>(problem, kernels::EmulatedLanes<32, true>{})}) {
      EXPECT_EQ(other.pivots, one.pivots);
      EXPECT_EQ(other.x, one.x);
    }
    const Outcome doubled = follow<Doubled>(problem, kernels::SingleLane{});
    EXPECT_EQ(doubled.end, BoxEnd::solution);
    EXPECT_LE(error_of(problem, doubled.x), 1e-13);
    const Outcome backwards = follow<Doubled>(problem, kernels::EmulatedLanes<32, true>{});
    EXPECT_EQ(backwards.x, doubled.x);
  }
  EXPECT_GT(flips, 30);
}

TEST(BoxLemke, ARayIsOne) {
  // v = -1 whatever x is.
  const Problem problem{1, {0.0}, {-1.0}, {std::numeric_limits<double>::infinity()}, {false}};
  EXPECT_EQ(follow<double>(problem, kernels::SingleLane{}).end, BoxEnd::ray);
  EXPECT_EQ(follow<Doubled>(problem, kernels::SingleLane{}).end, BoxEnd::ray);
  Problem bounded = problem;
  bounded.width[0] = 2.0;
  const Outcome outcome = follow<double>(bounded, kernels::SingleLane{});
  EXPECT_EQ(outcome.end, BoxEnd::solution);
  EXPECT_EQ(outcome.x[0], 2.0);
}

}  // namespace
}  // namespace box

}  // namespace carom
