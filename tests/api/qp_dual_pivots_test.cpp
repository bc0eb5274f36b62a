#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/constants.hpp"
#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "support/bits.hpp"
#include "support/qp_residual.hpp"
#include "support/qp_runs.hpp"
#include "support/random_qps.hpp"

// Few unknowns and interval rows: the dual active set in packs.
namespace carom {
namespace {

using test::expect_part;
using test::QpFlavour;
using test::random_qps;
using test::with;

/// Problems of which some have bounds on one side only, an equation, rows twice or a row switched
/// off, and some a Hessian that is only semidefinite, which only the cpu's packs take.
QpBatch many_kinds(int problems, unsigned seed) {
  QpFlavour flavour;
  flavour.variables = 7;
  flavour.rank = 9;
  flavour.rows = 17;
  QpBatch batch = random_qps(flavour, problems, seed);
  for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
    double* lower = batch.lower.data() + p * 17;
    double* upper = batch.upper.data() + p * 17;
    double* matrix = batch.matrix.data() + p * 17 * 7;
    double* hessian = batch.hessian.data() + p * 49;
    for (std::size_t i = 0; i < 17; ++i) {
      if (p % 4 == 0) upper[i] = kInfinity;
      if (p % 4 == 1 && i == 3) lower[i] = kInfinity > upper[i] ? upper[i] : lower[i];
      if (p % 4 == 1 && i == 3) upper[i] = lower[i] > -kInfinity ? lower[i] : upper[i];
      if (p % 5 == 2 && i > 11) lower[i] = -kInfinity;
      if (p % 5 == 2 && i > 11) upper[i] = kInfinity;
    }
    if (p % 3 == 1) {  // row 9 twice
      std::copy_n(matrix + 9 * 7, 7, matrix + 10 * 7);
      lower[10] = lower[9];
      upper[10] = upper[9];
    }
    if (p % 7 == 6) {
      for (std::size_t j = 0; j < 7; ++j) hessian[6 * 7 + j] = hessian[j * 7 + 6] = 0.0;
      for (std::size_t j = 0; j < 7; ++j) matrix[16 * 7 + j] = j == 6 ? 1.0 : 0.0;
      lower[16] = -1.0;
      upper[16] = 1.0;
    }
  }
  return batch;
}

TEST(QpDualPivots, TakeConvexProblems) {
  const QpBatch batch = many_kinds(131, 31);
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  int solved = 0;
  for (std::size_t p = 0; p < 131; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[p]), to_string(reference.status.host()[p]));
    if (result.status.host()[p] != Status::solved) continue;
    ++solved;
    EXPECT_EQ(to_string(result.method.host()[p]), "active_set");
    const double expected = reference.objective.host()[p];
    EXPECT_NEAR(result.objective.host()[p], expected, 1e-8 * (1.0 + std::abs(expected)));
    const test::PlainKkt kkt = test::plain_kkt(batch, result, static_cast<std::int64_t>(p));
    EXPECT_LE(kkt.primal, 1e-12);
    EXPECT_LE(kkt.dual, 1e-12);
    EXPECT_LE(kkt.gap, 1e-12);
  }
  EXPECT_GE(solved, 100);
}

TEST(QpDualPivots, SameBitsInAnyPackThreadAndEmulation) {
  const QpBatch batch = many_kinds(203, 32);
  QpSettings settings = with(QpMethod::automatic);
  const QpResult whole = solve_qp(batch, settings, Backend::cpu);
  settings.threads = 3;
  test::expect_identical(whole, solve_qp(batch, settings, Backend::cpu));
  EXPECT_GT(test::expect_same_bits_but_wide(whole, emulation::solve_qp(batch, settings, false)), 0);
  for (const std::size_t first : {std::size_t{0}, std::size_t{5}, std::size_t{130}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{67}}) {
      expect_part(batch, settings, whole, first, count);
    }
  }
}

// Low rank, in packs of the same kind and beside definite ones.
TEST(QpDualPivots, SemidefiniteProblemsHaveTheSameBitsInAnyPack) {
  QpFlavour flavour;
  flavour.variables = 9;
  flavour.rows = 18;
  flavour.rank = 4;
  flavour.equations = 2;
  QpBatch batch = random_qps(flavour, 61, 34);
  for (std::size_t p = 0; p < 61; ++p) {
    if (p % 3 == 0) {  // an equation twice
      double* matrix = batch.matrix.data() + p * 18 * 9;
      for (std::size_t j = 0; j < 9; ++j) matrix[2 * 9 + j] = -2.0 * matrix[j];
      for (double* bound : {batch.lower.data() + p * 18, batch.upper.data() + p * 18}) {
        bound[2] = -2.0 * bound[0];
      }
    }
    for (std::size_t j = 0; j < 9 && p % 5 == 4; ++j)
      batch.hessian.data()[(p * 9 + j) * 9 + j] += 1.0;
  }
  const QpResult whole = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  for (std::size_t p = 0; p < 61; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(whole.status.host()[p]), "solved");
    EXPECT_EQ(whole.method.host()[p], QpMethod::active_set);
    const double expected = reference.objective.host()[p];
    if (p % 3 != 0) {  // the reference takes no equation twice
      EXPECT_NEAR(whole.objective.host()[p], expected, 1e-9 * (1.0 + std::abs(expected)));
    }
    const test::PlainKkt kkt = test::plain_kkt(batch, whole, static_cast<std::int64_t>(p));
    EXPECT_LE(kkt.primal, 1e-12);
    EXPECT_LE(kkt.dual, 1e-12);
    EXPECT_LE(kkt.gap, 1e-12);
  }
  for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{30}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{31}}) {
      expect_part(batch, with(QpMethod::automatic), whole, first, count);
    }
  }
}

// Twelve unknowns have code of their own on the cpu; rows of one to three entries everywhere.
TEST(QpDualPivots, SameBitsAsAnySizeAndSparsity) {
  QpFlavour flavour;
  flavour.variables = 12;
  flavour.rank = 14;
  flavour.rows = 22;
  QpBatch batch = random_qps(flavour, 29, 33);
  for (std::size_t p = 0; p < 29; ++p) {
    for (std::size_t i = 0; i < 22; ++i) {
      double* row = batch.matrix.data() + (p * 22 + i) * 12;
      for (std::size_t j = 0; j < 12 && i > 3; ++j) {
        if (j < i % 10 || j > i % 10 + i % 3) row[j] = 0.0;
      }
      batch.lower.data()[p * 22 + i] = -0.5;
      batch.upper.data()[p * 22 + i] = 0.25;
    }
  }
  // One neighbour with full rows, so that the shape of the batch has no short ones.
  QpBatch full = batch.to(MemorySpace::host);
  for (double& value : full.matrix.host().subspan(0, std::size_t{22} * 12)) {
    if (value == 0.0) value = 0.25;
  }
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  test::expect_identical(result, emulation::solve_qp(batch, with(QpMethod::automatic), true));
  const QpResult other = solve_qp(full, with(QpMethod::automatic), Backend::cpu);
  EXPECT_EQ(test::first_difference(result.solution, 12, other.solution, 12, 28 * 12), -1);
  EXPECT_EQ(test::first_difference(result.dual, 22, other.dual, 22, 28 * 22), -1);
  int taken = 0;
  for (std::size_t p = 1; p < 29; ++p) {
    taken += result.method.host()[p] == QpMethod::active_set ? 1 : 0;
  }
  EXPECT_GE(taken, 20);
}

// Control with states: the plant as equations, bounds on all, P diagonal. The last problem has
// wide bounds: no row is left to enter.
TEST(QpDualPivots, EquationsHoldFromTheStart) {
  constexpr std::size_t kSteps = 4, kStates = 3, kEach = 4;  // one input and three states a step
  constexpr std::size_t kRows = kSteps * kStates + kSteps * kEach;
  constexpr std::size_t kUnknowns = kSteps * kEach;
  constexpr std::size_t kProblems = 19;
  QpFlavour flavour;
  flavour.variables = kUnknowns;
  flavour.rows = kRows;
  QpBatch batch = random_qps(flavour, kProblems, 35);  // whose numbers make the plants
  for (std::size_t p = 0; p < kProblems; ++p) {
    double* hessian = batch.hessian.data() + p * kUnknowns * kUnknowns;
    double* matrix = batch.matrix.data() + p * kRows * kUnknowns;
    double* lower = batch.lower.data() + p * kRows;
    double* upper = batch.upper.data() + p * kRows;
    const std::vector<double> plant(matrix, matrix + kStates * kUnknowns);
    std::fill_n(hessian, kUnknowns * kUnknowns, 0.0);
    std::fill_n(matrix, kRows * kUnknowns, 0.0);
    std::fill_n(batch.vector.data() + p * kUnknowns, kUnknowns, 0.0);
    for (std::size_t j = 0; j < kUnknowns; ++j) {
      hessian[j * kUnknowns + j] = j % kEach == 0 ? 0.1 : 1.0;
      matrix[(kSteps * kStates + j) * kUnknowns + j] = 1.0;
      const double limit = p + 1 == kProblems ? 1e3 : j % kEach == 0 ? 0.3 : 2.0;
      lower[kSteps * kStates + j] = -limit;
      upper[kSteps * kStates + j] = limit;
    }
    for (std::size_t i = 0; i < kSteps * kStates; ++i) {
      const std::size_t step = i / kStates, state = i % kStates;
      double* row = matrix + i * kUnknowns;
      const double* of = plant.data() + state * kUnknowns;
      row[step * kEach] = of[0];
      row[step * kEach + 1 + state] = -1.0;
      for (std::size_t k = 0; k < kStates && step > 0; ++k) {
        row[(step - 1) * kEach + 1 + k] = 0.3 * of[1 + k];
      }
      lower[i] = upper[i] = step == 0 ? of[5] : 0.0;
    }
  }
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  int entered = 0;
  for (std::size_t p = 0; p < kProblems; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[p]), "solved");
    EXPECT_EQ(result.method.host()[p], QpMethod::active_set);
    const test::PlainKkt kkt = test::plain_kkt(batch, result, static_cast<std::int64_t>(p));
    EXPECT_LE(kkt.primal, 1e-13);
    EXPECT_LE(kkt.dual, 1e-13);
    EXPECT_LE(kkt.gap, 1e-13);
    entered += result.iterations.host()[p];
  }
  EXPECT_EQ(result.iterations.host()[kProblems - 1], 0);
  EXPECT_GT(entered, 0);
  test::expect_identical(result, emulation::solve_qp(batch, with(QpMethod::automatic), false));
  const auto solve_beside_others = [&] {
    const QpResult other = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
    constexpr std::size_t kCount = kProblems - 1;
    EXPECT_EQ(test::first_difference(result.solution, kUnknowns, other.solution, kUnknowns,
                                     kCount * kUnknowns),
              -1);
    EXPECT_EQ(test::first_difference(result.dual, kRows, other.dual, kRows, kCount * kRows), -1);
    EXPECT_EQ(test::first_difference(result.residual, 1, other.residual, 1, kCount), -1);
    return other.status.host()[0];
  };
  // Beside a neighbour whose P is not diagonal and whose first equation is an interval; one with a
  // number that is none, in the half of P that is not used, where all others have zeros; one
  // without any zero.
  double* const hessian = batch.hessian.data();
  hessian[1] = hessian[kUnknowns] = 0.01;
  batch.lower.data()[0] -= 1.0;
  EXPECT_EQ(to_string(solve_beside_others()), "solved");
  hessian[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(to_string(solve_beside_others()), "invalid_input");
  for (std::size_t e = 0; e < kUnknowns * kUnknowns; ++e) {
    hessian[e] = e % (kUnknowns + 1) == 0 ? 1.0 : 0.01;
  }
  EXPECT_EQ(to_string(solve_beside_others()), "solved");
}

TEST(QpDualPivots, DependentRowsAndEquations) {
  // x + y = 1 three times over, of which the last may contradict, and a cone's corner of five rows.
  QpBatch batch;
  batch.problems = 3;
  batch.variables = 3;
  batch.rows = 8;
  std::vector<double> hessian, vector, matrix, lower, upper;
  for (int p = 0; p < 3; ++p) {
    hessian.insert(hessian.end(), {2, 0.5, 0, 0.5, 1, 0, 0, 0, 3});
    vector.insert(vector.end(), {1, 1, p == 2 ? -4.0 : 4.0});
    matrix.insert(matrix.end(), {1, 1, 0, 2, 2, 0, -1, -1, 0});
    lower.insert(lower.end(), {1, 2, p == 1 ? -1.5 : -1});
    upper.insert(upper.end(), {1, 2, p == 1 ? -1.5 : -1});
    matrix.insert(matrix.end(), {0, 0, 1, 1, 0, 1, -1, 0, 1, 0, 1, 1, 0, -1, 1});
    for (int i = 0; i < 5; ++i) {
      lower.push_back(i == 0 ? 0.5 : 0.0);
      upper.push_back(kInfinity);
    }
  }
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  EXPECT_EQ(to_string(result.status.host()[0]), "solved");
  EXPECT_EQ(to_string(result.status.host()[1]), "infeasible");
  EXPECT_EQ(to_string(result.status.host()[2]), "solved");
  EXPECT_EQ(result.method.host()[0], QpMethod::active_set);
  // By hand: min 2/2 x^2 + xy/2 + y^2/2 + x + y + 3/2 z^2 +- 4 z on x + y = 1.
  const double x0[] = {0.5, 0.5, 0.5};  // z = max(|x|, |y|, 1/2)
  const double x2[] = {0.25, 0.75, 4.0 / 3.0};
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(result.solution.host()[j], x0[j], 1e-12);
    EXPECT_NEAR(result.solution.host()[6 + j], x2[j], 1e-12);
  }
}

}  // namespace
}  // namespace carom
