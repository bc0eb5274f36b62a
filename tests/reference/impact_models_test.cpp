#include <carom/impact_models.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/models/models.hpp>

#include "reference/impact/mechanism.hpp"
#include "reference/problems.hpp"

namespace carom::reference {
namespace {

constexpr double kDrop = 0.4429;

// Sticking at a corner keeps the angular momentum about it: I + m r^2 = 5/3 there, so the first
// impact leaves |omega| = (w/2) v0 / (5/3) = 0.3 v0 and the second 0.7 of that.
TEST(SequentialImpact, BlockFollowsAngularMomentum) {
  const ImpactProblem problem = block(kDrop, 1.0);
  for (const int first : {0, 1}) {
    const std::array<int, 2> order = {first, 1 - first};
    const SequentialOutcome outcome = sequential_impact(problem, order);
    ASSERT_EQ(outcome.status, Status::solved);
    EXPECT_EQ(outcome.impacts, 2);
    const double omega = (first == 0 ? -1.0 : 1.0) * 0.21 * kDrop;
    EXPECT_NEAR(outcome.velocity[2], omega, 1e-14);
    EXPECT_NEAR(outcome.normal_velocity[first], 0.21 * kDrop, 1e-14);
    EXPECT_NEAR(outcome.normal_velocity[1 - first], 0.0, 1e-14);
    EXPECT_NEAR(outcome.tangent_velocity[1 - first], 0.0, 1e-14);
    EXPECT_NEAR(outcome.kinetic_energy, 0.5 * 5.0 / 3.0 * omega * omega, 1e-15);
    EXPECT_EQ(mode_words(outcome.modes, 2, 2),
              first == 0 ? "separating/sticking" : "sticking/separating");
    // Linear momentum: m (v+ - v) is the sum of the normal impulses.
    EXPECT_NEAR(outcome.impulse[0] + outcome.impulse[1], outcome.velocity[1] + kDrop, 1e-14);
  }
}

TEST(SequentialImpact, FrictionlessBlockKeepsTheHorizontalMomentum) {
  const SequentialOutcome outcome = sequential_impact(block(kDrop, 0.0), std::array<int, 2>{0, 1});
  ASSERT_EQ(outcome.status, Status::solved);
  EXPECT_EQ(outcome.velocity[0], 0.0);
  EXPECT_EQ(outcome.impulse[2], 0.0);
  EXPECT_EQ(outcome.impulse[3], 0.0);
  // First impact: lambda = v0 / (1 + (w/2)^2 / I) = v0 / 1.6.
  EXPECT_GE(outcome.impulse[0], kDrop / 1.6 - 1e-15);
}

TEST(SequentialImpact, StopsAtTheLimitAndSaysSo) {
  ImpactModelSettings settings;
  settings.max_impacts = 1;
  const SequentialOutcome outcome =
      sequential_impact(block(kDrop, 1.0), std::array<int, 2>{0, 1}, settings);
  EXPECT_EQ(outcome.status, Status::iteration_limit);
  EXPECT_EQ(outcome.impacts, 1);
  EXPECT_TRUE(std::isnan(outcome.velocity[0]));
}

TEST(SequentialImpact, RefusesBadOrders) {
  const ImpactProblem problem = block(kDrop, 1.0);
  EXPECT_THROW(sequential_impact(problem, std::array<int, 2>{0, 2}), InvalidInput);
  EXPECT_THROW(sequential_impact(problem, std::array<int, 2>{0, 0}), InvalidInput);
  EXPECT_THROW(sequential_impact(problem, std::span<const int>()), InvalidInput);
}

TEST(SimultaneousImpact, BlockComesToRest) {
  const std::vector<ImpactOutcome> outcomes = simultaneous_impacts(block(kDrop, 1.0));
  ASSERT_EQ(outcomes.size(), 1U);
  for (const double value : outcomes[0].velocity) EXPECT_NEAR(value, 0.0, 1e-15);
  EXPECT_NEAR(outcomes[0].impulse[0] + outcomes[0].impulse[1], kDrop, 1e-15);
}

// Remy's question: the leading foot sticks, the trailing one sticks, slides or lifts.
TEST(SimultaneousImpact, WalkersHaveThreeOutcomes) {
  for (const std::string name : {"compass_gait", "ramone"}) {
    SCOPED_TRACE(name);
    const ImpactProblem problem = models::build(name);
    ImpactModelSettings settings;
    settings.mode_tolerance = 1e-9;
    const std::vector<ImpactOutcome> outcomes = simultaneous_impacts(problem, settings);
    ASSERT_EQ(outcomes.size(), 3U);
    std::vector<std::string> words;
    const double before = make_mechanism(problem).kinetic_energy(
        Eigen::Map<const Vector>(problem.velocity.data(), problem.velocities));
    for (const ImpactOutcome& outcome : outcomes) {
      EXPECT_LE(outcome.residual, 1e-9);
      EXPECT_LT(outcome.kinetic_energy, before);
      EXPECT_NEAR(outcome.normal_velocity[0], 0.0, 1e-12);
      EXPECT_NEAR(outcome.tangent_velocity[0], 0.0, 1e-12);
      words.push_back(mode_words(outcome.modes, 2, 2));
    }
    EXPECT_EQ(words[0], "sticking/sticking");
    EXPECT_EQ(words[1].substr(0, 16), "sticking/sliding");
    EXPECT_EQ(words[2], "sticking/separating");
    const ImpactOutcome lemke = simultaneous_impact(problem, settings);
    ASSERT_EQ(lemke.status, Status::solved);
    EXPECT_TRUE(std::any_of(outcomes.begin(), outcomes.end(), [&](const ImpactOutcome& outcome) {
      return std::fabs(outcome.velocity[0] - lemke.velocity[0]) < 1e-7 &&
             std::fabs(outcome.kinetic_energy - lemke.kinetic_energy) < 1e-7;
    }));
  }
}

TEST(SimultaneousImpact, SolvesExtremeFrictionAndDuplicates) {
  ImpactProblem problem = block(kDrop, 0.0);
  problem.velocity = {0.3, -kDrop, 0.1};
  // Without friction the block stops falling and turning and slides on. With all of it, it turns
  // about B, where the angular momentum is I 0.1 + w/2 v0 - h/2 0.3 < 0, and A lifts.
  const double omega = (5.0 / 12.0 * 0.1 + 0.5 * kDrop - 0.3) / (5.0 / 3.0);
  for (const double friction : {0.0, 1e5}) {
    problem.friction = {friction, friction};
    const std::vector<ImpactOutcome> outcomes = simultaneous_impacts(problem);
    ASSERT_EQ(outcomes.size(), 1U) << friction;
    EXPECT_NEAR(outcomes[0].velocity[0], friction == 0.0 ? 0.3 : -omega, 1e-12);
    EXPECT_NEAR(outcomes[0].velocity[1], friction == 0.0 ? 0.0 : -0.5 * omega, 1e-12);
    EXPECT_NEAR(outcomes[0].velocity[2], friction == 0.0 ? 0.0 : omega, 1e-12);
  }
  ImpactProblem twice = problem;
  twice.contacts = 4;
  for (auto* rows : {&twice.normal_jacobian, &twice.tangent_jacobian, &twice.friction}) {
    const std::vector<double> copy = *rows;
    rows->insert(rows->end(), copy.begin(), copy.end());
  }
  const std::vector<ImpactOutcome> outcomes = simultaneous_impacts(twice);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_NEAR(outcomes[0].velocity[2], omega, 1e-12);
}

TEST(StepOutcomes, WithoutBoundsAreTheSimultaneousOnes) {
  const ImpactProblem problem = models::build("compass_gait");
  const std::vector<double> unlimited(2, std::numeric_limits<double>::infinity());
  const std::vector<ImpactOutcome> outcomes = step_outcomes(problem, unlimited);
  const std::vector<ImpactOutcome> simultaneous = simultaneous_impacts(problem);
  ASSERT_GE(outcomes.size(), 2U);
  ASSERT_EQ(outcomes.size(), simultaneous.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].velocity, simultaneous[i].velocity);
  }
}

// Lemma 13: some contact is at its bound, or none approaches any more; Theorem 7: no energy is won.
TEST(StepOutcomes, KeepTheBoundsAndUseThem) {
  std::mt19937_64 generator(17);
  for (const int dimension : {2, 3}) {
    for (int trial = 0; trial < 40; ++trial) {
      const ImpactProblem problem = random_problem(generator, dimension, 2, 5, 0.6);
      const Mechanism mechanism = make_mechanism(problem);
      const std::vector<double> bounds = {0.01 * trial, 0.02 * trial};
      const std::vector<ImpactOutcome> outcomes = step_outcomes(problem, bounds);
      ASSERT_FALSE(outcomes.empty());
      for (const ImpactOutcome& outcome : outcomes) {
        double room = std::numeric_limits<double>::infinity();
        double approach = 0.0;
        for (std::size_t i = 0; i < 2; ++i) {
          room = std::min(room, bounds[i] - outcome.impulse[i]);
          approach = std::min(approach, outcome.normal_velocity[i]);
        }
        EXPECT_GE(room, -1e-9);
        EXPECT_TRUE(room < 1e-9 || approach > -1e-9) << room << " " << approach;
        EXPECT_LE(outcome.kinetic_energy,
                  mechanism.kinetic_energy(mechanism.velocity) * (1.0 + 1e-9));
      }
    }
  }
}

TEST(StepOutcomes, RefusesBadInput) {
  const ImpactProblem problem = block(kDrop, 1.0);
  EXPECT_THROW(step_outcomes(problem, std::vector<double>{1.0}), InvalidInput);
  EXPECT_THROW(step_outcomes(problem, std::vector<double>{1.0, -1.0}), InvalidInput);
  EXPECT_THROW(step_outcomes(problem, std::vector<double>{1.0, std::nan("")}), InvalidInput);
}

TEST(SimultaneousImpact, RefusesBadInput) {
  ImpactProblem problem = block(kDrop, 1.0);
  ImpactModelSettings settings;
  settings.max_combinations = 15;  // there are 16
  EXPECT_THROW(simultaneous_impacts(problem, settings), InvalidInput);
  settings = {};
  settings.residual_tolerance = 0.0;
  EXPECT_THROW(simultaneous_impact(problem, settings), InvalidInput);
  problem.friction[1] = -0.5;
  EXPECT_THROW(simultaneous_impacts(problem), InvalidInput);
  problem = block(kDrop, 1.0);
  problem.velocity.pop_back();
  EXPECT_THROW(simultaneous_impact(problem), InvalidInput);
}

TEST(SimultaneousImpact, NothingCollidingChangesNothing) {
  ImpactProblem problem = block(kDrop, 1.0);
  problem.velocity = {0.1, 0.2, 0.0};
  const std::vector<ImpactOutcome> outcomes = simultaneous_impacts(problem);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].velocity, problem.velocity);
}

TEST(NewtonImpact, WithoutRestitutionIsTheInelasticImpact) {
  std::mt19937_64 generator(11);
  for (const double friction : {0.0, 0.2, 1.0, 10.0}) {
    for (int trial = 0; trial < 50; ++trial) {
      const ImpactProblem problem = random_problem(generator, 2, 1, 3, friction);
      const ImpactOutcome newton = newton_impact(problem, 0, 0.0);
      const ImpactOutcome inelastic = simultaneous_impact(problem);
      ASSERT_EQ(newton.status, Status::solved);
      ASSERT_EQ(inelastic.status, Status::solved);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(newton.velocity[i], inelastic.velocity[i], 1e-9);
    }
  }
}

TEST(NewtonImpact, ReversesTheNormalVelocity) {
  std::mt19937_64 generator(12);
  for (int trial = 0; trial < 50; ++trial) {
    const ImpactProblem problem = random_problem(generator, 2, 2, 4, trial % 2 == 0 ? 0.0 : 0.5);
    const Mechanism mechanism = make_mechanism(problem);
    const double approach = (mechanism.jacobian * mechanism.velocity)[0];
    for (const double restitution : {0.0, 0.4, 1.0}) {
      const ImpactOutcome outcome = newton_impact(problem, 0, restitution);
      ASSERT_EQ(outcome.status, Status::solved);
      EXPECT_NEAR(outcome.normal_velocity[0], -restitution * approach, 1e-12);
      EXPECT_EQ(outcome.impulse[1], 0.0);  // the other contact bears nothing
      if (trial % 2 == 0 && restitution == 1.0) {
        EXPECT_NEAR(outcome.kinetic_energy, mechanism.kinetic_energy(mechanism.velocity), 1e-10);
      }
    }
  }
}

TEST(NewtonImpact, RefusesBadInput) {
  const ImpactProblem problem = block(kDrop, 1.0);
  EXPECT_THROW(newton_impact(problem, 2, 0.5), InvalidInput);
  EXPECT_THROW(newton_impact(problem, -1, 0.5), InvalidInput);
  EXPECT_THROW(newton_impact(problem, 0, 1.5), InvalidInput);
  EXPECT_THROW(newton_impact(problem, 0, std::nan("")), InvalidInput);
  EXPECT_THROW(newton_impact(models::build("cube_drop"), 0, 0.5), InvalidInput);
}

}  // namespace
}  // namespace carom::reference
