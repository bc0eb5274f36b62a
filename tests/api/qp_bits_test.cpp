#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/arrays.hpp"
#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "support/bits.hpp"
#include "support/qp_runs.hpp"
#include "support/random_qps.hpp"

// What must not change any bit of an answer.
namespace carom {
namespace {

using test::expect_part;
using test::QpFlavour;
using test::random_qps;
using test::with;
using test::with_cones;

// Answers of QpWideActiveSet, beside those of other methods, in packs or not.
TEST(QpWide, ThreadsAndSplitsOfABatch) {
  for (const int variables : {9, 30, 52}) {
    SCOPED_TRACE(variables);
    QpFlavour flavour;
    flavour.variables = variables;
    flavour.rank = variables / 2;
    flavour.rows = 2 * variables;
    flavour.equations = 2;
    QpBatch batch = random_qps(flavour, 37, 71);
    const auto n = static_cast<std::size_t>(variables);
    for (std::size_t p = 0; p < 37; p += 3) {  // definite ones among them
      for (std::size_t j = 0; j < n; ++j) batch.hessian.data()[(p * n + j) * n + j] += 0.5;
    }
    for (std::size_t p = 4; p < 37; p += 9) {  // and some without a point that meets the rows
      std::copy_n(batch.matrix.data() + p * 2 * n * n, n,
                  batch.matrix.data() + (p * 2 * n + 1) * n);
      batch.lower.data()[p * 2 * n] = batch.upper.data()[p * 2 * n] = 1.0;
      batch.lower.data()[p * 2 * n + 1] = batch.upper.data()[p * 2 * n + 1] = 2.0;
    }
    QpSettings settings = with(QpMethod::automatic);
    const QpResult whole = solve_qp(batch, settings, Backend::cpu);
    for (std::size_t p = 0; p < 37; ++p) {
      SCOPED_TRACE(p);
      const bool empty = p % 9 == 4;
      EXPECT_EQ(to_string(whole.status.host()[p]), empty ? "infeasible" : "solved");
      EXPECT_EQ(to_string(whole.method.host()[p]), "active_set");
      EXPECT_LE(whole.residual.host()[p], 1e-12);
    }
    settings.threads = 3;
    test::expect_identical(whole, solve_qp(batch, settings, Backend::cpu));
    for (const std::size_t first : {std::size_t{0}, std::size_t{5}, std::size_t{21}}) {
      const std::size_t count = first == 5 ? 1 : 13;
      expect_part(batch, settings, whole, first, count);
    }
  }
}

class QpBits : public ::testing::TestWithParam<QpMethod> {};

TEST_P(QpBits, ThreadsAndSplitsOfABatch) {
  const QpBatch batch = random_qps(with_cones(), 203, 11);
  QpSettings settings = with(GetParam());
  const QpResult whole = solve_qp(batch, settings, Backend::cpu);
  settings.threads = 3;
  test::expect_identical(whole, solve_qp(batch, settings, Backend::cpu));
  for (const std::size_t first : {std::size_t{0}, std::size_t{5}, std::size_t{130}}) {
    const std::size_t count = first == 5 ? 1 : 67;
    expect_part(batch, settings, whole, first, count);
  }
}

TEST_P(QpBits, EmulatedWarpForwardsAndBackwards) {
  const QpBatch batch = random_qps(with_cones(), 40, 12);
  const QpResult cpu = solve_qp(batch, with(GetParam()), Backend::cpu);
  test::expect_identical(cpu, emulation::solve_qp(batch, with(GetParam()), false));
  test::expect_identical(cpu, emulation::solve_qp(batch, with(GetParam()), true));
}

// What the first method leaves, and what is proven, goes through the second launch.
TEST(QpEmulation, SecondLaunchHasTheBitsOfTheCpu) {
  std::vector<QpFlavour> flavours(5);
  flavours[0].rank = 3;
  flavours[0].rows = 20;
  flavours[1].infeasible = true;
  flavours[2].unbounded = true;
  flavours[2].rows = 20;
  flavours[3].nonconvex = true;
  flavours[4].variables = 40;
  flavours[4].rank = 30;
  flavours[4].rows = 90;
  flavours[4].equations = 3;
  for (std::size_t f = 0; f < flavours.size(); ++f) {
    for (const QpMethod method : {QpMethod::active_set, QpMethod::automatic, QpMethod::admm}) {
      SCOPED_TRACE(std::to_string(f) + " " + std::string(to_string(method)));
      QpBatch batch = random_qps(flavours[f], 12, 31 + static_cast<unsigned>(f));
      batch.vector.data()[3] = std::numeric_limits<double>::quiet_NaN();
      batch.lower.data()[batch.rows + 1] = 1.0;  // crossed, of problem 1
      batch.upper.data()[batch.rows + 1] = 0.0;
      QpSettings settings = with(method);
      // Too few for the first method: its answers are judged and handed on.
      if (f == 4) settings.max_iterations = method == QpMethod::active_set ? 40 : 5;
      const QpResult expected = solve_qp(batch, settings, Backend::cpu);
      EXPECT_EQ(to_string(expected.status.host()[0]), "invalid_input");
      EXPECT_EQ(to_string(expected.status.host()[1]), "infeasible");
      for (const bool backwards : {false, true}) {
        const QpResult result = emulation::solve_qp(batch, settings, backwards);
        if (method == QpMethod::automatic) {
          EXPECT_EQ(test::expect_same_bits_but_wide(expected, result) > 0, f <= 1);
        } else {
          test::expect_identical(expected, result);
        }
      }
    }
  }
}

// Linear programs of one shape, rows of one entry in different places: each has the answer that it
// has alone.
TEST(QpLinear, AnswersDoNotDependOnNeighbours) {
  constexpr std::size_t kVariables = 6, kRows = 12, kProblems = 40;
  std::mt19937 random(17);
  std::uniform_int_distribution<int> pick(-3, 3);
  std::vector<std::size_t> places(kRows);
  std::iota(places.begin(), places.end(), 0U);
  std::vector<double> vector, matrix, lower, upper;
  for (std::size_t p = 0; p < kProblems; ++p) {
    for (std::size_t j = 0; j < kVariables; ++j) vector.push_back(pick(random) + 0.1);
    std::shuffle(places.begin(), places.end(), random);
    for (const std::size_t place : places) {  // the first ones bound a variable each
      const bool only = place < kVariables;
      double size = 0.0;
      for (std::size_t j = 0; j < kVariables; ++j) {
        matrix.push_back(only ? (j == place ? 1.0 : 0.0) : 0.3 * pick(random));
        size += std::abs(matrix.back());
      }
      lower.push_back(-1.7 * size);
      upper.push_back(0.9 * size);
    }
  }
  QpBatch batch;
  batch.problems = kProblems;
  batch.variables = kVariables;
  batch.rows = kRows;
  batch.hessian =
      Buffer<double>::from(std::vector<double>(kProblems * kVariables * kVariables, 0.0));
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  const QpResult together = solve_qp(batch);
  for (std::size_t p = 0; p < kProblems; ++p) {
    const auto first = static_cast<std::int64_t>(p);
    const QpResult alone = solve_qp(arrays::slice(batch, first, first + 1));
    EXPECT_EQ(to_string(alone.status.host()[0]), "solved") << p;
    EXPECT_EQ(
        test::first_difference(alone.solution, 0, together.solution, p * kVariables, kVariables),
        -1)
        << p;
    EXPECT_EQ(test::first_difference(alone.dual, 0, together.dual, p * kRows, kRows), -1) << p;
  }
}

// Twelve unknowns and cones of three have code of their own on the cpu, and none in the emulation.
TEST(QpFixedSizes, SameBitsAsAnySize) {
  for (const int cones : {0, 2}) {
    SCOPED_TRACE(cones);
    QpFlavour flavour;
    flavour.variables = 12;
    flavour.rank = 14;
    flavour.rows = 9;
    flavour.equations = 1;
    flavour.cones.assign(static_cast<std::size_t>(cones), Cone{ConeKind::second_order, 3});
    QpBatch batch = random_qps(flavour, 29, 21);
    // Rows of one, two and three entries among full ones.
    for (std::size_t p = 0; p < 29; ++p) {
      for (const std::size_t i : {4U, 5U, 7U}) {
        double* row = batch.matrix.data() + (p * 9 + i) * 12;
        for (std::size_t j = 0; j < 12; ++j) {
          if (j < i || j > i + (i == 4 ? 0U : i == 5 ? 1U : 2U)) row[j] = 0.0;
        }
        batch.lower.data()[p * 9 + i] -= 10.0;
        batch.upper.data()[p * 9 + i] += 10.0;
      }
    }
    for (const int check : {0, 1}) {
      if (check == 1) batch.vector.data()[5] = std::numeric_limits<double>::infinity();
      const QpResult cpu = solve_qp(batch, with(QpMethod::interior_point), Backend::cpu);
      test::expect_identical(cpu,
                             emulation::solve_qp(batch, with(QpMethod::interior_point), false));
      int solved = 0;
      for (const Status status : cpu.status.host()) solved += status == Status::solved ? 1 : 0;
      EXPECT_GE(solved, 24);
      const QpResult one =
          solve_qp(arrays::slice(batch, 9, 10), with(QpMethod::interior_point), Backend::cpu);
      EXPECT_EQ(test::first_difference(one.solution, 0, cpu.solution, 9 * 12, 12), -1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, QpBits,
                         ::testing::Values(QpMethod::automatic, QpMethod::admm,
                                           QpMethod::projected),
                         [](const auto& method) { return std::string(to_string(method.param)); });

}  // namespace
}  // namespace carom
