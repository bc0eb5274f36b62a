#include "programs/qp/kernels/qp_interior_proofs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "programs/qp/kernels/qp_refine_active_set.hpp"
#include "support/cone_decision.hpp"
#include "support/cone_judge.hpp"
#include "support/cone_problems.hpp"
#include "support/from_environment.hpp"

// Proofs in doubles that hold for the data as given (src/programs/qp/interior_proofs.cpp), and
// answers to the size of each condition's own terms (src/programs/qp/refine_active_set.cpp).
namespace carom {
namespace {

using test::ConeDecision;
using test::ConeGenerator;
using test::ConeJudge;
using test::ConeProblem;
using test::ConeShape;
using test::ConeVerdict;
using test::view_of;
using Numbers = std::vector<double>;

constexpr double kInfinity = kernels::kInfinity;

class Shaker {
 public:
  explicit Shaker(std::uint64_t seed) : engine_(seed) {}
  /// Each number off by up to this share of itself.
  Numbers operator()(const Numbers& from, double share) {
    Numbers to = from;
    for (double& value : to) {
      value *= 1.0 + std::uniform_real_distribution<double>(-share, share)(engine_);
    }
    return to;
  }

 private:
  std::mt19937_64 engine_;
};

int problems() { return test::from_environment("CAROM_TRUST_PROBLEMS", 3000); }
std::uint64_t seed_of(int trial) {
  return 7000000 + static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1)) +
         static_cast<std::uint64_t>(trial);
}

/// f(problem, whether it has the verdict, its decision, seed), every second problem of the other
/// verdict, on which nothing may be completed.
template <class F>
void each_of(ConeVerdict verdict, ConeVerdict other, F&& f) {
  for (int trial = 0; trial < problems(); ++trial) {
    SCOPED_TRACE(trial);
    const bool has_one = trial % 2 == 0;
    const ConeProblem problem = ConeGenerator(seed_of(trial)).problem(has_one ? verdict : other);
    f(problem, has_one, test::decide(problem), seed_of(trial));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(ProofsWithMargin, CompleteWhatIsNearFarkasVectorAndNothingElse) {
  int completed = 0;
  each_of(
      ConeVerdict::infeasible, ConeVerdict::solved,
      [&](const ConeProblem& problem, bool has_one, const ConeDecision& found, std::uint64_t seed) {
        const ConeShape shape(problem);
        for (const double share : {1e-9, 1e-3, 2.0}) {
          Numbers y = Shaker(seed)(found.y, share);
          if (!kernels::completes_farkas(shape.shape(), view_of(problem), y.data())) continue;
          ASSERT_TRUE(has_one);
          if (ConeJudge(problem).contradiction(y) <= 3e-14L) ++completed;
        }
      });
  EXPECT_GT(completed, problems() / 4);
}

TEST(ProofsWithMargin, CompleteWhatIsNearARayAndNothingElse) {
  int completed = 0;
  each_of(
      ConeVerdict::unbounded, ConeVerdict::doubly_infeasible,
      [&](const ConeProblem& problem, bool has_one, const ConeDecision& found, std::uint64_t seed) {
        const ConeShape shape(problem);
        for (const double share : {1e-9, 1e-3}) {
          Numbers d = Shaker(seed)(found.direction, share);
          Numbers point(d.size());
          if (!kernels::completes_ray(shape.shape(), view_of(problem), d.data(), point.data())) {
            continue;
          }
          ASSERT_TRUE(has_one);
          ConeJudge judge(problem);
          if (std::max(judge.endless(d), judge.feasible(point)) <= 3e-14L) ++completed;
        }
      });
  EXPECT_GT(completed, problems() / 20);
}

TEST(ProofsWithMargin, SayNothingWherePointsAreOnlyFarAway) {
  // |x - 2| <= 1 + t and x <= 0, as t grows from -1 on: feasible from t = 1 on.
  for (const double t : {-0.5, 0.0, 1.0 - 1e-9, 1.0, 1.0 + 1e-9}) {
    ConeProblem problem;
    problem.n = 1;
    problem.intervals = 1;
    problem.cones = {2};
    problem.hessian = {0.0};
    problem.vector = {1.0};
    problem.matrix = {1.0, 0.0, -1.0};
    problem.lower = {-kInfinity, -kInfinity, -kInfinity};
    problem.upper = {0.0, 1.0 + t, -2.0};
    const ConeShape shape(problem);
    Numbers y = {1.0, 1.0 + 1e-4, 1.0};  // inside of the cone
    EXPECT_EQ(kernels::completes_farkas(shape.shape(), view_of(problem), y.data()), t < 1.0 - 1e-3);
  }
}

/// Least squares of forces (normal, two tangents) in friction cones 0.5 of feet on a circle, which
/// carry a weight at (a, b); clean: without what rounding leaves of cos(pi/2).
ConeProblem forces_of_feet(int feet, bool clean) {
  ConeProblem problem;
  problem.n = 3 * feet;
  problem.intervals = 6;
  problem.cones.assign(static_cast<std::size_t>(feet), 3);
  problem.hessian.assign(static_cast<std::size_t>(problem.n * problem.n), 0.0);
  problem.vector.assign(static_cast<std::size_t>(problem.n), 0.0);
  problem.matrix.assign(static_cast<std::size_t>((6 + 3 * feet) * problem.n), 0.0);
  problem.lower = {0, 0, 1, 0.2, -0.1, 0};
  problem.upper = problem.lower;
  for (int f = 0; f < feet; ++f) {
    const double angle = 2.0 * std::numbers::pi * f / feet;
    const auto settled = [&](double value) {
      return clean && std::abs(value) < 1e-12 ? 0.0 : value;
    };
    const double x = settled(std::cos(angle)), y = settled(std::sin(angle));
    const int n = 3 * f;
    // The normal leans by the rounding of cos(pi/2).
    const double lean = settled(std::cos(std::numbers::pi / 2));
    problem.a(0, n + 1) = problem.a(1, n + 2) = problem.a(2, n) = 1.0;
    problem.a(0, n) = lean;
    problem.a(3, n) = y;
    problem.a(4, n) = -x;
    problem.a(5, n) = lean * y;
    problem.a(5, n + 1) = -y;
    problem.a(5, n + 2) = x;
    for (int t = 0; t < 3; ++t) {
      problem.p(n + t, n + t) = 2.0;
      problem.a(6 + n + t, n + t) = t == 0 ? -0.5 : -1.0;
      problem.lower.push_back(-kInfinity);
      problem.upper.push_back(0.0);
    }
  }
  return problem;
}

TEST(RefinedActiveSets, MeetRowsOfRoundingErrorsToTheirOwnSize) {
  for (const int feet : {4, 6, 8, 12}) {
    SCOPED_TRACE(feet);
    const QpResult clean = solve_qp(forces_of_feet(feet, true).batch());
    ASSERT_EQ(clean.status.data()[0], Status::solved);
    const ConeProblem problem = forces_of_feet(feet, false);
    EXPECT_EQ(solve_qp(problem.batch(), {}, Backend::reference).status.data()[0], Status::solved);
    const QpResult result = solve_qp(problem.batch());
    EXPECT_EQ(result.status.data()[0], Status::solved);
    EXPECT_LE(result.residual.data()[0], 1e-9);
    const Numbers x(result.solution.data(), result.solution.data() + problem.n);
    Numbers y(result.dual.data(), result.dual.data() + problem.intervals);
    y.insert(y.end(), result.cone_dual.data(), result.cone_dual.data() + 3 * feet);
    for (std::size_t j = 0; j < x.size(); ++j) EXPECT_NEAR(x[j], clean.solution.data()[j], 1e-12);
    // Beside the largest numbers nothing is left to do; in doubles and in twice the precision every
    // condition then holds to the last digits of its own terms.
    const ConeShape shape(problem);
    for (const bool doubled : {false, true}) {
      Numbers near_x = x, near_y = y;
      for (std::size_t j = 0; j < x.size(); ++j) {
        if (std::abs(x[j]) < 1e-12) near_x[j] = 0.0;
      }
      if (doubled) {
        kernels::refine_active_set<kernels::Doubled>(shape.shape(), view_of(problem), near_x.data(),
                                                     near_y.data());
      } else {
        kernels::refine_active_set<double>(shape.shape(), view_of(problem), near_x.data(),
                                           near_y.data());
      }
      ConeProblem planted = problem;
      for (const double force : near_x) planted.objective += force * force;
      EXPECT_LE(ConeJudge(planted).optimal(near_x, near_y), 1e-14L);
    }
  }
}

// More than the method in twice the precision takes.
TEST(RefinedActiveSets, SolveForcesOnManyFeet) {
  for (const int feet : {28, 40}) {
    SCOPED_TRACE(feet);
    const QpResult result = solve_qp(forces_of_feet(feet, false).batch());
    EXPECT_EQ(result.status.data()[0], Status::solved);
    EXPECT_LE(result.residual.data()[0], 1e-9);
    const QpResult clean = solve_qp(forces_of_feet(feet, true).batch());
    ASSERT_EQ(clean.status.data()[0], Status::solved);
    for (std::int64_t j = 0; j < 3 * feet; ++j) {
      EXPECT_NEAR(result.solution.data()[j], clean.solution.data()[j], 1e-12);
    }
  }
}

}  // namespace
}  // namespace carom
