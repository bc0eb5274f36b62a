#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/cone_decision.hpp"
#include "support/cone_judge.hpp"
#include "support/cone_problems.hpp"
#include "support/from_environment.hpp"

// The decision of src/programs/qp/kernels/qp_homogeneous.hpp about problems whose verdict is
// known.
namespace carom {
namespace {

using test::ConeDecision;
using test::ConeGenerator;
using test::ConeJudge;
using test::ConeProblem;
using test::ConeVerdict;
using test::decide;
using Numbers = std::vector<double>;

constexpr double kInfinity = kernels::kInfinity;

double end_of(ConeVerdict verdict) {
  return verdict == ConeVerdict::solved      ? kernels::qp_end::kConverged
         : verdict == ConeVerdict::unbounded ? kernels::qp_end::kUnbounded
                                             : kernels::qp_end::kInfeasible;
}

class Homogeneous : public ::testing::TestWithParam<ConeVerdict> {};

TEST_P(Homogeneous, DecidesAsPlanted) {
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 6000);
  const auto seed = static_cast<std::uint64_t>(GetParam()) * 1000000 + 10 +
                    static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  int undecided = 0;
  for (int trial = 0; trial < problems; ++trial) {
    SCOPED_TRACE(trial);
    const ConeProblem problem =
        ConeGenerator(seed + static_cast<std::uint64_t>(trial)).problem(GetParam());
    const ConeDecision decision = decide(problem, trial % 2 == 1);
    if (decision.outcome.end == kernels::qp_end::kStalled) {
      ++undecided;
      continue;
    }
    ASSERT_EQ(decision.outcome.end, end_of(GetParam()));
    ConeJudge judge(problem);
    long double worst = 0;
    if (GetParam() == ConeVerdict::solved) {
      worst = judge.optimal(decision.x, decision.y);
    } else if (GetParam() == ConeVerdict::unbounded) {
      worst = std::max(judge.feasible(decision.x), judge.endless(decision.direction));
    } else {
      worst = judge.contradiction(decision.y);
    }
    ASSERT_LE(worst, 3e-14L);
  }
  EXPECT_LE(undecided, problems / 500);
}

std::string name_of(const ::testing::TestParamInfo<ConeVerdict>& verdict) {
  switch (verdict.param) {
    case ConeVerdict::solved:
      return "Solved";
    case ConeVerdict::infeasible:
      return "Infeasible";
    case ConeVerdict::unbounded:
      return "Unbounded";
    default:
      return "DoublyInfeasible";
  }
}

INSTANTIATE_TEST_SUITE_P(Verdicts, Homogeneous,
                         ::testing::Values(ConeVerdict::solved, ConeVerdict::infeasible,
                                           ConeVerdict::unbounded, ConeVerdict::doubly_infeasible),
                         name_of);

/// One cone of three rows: x y >= 1 in x, y >= 0.
ConeProblem hyperbola(const Numbers& hessian, const Numbers& vector) {
  ConeProblem problem;
  problem.n = 2;
  problem.cones = {3};
  problem.hessian = hessian;
  problem.vector = vector;
  problem.matrix = {-1, -1, -1, 1, 0, 0};
  problem.lower = Numbers(3, -kInfinity);
  problem.upper = {0, 0, 2};
  return problem;
}

void add_row(ConeProblem& problem, const Numbers& row, double lower, double upper) {
  problem.matrix.insert(problem.matrix.begin(), row.begin(), row.end());
  problem.lower.insert(problem.lower.begin(), lower);
  problem.upper.insert(problem.upper.begin(), upper);
  ++problem.intervals;
}

// Iterations in doubles take the place of slow ones.
TEST(HomogeneousLimits, StartsWhereDoublesAre) {
  int whole = 0, rest = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ConeProblem problem = ConeGenerator(seed).problem(ConeVerdict::solved);
    const ConeDecision from_start = decide(problem), ahead = decide(problem, true);
    EXPECT_EQ(ahead.outcome.end, from_start.outcome.end) << seed;
    whole += from_start.outcome.iterations;
    rest += ahead.outcome.iterations;
  }
  EXPECT_GT(rest, 0);
  EXPECT_LT(rest, 0.7 * whole);
}

TEST(HomogeneousLimits, ClaimsNothingOfAnInfimumThatIsNotReached) {
  for (const bool ahead : {false, true}) {
    EXPECT_EQ(decide(hyperbola({0, 0, 0, 0}, {1, 0}), ahead).outcome.end,
              kernels::qp_end::kStalled);
  }
  EXPECT_EQ(decide(hyperbola({2, 0, 0, 0}, {0, 0})).outcome.end, kernels::qp_end::kStalled);
  // sqrt(1 + x^2) - x
  ConeProblem branch = hyperbola({0, 0, 0, 0}, {-1, 1});
  branch.matrix = {0, -1, -1, 0, 0, 0};
  branch.upper = {0, 0, 1};
  EXPECT_EQ(decide(branch).outcome.end, kernels::qp_end::kStalled);
}

TEST(HomogeneousLimits, ClaimsNothingWithoutMultipliersOrAStrictProof) {
  // v = 0 alone is feasible in (t, t, v), but no multiplier carries the slope of v.
  ConeProblem flat = hyperbola({0, 0, 0, 0}, {0, 1});
  flat.matrix = {-1, 0, -1, 0, 0, -1};
  flat.upper = {0, 0, 0};
  EXPECT_EQ(decide(flat).outcome.end, kernels::qp_end::kStalled);
  // x = 0 and x y >= 1: infeasible, yet feasible within any tolerance.
  ConeProblem weak = hyperbola({0, 0, 0, 0}, {0, 1});
  add_row(weak, {1, 0}, 0, 0);
  const double end = decide(weak).outcome.end;
  EXPECT_TRUE(end == kernels::qp_end::kStalled || end == kernels::qp_end::kInfeasible);
}

TEST(HomogeneousLimits, FindsTheTipOfTheHyperbola) {
  const ConeDecision decision = decide(hyperbola({0, 0, 0, 0}, {1, 1}));
  ASSERT_EQ(decision.outcome.end, kernels::qp_end::kConverged);
  EXPECT_EQ(decision.x, (Numbers{1, 1}));
}

// A factor serves for other sides, with the same bits; one column is the sum of two others.
TEST(LeastSquares, ReflectsAnotherSide) {
  using kernels::Doubled;
  constexpr int kRows = 9, kColumns = 6;
  struct System {
    std::vector<Doubled> table = std::vector<Doubled>(kRows * (kColumns + 1));
    std::vector<Doubled> head = std::vector<Doubled>(kColumns);
    std::vector<Doubled> x = std::vector<Doubled>(kColumns);
    std::vector<int> order = std::vector<int>(kColumns);
    std::vector<double> size = std::vector<double>(kColumns);
    kernels::LeastSquares<Doubled> body{kRows,        kColumns,    table.data(),
                                        order.data(), size.data(), head.data()};
  };
  const auto side = [](int i, int turn) { return 1.0 / (1.0 + i + 3.0 * turn); };
  const auto fill = [&](System& system, int turn) {
    for (int i = 0; i < kRows; ++i) {
      Doubled* const row = system.body.row(i);
      for (int j = 0; j < kColumns - 1; ++j)
        row[j] = (i * i * (j + 1) + 5 * i + 3 * j * j) % 11 - 5.0;
      row[kColumns - 1] = row[0] + row[2];
      row[kColumns] = side(i, turn);
    }
    system.body.reflect(1e-17, 0.0, system.x.data());
    system.body.solve(system.x.data());
  };
  System kept;
  fill(kept, 0);
  EXPECT_EQ(kept.body.rank, kColumns - 1);
  for (int turn = 1; turn < 4; ++turn) {
    for (int i = 0; i < kRows; ++i) kept.body.row(i)[kColumns] = side(i, turn);
    kept.body.reflect_side();
    kept.body.solve(kept.x.data());
    System fresh;
    fill(fresh, turn);
    EXPECT_EQ(kept.x, fresh.x);
    EXPECT_NE(kept.x, std::vector<Doubled>(kColumns));
  }
}

TEST(HomogeneousLimits, TakesProblemsWithoutRowsAndWithoutCurvature) {
  ConeProblem problem;
  problem.n = 2;
  problem.hessian = {1, 0, 0, 0};
  problem.vector = {-3, 0};
  ConeDecision decision = decide(problem);
  ASSERT_EQ(decision.outcome.end, kernels::qp_end::kConverged);
  EXPECT_EQ(decision.x, (Numbers{3, 0}));
  problem.vector = {-3, 1};
  decision = decide(problem);
  ASSERT_EQ(decision.outcome.end, kernels::qp_end::kUnbounded);
  EXPECT_LT(decision.direction[1], 0.0);
  EXPECT_EQ(decision.direction[0], 0.0);
}

}  // namespace
}  // namespace carom
