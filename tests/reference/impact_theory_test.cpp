#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact_models.hpp>
#include <carom/models/models.hpp>

#include "programs/lp/dense_simplex.hpp"
#include "reference/impact/mechanism.hpp"
#include "reference/impact/step.hpp"
#include "reference/impact/trajectory.hpp"
#include "reference/problems.hpp"

namespace carom::reference {
namespace {

using dense::maximize;
using dense::SimplexOutcome;

TEST(Simplex, SolvesATextbookProblemAndItsDual) {
  Eigen::MatrixXd matrix(3, 2);
  matrix << 1, 0, 0, 2, 3, 2;
  const SimplexOutcome outcome =
      maximize(Eigen::Vector2d(3, 5), matrix, Eigen::Vector3d(4, 12, 18));
  ASSERT_EQ(outcome.status, Status::solved);
  EXPECT_NEAR((outcome.primal - Eigen::Vector2d(2, 6)).norm(), 0.0, 1e-14);
  EXPECT_NEAR((outcome.dual - Eigen::Vector3d(0, 1.5, 1)).norm(), 0.0, 1e-14);
}

// Beale's example, on which the largest-coefficient rule cycles.
TEST(Simplex, DoesNotCycle) {
  Eigen::MatrixXd matrix(3, 4);
  matrix << 0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0;
  const SimplexOutcome outcome =
      maximize(Eigen::Vector4d(0.75, -150, 0.02, -6), matrix, Eigen::Vector3d(0, 0, 1));
  ASSERT_EQ(outcome.status, Status::solved);
  EXPECT_NEAR((outcome.primal - Eigen::Vector4d(0.04, 0, 1, 0)).norm(), 0.0, 1e-12);
}

TEST(Simplex, FindsARayOfAnUnboundedProblem) {
  Eigen::MatrixXd matrix(1, 2);
  matrix << 1, -2;
  const Eigen::Vector2d cost(1, 1);
  const SimplexOutcome outcome = maximize(cost, matrix, Eigen::VectorXd::Ones(1));
  ASSERT_EQ(outcome.status, Status::unbounded);
  EXPECT_GE(outcome.primal.minCoeff(), 0.0);
  EXPECT_GT(cost.dot(outcome.primal), 0.0);
  EXPECT_LE((matrix * outcome.primal)[0], 1e-15);
}

// A point of mass 2 on the floor: r . M^-1 Jn' = r_y / 2 must reach 1.
TEST(Pointedness, PointOnTheFloorInClosedForm) {
  const Pointedness cone = pointedness(point_on_floor(2.0, 0.5, 0.0, -1.0));
  ASSERT_TRUE(cone.pointed);
  EXPECT_NEAR(cone.direction[0], 0.0, 1e-15);
  EXPECT_NEAR(cone.direction[1], 2.0, 1e-15);
  EXPECT_NEAR(cone.margin, 1.0, 1e-15);
}

TEST(Pointedness, DirectionBoundsEveryForceOfTheCone) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> unit;
  for (const auto* name :
       {"rocking_block", "box_wall", "disk_stack", "cube_drop", "tripod", "ball_in_corner"}) {
    SCOPED_TRACE(name);
    const ImpactProblem problem = models::build(name);
    const Pointedness cone = pointedness(problem);
    ASSERT_TRUE(cone.pointed);
    EXPECT_GE(cone.margin, 1.0 - 1e-12);
    const Mechanism mechanism = make_mechanism(problem);
    const StepModel model(problem.dimension, mechanism.delassus, mechanism.friction, 4);
    const Eigen::Map<const Vector> r(cone.direction.data(), problem.velocities);
    const int m = problem.contacts;
    const int t = model.tangents();
    for (int trial = 0; trial < 200; ++trial) {
      Vector impulse = Vector::Zero(mechanism.rows());
      for (int i = 0; i < m; ++i) {
        impulse[i] = unit(generator);
        Vector weights(model.directions());
        for (double& weight : weights) weight = unit(generator);
        weights *= unit(generator) * mechanism.friction[i] * impulse[i] / weights.sum();
        impulse.segment(m + i * t, t) = model.polygon() * weights;
      }
      EXPECT_GE(r.dot(mechanism.response * impulse), impulse.head(m).sum() * (1.0 - 1e-10));
    }
  }
}

TEST(Pointedness, SqueezedBodyIsNotPointed) {
  ImpactProblem problem = point_on_floor(1.0, 0.3, 0.0, -1.0);
  problem.contacts = 2;
  problem.normal_jacobian = {0, 1, 0, -1};
  problem.tangent_jacobian = {1, 0, 1, 0};
  problem.friction = {0.3, 0.3};
  const Pointedness cone = pointedness(problem);
  EXPECT_FALSE(cone.pointed);
  EXPECT_TRUE(cone.direction.empty());
  EXPECT_THROW(termination_bound(problem, 1.0, 0), InvalidInput);
}

// Two walls at right angles jam once friction reaches across: mu = 1 closes the cone.
TEST(Pointedness, WedgeLosesItWithFriction) {
  ImpactProblem problem = point_on_floor(1.0, 0.9, 0.0, -1.0);
  problem.contacts = 2;
  problem.normal_jacobian = {0.6, 0.8, -0.6, 0.8};  // walls leaning over by 0.6 / 0.8
  problem.tangent_jacobian = {0.8, -0.6, 0.8, 0.6};
  // The rays meet in opposite directions where mu = 0.8 / 0.6.
  problem.friction = {1.3, 1.3};
  EXPECT_TRUE(pointedness(problem).pointed);
  problem.friction = {1.4, 1.4};
  EXPECT_FALSE(pointedness(problem).pointed);
}

// m = 1, |r| = 2, sigma = 2, h = 1/2: c = 4 ceil(2 * 2 / (sqrt(2) / 2)) = 24; |v|_M = sqrt(18).
TEST(TerminationBound, PointOnTheFloorInClosedForm) {
  const TerminationBound bound = termination_bound(point_on_floor(2.0, 0.5, 0.0, -3.0), 0.5, 8);
  EXPECT_EQ(bound.c, 24.0);
  EXPECT_EQ(bound.steps, 24.0 * 5.0 + 8.0);
  EXPECT_NEAR(bound.probability, std::exp(-2.0), 1e-15);
}

TEST(TerminationBound, HoldsForTheBlock) {
  const ImpactProblem problem = models::build("rocking_block");
  const models::Model& model = models::find("rocking_block");
  const TerminationBound bound = termination_bound(problem, model.step_size, 20);
  ImpactSettings settings;
  settings.step_size = model.step_size;
  settings.max_steps = 1000;
  settings.selection = Selection::lemke;
  const Mechanism mechanism = make_mechanism(problem);
  const Simulator simulator(mechanism, settings, settings.step_size, 0.0, 0, nullptr);
  int longer = 0;
  for (int sample = 0; sample < 300; ++sample) {
    const Trajectory trajectory = simulator.run(sample, false);
    ASSERT_EQ(trajectory.status, TrajectoryStatus::terminated);
    longer += trajectory.steps > bound.steps ? 1 : 0;
  }
  EXPECT_LE(longer, 300 * bound.probability);
}

TEST(TerminationBound, RefusesBadInput) {
  const ImpactProblem problem = block(1.0, 1.0);
  EXPECT_THROW(termination_bound(problem, 0.0, 1), InvalidInput);
  EXPECT_THROW(termination_bound(problem, -1.0, 1), InvalidInput);
  EXPECT_THROW(termination_bound(problem, 1.0, -1), InvalidInput);
}

TEST(SamplesForEpsilonNet, SmallCasesByHand) {
  // Two cells: 2 * 2^-N <= 0.1 first at N = 5.
  EXPECT_EQ(samples_for_epsilon_net(1, 1.0, 1.0, 0.5, 0.1), 5.0);
  // Nine cells: 9 (8/9)^N <= 0.1 first at N = 39.
  EXPECT_EQ(samples_for_epsilon_net(2, 1.0, 1.0, 0.5, 0.1), 39.0);
  EXPECT_EQ(samples_for_epsilon_net(3, 0.0, 1.0, 0.5, 0.1), 1.0);
  // One cell: a single sample suffices.
  EXPECT_EQ(samples_for_epsilon_net(1, 1.0, 0.5, 0.5, 0.1), 1.0);
}

TEST(SamplesForEpsilonNet, IsTheSmallestThatReachesTheBound) {
  for (const int n : {1, 2, 4}) {
    for (const double epsilon : {0.9, 0.3, 0.11}) {
      for (const double delta : {0.5, 1e-3}) {
        const double samples = samples_for_epsilon_net(n, 1.3, 0.7, epsilon, delta);
        const double omega = std::pow(std::ceil(0.7 * 1.3 * std::sqrt(n) / epsilon), -n);
        const auto miss = [&](double count) { return std::pow(1.0 - omega, count) / omega; };
        EXPECT_LE(miss(samples), delta * (1.0 + 1e-9));
        ASSERT_GT(samples, 1.0);
        EXPECT_GT(miss(samples - 1.0), delta * (1.0 - 1e-9));
      }
    }
  }
}

TEST(SamplesForEpsilonNet, TinyCellsNeitherVanishNorOverflowSilently) {
  // cells = 10^6 * 3 in 9 dimensions: Omega = 5e-59; N = log(1 / (delta Omega)) / Omega.
  const double cells = std::ceil(3e6);
  const double samples = samples_for_epsilon_net(9, 1e6, 1.0, 1.0, 0.01);
  const double expected = (9.0 * std::log(cells) - std::log(0.01)) * std::pow(cells, 9.0);
  EXPECT_NEAR(samples / expected, 1.0, 1e-12);
  EXPECT_TRUE(std::isinf(samples_for_epsilon_net(200, 1e6, 1.0, 1.0, 0.01)));
}

TEST(SamplesForEpsilonNet, RefusesBadInput) {
  EXPECT_THROW(samples_for_epsilon_net(0, 1, 1, 1, 0.1), InvalidInput);
  EXPECT_THROW(samples_for_epsilon_net(1, -1, 1, 1, 0.1), InvalidInput);
  EXPECT_THROW(samples_for_epsilon_net(1, 1, 0, 1, 0.1), InvalidInput);
  EXPECT_THROW(samples_for_epsilon_net(1, 1, 1, 0, 0.1), InvalidInput);
  EXPECT_THROW(samples_for_epsilon_net(1, 1, 1, 1, 0.0), InvalidInput);
  EXPECT_THROW(samples_for_epsilon_net(1, 1, 1, 1, 1.0), InvalidInput);
}

ImpactSettings run_settings(const char* name) {
  ImpactSettings settings;
  settings.step_size = models::find(name).step_size;
  settings.max_steps = models::find(name).max_steps;
  return settings;
}

TEST(CheckUniqueStep, BlockIsUniqueAndTheCompassGaitIsNot) {
  const UniquenessReport block_report =
      check_unique_step(models::build("rocking_block"), run_settings("rocking_block"), 64);
  EXPECT_GE(block_report.steps, 64);
  EXPECT_EQ(block_report.nonunique, 0);
  EXPECT_EQ(block_report.most_outcomes, 1);
  EXPECT_TRUE(block_report.outcomes.empty());

  const ImpactProblem gait = models::build("compass_gait");
  const UniquenessReport report = check_unique_step(gait, run_settings("compass_gait"), 64);
  EXPECT_GT(report.nonunique, 0);
  EXPECT_GE(report.most_outcomes, 2);
  ASSERT_GE(report.outcomes.size(), 2U);
  // Each outcome of the example is one step's: M (v' - v) is a force of the contacts, and no
  // outcome has more energy than v.
  const Mechanism mechanism = make_mechanism(gait);
  const Eigen::Map<const Vector> before(report.velocity.data(), gait.velocities);
  for (const std::vector<double>& outcome : report.outcomes) {
    const Eigen::Map<const Vector> after(outcome.data(), gait.velocities);
    EXPECT_LE(mechanism.kinetic_energy(after), mechanism.kinetic_energy(before) * (1 + 1e-12));
    const Vector change = mechanism.mass * (after - before);
    const Vector impulse =
        mechanism.jacobian.transpose().completeOrthogonalDecomposition().solve(change);
    EXPECT_LE((mechanism.jacobian.transpose() * impulse - change).norm(), 1e-12);
    for (int i = 0; i < gait.contacts; ++i) {
      EXPECT_LE(impulse[i], report.max_impulse[i] + 1e-9);
    }
  }
}

TEST(CheckUniqueStep, RefusesBadInput) {
  EXPECT_THROW(check_unique_step(block(1.0, 1.0), {}, 0), InvalidInput);
  ImpactSettings settings;
  settings.step_size = -1.0;
  EXPECT_THROW(check_unique_step(block(1.0, 1.0), settings, 4), InvalidInput);
}

// A step of the block has one v' whatever came before; each of the other planar models has a step
// with several, which Algorithm 1 need not meet: along 64 trajectories of box_wall every step is
// unique.
TEST(DecideUniqueStep, TheBlockAloneIsUnique) {
  const StepUniqueness block_steps = decide_unique_step(models::build("rocking_block"));
  EXPECT_TRUE(block_steps.decided && block_steps.unique);
  EXPECT_EQ(block_steps.pairs, 49 * 50 / 2);
  EXPECT_NEAR(block_steps.difference, 0.0, 1e-8);
  EXPECT_TRUE(block_steps.outcomes.empty());
  for (const char* name : {"compass_gait", "ramone", "box_wall"}) {
    ImpactProblem problem = models::build(name);
    const StepUniqueness report = decide_unique_step(problem);
    EXPECT_TRUE(report.decided && !report.unique) << name;
    ASSERT_GE(report.outcomes.size(), 2U) << name;
    // The step that it names, by step_outcomes: certified, with the same v'.
    problem.velocity = report.velocity;
    const std::vector<ImpactOutcome> found = step_outcomes(problem, report.max_impulse);
    ASSERT_EQ(found.size(), report.outcomes.size()) << name;
    for (const ImpactOutcome& outcome : found) {
      EXPECT_LE(outcome.residual, 1e-9) << name;
      double nearest = 1.0;
      for (const std::vector<double>& named : report.outcomes) {
        double far = 0.0;
        for (std::size_t k = 0; k < named.size(); ++k)
          far = std::max(far, std::abs(named[k] - outcome.velocity[k]));
        nearest = std::min(nearest, far);
      }
      EXPECT_NEAR(nearest, 0.0, 1e-9) << name;
    }
  }
  EXPECT_EQ(check_unique_step(models::build("box_wall"), run_settings("box_wall"), 64).nonunique,
            0);
}

// One contact of inverse mass [[a, b], [b, c]] slides one way only where mu |b| <= a; beyond, two
// velocities fit.
TEST(DecideUniqueStep, OneContactByHand) {
  const auto contact = [](double coupling, double friction) {
    ImpactProblem problem;
    problem.name = "one contact";
    problem.velocities = 2;
    problem.contacts = 1;
    Eigen::Matrix2d inverse;
    inverse << 1.0, coupling, coupling, 2.0;
    const Eigen::Matrix2d mass = inverse.inverse();
    problem.mass_matrix.assign(mass.data(), mass.data() + 4);
    problem.normal_jacobian = {1.0, 0.0};
    problem.tangent_jacobian = {0.0, 1.0};
    problem.friction = {friction};
    problem.velocity = {-1.0, 0.0};
    return decide_unique_step(problem);
  };
  EXPECT_TRUE(contact(0.8, 1.2).unique);  // mu b = 0.96
  EXPECT_TRUE(contact(-0.8, 1.2).unique);
  EXPECT_FALSE(contact(0.8, 1.3).unique);  // mu b = 1.04
  EXPECT_FALSE(contact(-0.8, 1.3).unique);
  EXPECT_TRUE(contact(0.8, 1.3).decided);
}

TEST(DecideUniqueStep, RefusesWhatItDoesNotCompare) {
  EXPECT_THROW(decide_unique_step(models::build("disk_stack")), InvalidInput);
}

}  // namespace
}  // namespace carom::reference
