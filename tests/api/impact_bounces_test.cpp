#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <carom/impact_bounces.hpp>
#include <carom/impact_judge.hpp>
#include <carom/models/models.hpp>

#include "support/restitution.hpp"

// Models of impacts that bounce: closed forms, energy, and theorems 6 and 7 of
// docs/explanation/restitution.md, by which they lie in the sampled set.
namespace carom {
namespace {

using test::cradle;

void expect_velocity(const ImpactOutcome& outcome, const std::vector<double>& wanted,
                     double tolerance) {
  ASSERT_EQ(outcome.status, Status::solved);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(outcome.velocity[i], wanted[i], tolerance) << i;
  }
}

TEST(Bounces, OfACradleHaveTheirClosedForms) {
  const ImpactProblem elastic = cradle(3, 1.0), half = cradle(3, 0.5);
  const std::vector<int> order = {0, 1};
  expect_velocity(bouncing_sequence(elastic, order), {0, 0, 1}, 1e-12);
  // (1 - e, 1 - e^2, (1 + e)^2) / 4 with further impacts until nothing approaches: 2 K+ = 0.4126
  const SequentialOutcome sequence = bouncing_sequence(half, order);
  EXPECT_NEAR(2.0 * sequence.kinetic_energy, 0.4126, 5e-5);
  // inelastic all move with 1/3, their impulses 2/3 and 1/3
  for (const double e : {0.5, 1.0}) {
    expect_velocity(bouncing_rounds(cradle(3, e), BounceRounds::poisson),
                    {(1 - 2 * e) / 3, (1 + e) / 3, (1 + e) / 3}, 1e-9);
  }
  // of the approaching contact alone: -e; nothing then keeps the third ball from staying in touch
  expect_velocity(bouncing_rounds(half, BounceRounds::newton), {0, 0.5, 0.5}, 1e-9);
  expect_velocity(bouncing_rounds(elastic, BounceRounds::reflection), {0, 0, 1}, 1e-9);
  expect_velocity(bouncing_rounds(half, BounceRounds::reflection), {1.0 / 6, 1.0 / 6, 2.0 / 3},
                  1e-9);
}

/// Two equal linear springs between three balls, e = 1: compressions x and y with x'' = y - 2 x,
/// y'' = x - 2 y until x is 0, then y'' = -2 y. (Stiffness and masses 1.)
TEST(Bounces, OfLinearSpringsBetweenBallsAreTheirModes) {
  const double root = std::sqrt(3.0);
  const auto x = [&](double t) { return 0.5 * (std::sin(t) + std::sin(root * t) / root); };
  double low = 2.0, high = 3.0;
  ASSERT_GT(x(low), 0.0);
  ASSERT_LT(x(high), 0.0);
  for (int k = 0; k < 60; ++k) (x(0.5 * (low + high)) > 0.0 ? low : high) = 0.5 * (low + high);
  const double t = low;
  const double dx = 0.5 * (std::cos(t) + std::cos(root * t));
  const double dy = 0.5 * (std::cos(t) - std::cos(root * t));
  const double y = 0.5 * (std::sin(t) - std::sin(root * t) / root);
  // v1 - v2 = dx and v2 - v3 = dy then, and sum 1; the last two go on with their spring
  const double first = (1.0 + 2.0 * dx + dy) / 3.0, both = 1.0 - first;
  const double apart = std::sqrt(dy * dy + 2.0 * y * y);
  const std::vector<double> wanted = {first, 0.5 * (both - apart), 0.5 * (both + apart)};
  EXPECT_NEAR(wanted[0], -0.13, 0.005);  // as in the literature of the three-ball chain
  EXPECT_NEAR(wanted[1], 0.15, 0.005);
  EXPECT_NEAR(wanted[2], 0.98, 0.005);
  CompliantContacts springs{{1.0, 1.0}, 1.0, {}, 0.0005};
  expect_velocity(compliant_bounce(cradle(3, 1.0), springs), wanted, 2e-3);
  springs.stiffness = {250.0, 250.0};  // only the ratio counts
  expect_velocity(compliant_bounce(cradle(3, 1.0), springs), wanted, 2e-3);
  // a gap long beside the compression: one impact after the other
  springs.gaps = {0.0, 100.0};
  expect_velocity(compliant_bounce(cradle(3, 1.0), springs), {0, 0, 1}, 2e-3);
  expect_velocity(compliant_bounce(cradle(3, 0.5), springs),
                  bouncing_sequence(cradle(3, 0.5), std::vector<int>{0, 1}).velocity, 3e-3);
}

/// |a - b|_M over |v-|_M
double apart(const ImpactProblem& problem, const std::vector<double>& a,
             const std::vector<double>& b) {
  MeasuredImpacts measured;
  measured.measured_velocity = Buffer<double>::from(a);
  return impact_distance(make_batch({&problem, 1}), measured, 0, b);
}

/// One contact with friction has Stronge's outcome, whatever the spring.
TEST(Bounces, OfOneContactAgree) {
  ImpactProblem problem = models::build("rocking_block", {{"friction", 0.4}});
  problem.contacts = 1;
  const auto nv = static_cast<std::ptrdiff_t>(problem.velocities);
  problem.normal_jacobian.resize(static_cast<std::size_t>(nv));
  problem.tangent_jacobian.resize(static_cast<std::size_t>(nv));
  problem.friction = {0.2};
  problem.restitution_low = problem.restitution_high = {0.6};
  problem.velocity[0] += 0.5;
  const SequentialOutcome stronge = bouncing_sequence(problem, std::vector<int>{0});
  EXPECT_EQ(stronge.impacts, 1);
  for (const double exponent : {1.0, 1.5}) {
    const auto springs = compliant_bounce(problem, {{3.0}, exponent, {}, 0.0005});
    EXPECT_NEAR(apart(problem, stronge.velocity, springs.velocity), 0.0, 2e-3) << exponent;
  }
  // slip that keeps its direction: Newton's, Poisson's and Stronge's laws agree
  problem.velocity[0] += 5.0;
  const SequentialOutcome slips = bouncing_sequence(problem, std::vector<int>{0});
  for (const BounceRounds rounds : {BounceRounds::poisson, BounceRounds::newton}) {
    EXPECT_NEAR(apart(problem, slips.velocity, bouncing_rounds(problem, rounds).velocity), 0.0,
                1e-9);
  }
}

/// Masses, rows and velocities at random, two or three planar contacts of which some approach.
ImpactProblem random_problem(std::mt19937_64& random, int contacts) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> share;
  ImpactProblem problem;
  problem.dimension = 2;
  problem.velocities = 4;
  problem.contacts = contacts;
  problem.mass_matrix.assign(16, 0.0);
  double half[4][4];
  for (auto& row : half) {
    for (double& entry : row) entry = normal(random);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      double sum = i == j ? 0.5 : 0.0;
      for (std::size_t k = 0; k < 4; ++k) sum += 0.25 * half[i][k] * half[j][k];
      problem.mass_matrix[4 * i + j] = sum;
    }
  }
  for (int i = 0; i < contacts; ++i) {
    double approach = 0.0;
    std::vector<double> n(4), t(4), v = problem.velocity;
    if (v.empty()) {
      for (int j = 0; j < 4; ++j) v.push_back(normal(random));
      problem.velocity = v;
    }
    for (std::size_t j = 0; j < 4; ++j) n[j] = normal(random), t[j] = normal(random);
    for (std::size_t j = 0; j < 4; ++j) approach += n[j] * v[j];
    for (double& entry : n) entry *= approach > 0.0 ? -1.0 : 1.0;
    problem.normal_jacobian.insert(problem.normal_jacobian.end(), n.begin(), n.end());
    problem.tangent_jacobian.insert(problem.tangent_jacobian.end(), t.begin(), t.end());
    problem.friction.push_back(0.5 * share(random));
    problem.restitution_low.push_back(0.2 + 0.8 * share(random));
  }
  problem.restitution_high = problem.restitution_low;
  return problem;
}

double energy(const ImpactProblem& problem) {
  double sum = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      sum += 0.5 * problem.velocity[i] * problem.mass_matrix[4 * i + j] * problem.velocity[j];
    }
  }
  return sum;
}

/// Theorem 7, and 6 for sequences: outcomes are within the set's resolution. What a chain of
/// another restitution does is not, on the whole.
TEST(Bounces, OfSpringsAndSequencesAreInTheSet) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> power(-2.0, 2.0);
  ImpactSettings sampling;
  sampling.method = ImpactMethod::events;
  sampling.samples = 2048;
  int far = 0, other_far = 0, count = 0, unsolved = 0;
  for (int k = 0; k < 24; ++k) {
    const int m = 2;
    const ImpactProblem problem = random_problem(random, m);
    CompliantContacts springs;
    for (int i = 0; i < m; ++i) springs.stiffness.push_back(std::pow(10.0, power(random)));
    springs.exponent = k % 4 < 2 ? 1.0 : 1.5;
    ImpactProblem other = problem;
    for (auto* e : {&other.restitution_low, &other.restitution_high}) {
      for (double& entry : *e) entry = entry > 0.6 ? 0.1 : 1.0;
    }
    std::vector<int> order;
    for (int i = m; i-- > 0;) order.push_back(i);
    const SequentialOutcome outcomes[] = {compliant_bounce(problem, springs),
                                          bouncing_sequence(problem, order),
                                          compliant_bounce(other, springs)};
    std::vector<double> velocity;
    if (std::any_of(std::begin(outcomes), std::end(outcomes), [](const SequentialOutcome& outcome) {
          return outcome.status != Status::solved;
        })) {
      ++unsolved;
      continue;
    }
    for (const SequentialOutcome& outcome : outcomes) {
      EXPECT_LE(outcome.kinetic_energy, energy(problem) * (1.0 + 1e-3)) << k;
      for (const double u : outcome.normal_velocity) EXPECT_GE(u, -1e-6) << k;
      velocity.insert(velocity.end(), outcome.velocity.begin(), outcome.velocity.end());
    }
    MeasuredImpacts modelled;
    modelled.measured_velocity = Buffer<double>::from(velocity);
    const std::vector<ImpactProblem> three(3, problem);
    const ImpactJudgement found = judge_impacts(make_batch(three), modelled, {}, sampling);
    for (int own = 0; own < 2; ++own) {
      const double distance = found.samples.distance.data()[own];
      EXPECT_NEAR(distance, 0.0, 0.05) << k << ' ' << own;
      far += distance > std::max(0.01, found.samples.resolution.data()[own]) ? 1 : 0;
    }
    other_far += found.samples.distance.data()[2] > 0.05 ? 1 : 0;
    ++count;
  }
  EXPECT_NEAR(unsolved, 0, 2);
  EXPECT_NEAR(far, 0, 2) << "of " << 2 * count;
  EXPECT_NEAR(other_far, count, 8);
}

TEST(Bounces, RefuseWhatTheyDoNotTake) {
  const ImpactProblem balls = cradle(3, 0.5);
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message([&] { compliant_bounce(balls, {{1.0, -2.0}}); }), "stiffness[1] is -2: must be > 0");
  has(message([&] { compliant_bounce(balls, {{1.0}}); }), "stiffness");
  has(message([&] { compliant_bounce(balls, {{1.0, 1.0}, 1.0, {0.0, -1.0}}); }), "gaps[1] is -1");
  has(message([&] {
        compliant_bounce(cradle(3, 0.0), {{1.0, 1.0}});
      }),
      "restitution[0] is 0: must be > 0 for springs");
  ImpactProblem two = balls;
  two.restitution_high[1] = 0.7;
  has(message([&] { bouncing_rounds(two, BounceRounds::reflection); }), "must be one number");
  has(message([&] { bouncing_sequence(balls, std::vector<int>{0, 2}); }), "order[1] is 2");
}

}  // namespace
}  // namespace carom
