#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>

#include "support/enclosures.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Impacts with restitution whose contacts may press against each other without moving anything:
// fewer velocities than rows of contacts, contacts twice, walls on both sides.
namespace carom {
namespace {

using test::events;
using test::Flavour;
using test::followed;
using test::Generator;
using test::set_restitution;

/// Contact rows outnumber velocities, or every tenth time contacts are there twice.
ImpactProblem redundant(Generator& random, int k) {
  const Flavour flavour = k % 10 == 9 ? Flavour::duplicated : Flavour::rank_deficient;
  ImpactProblem problem = test::random_problem(random, flavour, 2 + k % 2, 2 + k / 2 % 3);
  const double low = random.unit();
  set_restitution(problem, low, random.between(low, 1.0));
  return problem;
}

TEST(SelfStress, LeavesNoSampleOfRedundantContactsUnfinished) {
  Generator random(77);
  std::int64_t failed = 0, unfinished = 0;
  for (int k = 0; k < 600; ++k) {
    const ImpactProblem problem = redundant(random, k);
    const ImpactSummary summary = followed(problem, events(100)).summary[0];
    failed += summary.failed;
    unfinished += summary.samples - summary.terminated - summary.failed;
    EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-12) << k;
    EXPECT_LE(summary.max_residual, 1e-9) << k;
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(unfinished, 0);
}

/// A ball of 1 kg between two walls that it touches: each of its bounces begins the other one.
TEST(SelfStress, OfABallBetweenTwoWallsComesToRest) {
  ImpactProblem problem;
  problem.velocities = 1;
  problem.contacts = 2;
  problem.mass_matrix = {1.0};
  problem.normal_jacobian = {1.0, -1.0};
  problem.tangent_jacobian = {0.0, 0.0};
  problem.friction = {0.0, 0.0};
  problem.velocity = {-1.0};
  for (const double e : {0.0, 0.3, 0.95}) {
    problem.restitution_low = problem.restitution_high = {e, e > 0.0 ? 0.8 : 0.0};
    for (const double mu : {0.0, 0.5}) {  // an interval: events of any contacts
      problem.friction_high = {mu, mu};
      const ImpactResult run = followed(problem, events(2048));
      EXPECT_EQ(run.summary[0].terminated, 2048) << e;
      double fastest = 0.0;
      for (int s = 0; s < 2048; ++s) {
        fastest = std::max(fastest, std::abs(run.samples.velocity.data()[s]));
      }
      EXPECT_LE(fastest, 1e-7) << e;  // a store of 1e-16 of the energy is none
    }
  }
}

}  // namespace
}  // namespace carom
