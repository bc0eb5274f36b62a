#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/lp.hpp>

#include "cpu/programs/lp_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "emulation/emulation.hpp"
#include "programs/lp/backends.hpp"
#include "support/lp_problems.hpp"

namespace carom {
namespace {

using test::batch_of;
using test::Generator;
using test::Lp;
using test::LpFlavour;

struct LpShape {
  int rows, columns;
};
constexpr LpShape kShapes[] = {{1, 1}, {2, 3}, {3, 2}, {6, 34}, {8, 8}, {13, 40}, {20, 9}};

class LpFamilies : public ::testing::TestWithParam<LpFlavour> {};

TEST_P(LpFamilies, CpuAgreesWithReference) {
  Generator random(41 + static_cast<int>(GetParam()));
  long solved = 0;
  for (const LpShape shape : kShapes) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
    const std::vector<Lp> problems =
        test::random_lps(random, GetParam(), shape.rows, shape.columns, 40);
    const LpBatch batch = batch_of(problems);
    const LpResult cpu = solve_lp(batch, {}, Backend::cpu);
    const LpResult reference = solve_lp(batch, {}, Backend::reference);
    for (std::size_t p = 0; p < problems.size(); ++p) {
      SCOPED_TRACE(p);
      const Status status = cpu.status.host()[p];
      EXPECT_EQ(status, reference.status.host()[p]);
      EXPECT_TRUE(status == Status::solved || status == Status::infeasible ||
                  status == Status::unbounded)
          << to_string(status);
      test::expect_proven(problems[p], cpu, p);
      test::expect_proven(problems[p], reference, p);
      if (status != Status::solved) continue;
      ++solved;
      const double expected = reference.objective.host()[p];
      EXPECT_NEAR(cpu.objective.host()[p], expected, 1e-9 * (1.0 + std::fabs(expected)));
    }
    const auto all = [&](Status status) {
      return std::all_of(cpu.status.host().begin(), cpu.status.host().end(),
                         [&](Status s) { return s == status; });
    };
    if (GetParam() == LpFlavour::feasible) {
      EXPECT_TRUE(all(Status::solved));
    }
    if (GetParam() == LpFlavour::infeasible && shape.rows > 1) {
      EXPECT_TRUE(all(Status::infeasible));
    }
    if (GetParam() == LpFlavour::unbounded) {
      EXPECT_TRUE(all(Status::unbounded));
    }
  }
  if (GetParam() == LpFlavour::degenerate || GetParam() == LpFlavour::anything) {
    EXPECT_GT(solved, 30);
  }
}

TEST_P(LpFamilies, EmulatedWarpsComputeTheSameBits) {
  Generator random(51 + static_cast<int>(GetParam()));
  for (const LpShape shape : kShapes) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
    const LpBatch batch =
        batch_of(test::random_lps(random, GetParam(), shape.rows, shape.columns, 10));
    const LpResult cpu = solve_lp(batch, {}, Backend::cpu);
    test::expect_identical(emulation::solve_lp(batch, {}, nullptr, false), cpu);
    test::expect_identical(emulation::solve_lp(batch, {}, nullptr, true), cpu);
  }
}

/// Problems of all families in one batch, whose lanes end at different times and in different ways.
TEST(LpPacks, LanesAnswerAsEachProblemAlone) {
  constexpr int kCount = 104;
  constexpr LpShape kPacked[] = {{1, 1},  {2, 3},  {3, 7}, {3, 34},
                                 {5, 11}, {6, 34}, {7, 9}, {8, 20}};
  Generator random(2077);
  long pivots = 0;
  for (const LpShape shape : kPacked) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
    std::vector<Lp> problems;
    for (int p = 0; p < kCount; ++p) {
      const LpFlavour flavour = test::kLpFlavours[p / 4 % std::size(test::kLpFlavours)];
      problems.push_back(test::random_lp(random, flavour, shape.rows, shape.columns));
    }
    problems[17].cost[0] = std::nan("");
    std::vector<LpResult> alone;
    alone.reserve(kCount);
    for (const Lp& lp : problems) alone.push_back(solve_lp(batch_of({lp}), {}, Backend::cpu));
    const LpBatch batch = batch_of(problems);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      SCOPED_TRACE(set->name);
      const LpResult packed = cpu::drive_lp(batch, {}, nullptr, set->solve_lps);
      for (int p = 0; p < kCount; ++p) {
        SCOPED_TRACE(p);
        const LpResult& one = alone[static_cast<std::size_t>(p)];
        ASSERT_EQ(packed.status.host()[p], one.status.host()[0]);
        EXPECT_EQ(packed.pivots.host()[p], one.pivots.host()[0]);
        pivots += one.pivots.host()[0];
        const auto same = [&](const auto& all, const auto& own, int size) {
          return test::first_difference(all, static_cast<std::size_t>(p) * size, own, 0, size);
        };
        const int n = shape.columns;
        const int m = shape.rows;
        EXPECT_EQ(same(packed.solution, one.solution, n), -1);
        EXPECT_EQ(same(packed.dual, one.dual, m), -1);
        EXPECT_EQ(same(packed.basis, one.basis, n + m), -1);
        EXPECT_EQ(same(packed.farkas, one.farkas, m), -1);
        EXPECT_EQ(same(packed.ray, one.ray, n), -1);
        EXPECT_EQ(same(packed.point, one.point, n), -1);
        EXPECT_EQ(same(packed.objective, one.objective, 1), -1);
        EXPECT_EQ(same(packed.residual, one.residual, 1), -1);
      }
    }
  }
  EXPECT_GT(pivots, 10 * kCount);
}

TEST_P(LpFamilies, PowersOfTwoChangeNothingElse) {
  Generator random(61 + static_cast<int>(GetParam()));
  std::vector<Lp> problems = test::random_lps(random, GetParam(), 7, 15, 30);
  const LpResult plain = solve_lp(batch_of(problems), {}, Backend::cpu);
  for (Lp& lp : problems) {
    for (int i = 0; i < lp.rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const double factor = std::ldexp(1.0, random.integer(-12, 12));
      for (int j = 0; j < lp.columns; ++j) {
        lp.matrix[static_cast<std::size_t>(i * lp.columns + j)] *= factor;
      }
      lp.row_lower[row] *= factor;
      lp.row_upper[row] *= factor;
    }
  }
  const LpResult scaled = solve_lp(batch_of(problems), {}, Backend::cpu);
  EXPECT_EQ(test::first_difference(plain.status, scaled.status), -1);
  EXPECT_EQ(test::first_difference(plain.pivots, scaled.pivots), -1);
  EXPECT_EQ(test::first_difference(plain.solution, scaled.solution), -1);
}

TEST_P(LpFamilies, OrderOfRowsAndColumnsDoesNotMatter) {
  Generator random(71 + static_cast<int>(GetParam()));
  const std::vector<Lp> problems = test::random_lps(random, GetParam(), 6, 12, 40);
  std::vector<Lp> turned = problems;
  for (Lp& lp : turned) {
    std::reverse(lp.matrix.begin(), lp.matrix.end());  // turns rows and columns around
    for (auto* values :
         {&lp.cost, &lp.row_lower, &lp.row_upper, &lp.column_lower, &lp.column_upper}) {
      std::reverse(values->begin(), values->end());
    }
  }
  const LpResult a = solve_lp(batch_of(problems), {}, Backend::cpu);
  const LpResult b = solve_lp(batch_of(turned), {}, Backend::cpu);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    EXPECT_EQ(a.status.host()[p], b.status.host()[p]);
    if (a.status.host()[p] != Status::solved) continue;
    EXPECT_NEAR(a.objective.host()[p], b.objective.host()[p],
                1e-10 * (1.0 + std::fabs(a.objective.host()[p])));
  }
}

TEST_P(LpFamilies, ThreadsAndNeighboursDoNotMatter) {
  Generator random(81 + static_cast<int>(GetParam()));
  const std::vector<Lp> problems = test::random_lps(random, GetParam(), 5, 11, 70);
  LpSettings settings;
  settings.threads = 1;
  const LpResult one = solve_lp(batch_of(problems), settings, Backend::cpu);
  settings.threads = 3;
  test::expect_identical(solve_lp(batch_of(problems), settings, Backend::cpu), one);
  std::vector<Lp> poisoned = problems;
  poisoned[33].matrix[7] = std::nan("");
  const LpResult other = solve_lp(batch_of(poisoned), settings, Backend::cpu);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    if (p == 33) continue;
    EXPECT_EQ(other.status.host()[p], one.status.host()[p]);
    EXPECT_EQ(test::first_difference(other.solution, 11 * p, one.solution, 11 * p, 11), -1);
    EXPECT_EQ(test::first_difference(other.dual, 5 * p, one.dual, 5 * p, 5), -1);
  }
  EXPECT_EQ(other.status.host()[33], Status::invalid_input);
}

TEST_P(LpFamilies, WarmStartsFindTheSameObjective) {
  Generator random(91 + static_cast<int>(GetParam()));
  std::vector<Lp> problems = test::random_lps(random, GetParam(), 6, 18, 40);
  const LpResult first = solve_lp(batch_of(problems), {}, Backend::cpu);
  const LpResult again = solve_lp(batch_of(problems), {}, Backend::cpu, &first.basis);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    SCOPED_TRACE(p);
    EXPECT_EQ(first.status.host()[p], again.status.host()[p]);
    if (first.status.host()[p] != Status::solved) continue;
    EXPECT_EQ(again.pivots.host()[p], 0);
    EXPECT_NEAR(first.objective.host()[p], again.objective.host()[p],
                1e-12 * (1.0 + std::fabs(first.objective.host()[p])));
  }
  // Other bounds and costs from the old basis, and a basis that is none.
  for (Lp& lp : problems) {
    for (double& c : lp.cost) c += 0.1 * random.normal();
    for (int i = 0; i < lp.rows; ++i) {
      const double shift = 0.1 * random.normal();
      lp.row_lower[static_cast<std::size_t>(i)] += shift;
      lp.row_upper[static_cast<std::size_t>(i)] += shift;
    }
  }
  const LpBatch changed = batch_of(problems);
  const LpResult cold = solve_lp(changed, {}, Backend::cpu);
  Buffer<BasisStatus> nonsense(first.basis.size());
  for (BasisStatus& status : nonsense.host()) {
    status = static_cast<BasisStatus>(random.integer(0, 7));
  }
  const Buffer<BasisStatus>* starts[] = {&first.basis, &nonsense};
  for (const Buffer<BasisStatus>* start : starts) {
    const LpResult warm = solve_lp(changed, {}, Backend::cpu, start);
    test::expect_identical(emulation::solve_lp(changed, {}, start, true), warm);
    for (std::size_t p = 0; p < problems.size(); ++p) {
      SCOPED_TRACE(p);
      EXPECT_EQ(warm.status.host()[p], cold.status.host()[p]);
      test::expect_proven(problems[p], warm, p);
      if (cold.status.host()[p] != Status::solved) continue;
      EXPECT_NEAR(warm.objective.host()[p], cold.objective.host()[p],
                  1e-10 * (1.0 + std::fabs(cold.objective.host()[p])));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Flavours, LpFamilies, ::testing::ValuesIn(test::kLpFlavours),
                         [](const auto& flavour) { return std::string(to_string(flavour.param)); });

TEST(LpSweeps, ObjectivesInTurnEqualObjectivesAlone) {
  Generator random(5);
  const std::vector<Lp> problems = test::random_lps(random, LpFlavour::feasible, 6, 34, 5);
  constexpr int kObjectives = 40;
  std::vector<double> cost;
  std::vector<Lp> alone;
  for (const Lp& lp : problems) {
    for (int k = 0; k < kObjectives; ++k) {
      Lp single = lp;
      for (double& c : single.cost) c *= 0.5 + random.unit();
      cost.insert(cost.end(), single.cost.begin(), single.cost.end());
      alone.push_back(single);
    }
  }
  LpBatch batch = batch_of(problems);
  batch.objectives = kObjectives;
  batch.cost = Buffer<double>::from(cost);
  const LpResult turn = solve_lp(batch, {}, Backend::cpu);
  const LpResult each = solve_lp(batch_of(alone), {}, Backend::cpu);
  test::expect_identical(emulation::solve_lp(batch, {}, nullptr, false), turn);
  for (std::size_t k = 0; k < alone.size(); ++k) {
    ASSERT_EQ(turn.status.host()[k], Status::solved);
    test::expect_proven(alone[k], turn, k);
    EXPECT_NEAR(turn.objective.host()[k], each.objective.host()[k],
                1e-11 * (1.0 + std::fabs(each.objective.host()[k])));
  }
  EXPECT_LT(std::accumulate(turn.pivots.host().begin(), turn.pivots.host().end(), 0),
            std::accumulate(each.pivots.host().begin(), each.pivots.host().end(), 0));
}

TEST(LpDegenerate, ManyTiesEndWithoutCycling) {
  // 100,000 programs of small integers with repeated rows; every claim is certified by the solver.
  Generator random(6);
  long counts[3] = {};
  for (int round = 0; round < 100; ++round) {
    const int m = random.integer(1, 7);
    const int n = random.integer(1, 10);
    const LpBatch batch = batch_of(test::random_lps(random, LpFlavour::degenerate, m, n, 1000));
    const LpResult result = solve_lp(batch, {}, Backend::cpu);
    for (std::size_t p = 0; p < 1000; ++p) {
      const Status status = result.status.host()[p];
      ASSERT_TRUE(status == Status::solved || status == Status::infeasible ||
                  status == Status::unbounded)
          << "round " << round << ", problem " << p << ", " << m << " x " << n << ": "
          << to_string(status);
      ASSERT_LE(result.residual.host()[p], 1e-9);
      ASSERT_LE(result.pivots.host()[p], 10 * (m + n));
      ++counts[status == Status::solved ? 0 : (status == Status::infeasible ? 1 : 2)];
    }
  }
  for (const long count : counts) EXPECT_GT(count, 1000);
}

TEST(LpDegenerate, BealesCycle) {
  // Beale's example, on which the largest reduced cost with naive ties cycles: -0.05.
  Lp lp;
  lp.rows = 3;
  lp.columns = 4;
  lp.cost = {-0.75, 150, -0.02, 6};
  lp.matrix = {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0};
  lp.row_lower.assign(3, -INFINITY);
  lp.row_upper = {0, 0, 1};
  lp.column_lower.assign(4, 0.0);
  lp.column_upper.assign(4, INFINITY);
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const LpResult result = solve_lp(batch_of({lp}), {}, backend);
    ASSERT_EQ(result.status.host()[0], Status::solved);
    EXPECT_NEAR(result.objective.host()[0], -0.05, 1e-15);
  }
}

/// Nothing is left open; 129 rows are the first beyond what two registers' indices once reached.
TEST(LpLimits, LargestShapes) {
  const auto expect_answers = [](const std::vector<Lp>& problems, LpFlavour flavour) {
    const LpResult result = solve_lp(batch_of(problems), {}, Backend::cpu);
    for (std::size_t p = 0; p < problems.size(); ++p) {
      SCOPED_TRACE(std::string(test::to_string(flavour)) + " " + std::to_string(problems[p].rows) +
                   " x " + std::to_string(problems[p].columns));
      const Status status = result.status.host()[p];
      EXPECT_TRUE(status == Status::solved || status == Status::infeasible ||
                  status == Status::unbounded)
          << to_string(status);
      if (flavour == LpFlavour::feasible) {
        EXPECT_EQ(status, Status::solved);
      }
      if (flavour == LpFlavour::infeasible) {
        EXPECT_EQ(status, Status::infeasible);
      }
      if (flavour == LpFlavour::unbounded) {
        EXPECT_EQ(status, Status::unbounded);
      }
      test::expect_proven(problems[p], result, p);
    }
  };
  for (const LpFlavour flavour : test::kLpFlavours) {
    Generator random(7);
    expect_answers(test::random_lps(random, flavour, 129, kMaxLpColumns, 2), flavour);
    expect_answers(test::random_lps(random, flavour, kMaxLpRows, 64, 1), flavour);
  }
  Generator random(7);
  expect_answers(test::random_lps(random, LpFlavour::degenerate, kMaxLpRows, kMaxLpColumns, 1),
                 LpFlavour::degenerate);
}

/// Rows through zero: what rounding leaves of values and prices that are zero stands alone there.
TEST(LpDegenerate, ConesEndAtZeroOrTheirBox) {
  Generator random(15);
  long at_zero = 0;
  for (const auto& [rows, columns] :
       {std::pair{81, 57}, {112, 57}, {129, 57}, {131, 38}, {40, 20}, {9, 6}}) {
    std::vector<Lp> problems;
    for (int p = 0; p < 60; ++p) problems.push_back(test::random_cone_lp(random, rows, columns));
    const LpBatch batch = batch_of(problems);
    const LpResult result = solve_lp(batch, {}, Backend::cpu);
    // The lanes of a warp one after the other take a second a problem of 129 rows.
    const LpBatch few = batch_of({problems.begin(), problems.begin() + 6});
    test::expect_identical(emulation::solve_lp(few, {}, nullptr, true),
                           solve_lp(few, {}, Backend::cpu));
    for (std::size_t p = 0; p < problems.size(); ++p) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " +
                   std::to_string(p));
      ASSERT_EQ(result.status.host()[p], Status::solved);
      const Lp& lp = problems[p];
      test::expect_proven(lp, result, p);
      // Primal and dual by hand: the box alone has bounds other than zero.
      const double* x = result.solution.data() + p * lp.cost.size();
      const double* y = result.dual.data() + p * lp.row_upper.size();
      double dual = 0.0;
      double terms = 0.0;
      for (int j = 0; j < columns; ++j) {
        const auto column = static_cast<std::size_t>(j);
        double reduced = lp.cost[column];
        double size = std::fabs(reduced);
        for (int i = 0; i < rows; ++i) {
          const double term = y[i] * lp.matrix[static_cast<std::size_t>(i * columns + j)];
          reduced -= term;
          size += std::fabs(term);
        }
        dual += reduced * (reduced > 0.0 ? lp.column_lower : lp.column_upper)[column];
        terms += size * lp.column_upper[column];
        EXPECT_GE(x[j], lp.column_lower[column] - 1e-12);
        EXPECT_LE(x[j], lp.column_upper[column] + 1e-12);
      }
      for (int i = 0; i < rows; ++i) {
        double activity = 0.0;
        for (int j = 0; j < columns; ++j) {
          activity += lp.matrix[static_cast<std::size_t>(i * columns + j)] * x[j];
        }
        EXPECT_LE(activity, 1e-8);
        EXPECT_LE(y[i], 0.0);
      }
      EXPECT_NEAR(result.objective.host()[p], dual, 1e-12 * terms);
      at_zero += result.objective.host()[p] == 0.0 ? 1 : 0;
    }
  }
  EXPECT_GT(at_zero, 10);
}

/// Rows and their copies that contradict each other: two multipliers, and dust in the others'.
TEST(LpDegenerate, ContradictingCopiesAreProven) {
  Generator random(3);
  for (const auto& [rows, columns] : {std::pair{32, 128}, {64, 128}, {64, 256}}) {
    const std::vector<Lp> problems =
        test::random_lps(random, LpFlavour::degenerate, rows, columns, 32);
    const LpResult result = solve_lp(batch_of(problems), {}, Backend::cpu);
    for (std::size_t p = 0; p < problems.size(); ++p) {
      const Status status = result.status.host()[p];
      EXPECT_TRUE(status == Status::solved || status == Status::infeasible ||
                  status == Status::unbounded)
          << rows << " x " << columns << ", " << p << ": " << to_string(status);
      test::expect_proven(problems[p], result, p);
    }
  }
}

}  // namespace
}  // namespace carom
