#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"
#include "support/from_environment.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Impacts whose contacts have restitution or intervals of friction, enclosed from outside: no
// sample of any law leaves what is proven.
namespace carom {
namespace {

using test::bounds_of;
using test::contact_speed;
using test::events;
using test::excess;
using test::followed;
using test::Generator;

constexpr RestitutionLaw kLaws[] = {RestitutionLaw::stronge, RestitutionLaw::poisson,
                                    RestitutionLaw::newton};

/// Intervals of e for each contact, every fourth one a number, and 0 for some.
void draw_restitution(Generator& random, ImpactProblem& problem) {
  problem.restitution_low.clear();
  problem.restitution_high.clear();
  for (int i = 0; i < problem.contacts; ++i) {
    const double high = random.unit() < 0.2 ? random.integer(0, 1) : random.unit();
    problem.restitution_high.push_back(high);
    problem.restitution_low.push_back(random.unit() < 0.25 ? high : random.between(0.0, high));
  }
}

void draw_friction(Generator& random, ImpactProblem& problem) {
  problem.friction_high = problem.friction;
  for (double& mu : problem.friction_high) mu += random.unit() < 0.3 ? 0.0 : random.unit();
}

/// The largest distance of an outcome from what is enclosed, in the largest contact speed before.
double farthest(const ImpactProblem& problem, const ImpactEnclosure& set, const ImpactSettings& s) {
  const ImpactResult run = followed(problem, s);
  if (run.summary[0].terminated == 0) return 0.0;
  const OutsideSamples found = compare_samples(problem, run.samples, 0, set);
  EXPECT_EQ(found.compared, run.summary[0].terminated);
  return std::max(found.largest, excess(bounds_of(run.summary[0]), bounds_of(set))) /
         contact_speed(problem);
}

TEST(RestitutionEnclosure, NoSampleOfAnyLawLeavesIt) {
  const int seed = test::from_environment("CAROM_TRUST_SEED", 5);
  const int count = test::from_environment("CAROM_TRUST_PROBLEMS", 60);
  Generator random(static_cast<std::uint64_t>(seed));
  int closer = 0;
  for (int k = 0; k < count; ++k) {
    const bool space = k % 6 == 5;
    const int contacts = space ? 1 : 1 + k % 3;
    const auto flavour = test::kFlavours[static_cast<std::size_t>(random.integer(0, 5))];
    ImpactProblem problem = test::random_problem(random, flavour, space ? 3 : 2, contacts);
    draw_restitution(random, problem);
    if (k % 2 == 1) draw_friction(random, problem);
    ImpactSettings sampling = events(512);
    sampling.seed = static_cast<std::uint64_t>(k);
    sampling.law = kLaws[k % 3];
    sampling.vary = k % 4 == 3;
    EnclosureSettings settings;
    settings.law = sampling.law;
    settings.threads = 1;
    const ImpactEnclosure set = enclose_impact(problem, settings);
    ASSERT_NE(set.status, EnclosureStatus::budget) << k;
    ASSERT_EQ(set.law, sampling.law) << k;
    EXPECT_LE(farthest(problem, set, sampling), 1e-9) << seed << " " << k;
    EXPECT_TRUE(proves_enclosure(problem, set)) << seed << " " << k;
    settings.closeness = 0;
    const ImpactEnclosure energy = enclose_impact(problem, settings);
    closer += excess(bounds_of(set), bounds_of(energy)) <= 0.0 &&
              set.normal_velocity_max[0] < 0.99 * energy.normal_velocity_max[0];
  }
  EXPECT_GE(closer, count / 4);
}

/// By all laws e times the speed before; by Stronge's no more, whatever the others allow.
TEST(RestitutionEnclosure, OfABallIsItsBounce) {
  ImpactProblem ball = test::cradle(2, 0.6);
  const ImpactEnclosure set = enclose_impact(ball);
  EXPECT_EQ(set.status, EnclosureStatus::outer);
  EXPECT_GE(set.normal_velocity_max[0], 0.6);
  EXPECT_LE(set.normal_velocity_max[0], 0.6 * (1.0 + 1e-5));
  EXPECT_LE(set.normal_velocity_min[0], 0.6);
  EXPECT_GE(set.normal_velocity_min[0], 0.6 * (1.0 - 1e-5));
  ball.restitution_low = {0.1};  // all of the interval
  const ImpactEnclosure all = enclose_impact(ball);
  EXPECT_GE(all.normal_velocity_max[0], 0.6);
  EXPECT_LE(all.normal_velocity_max[0], 0.6 * (1.0 + 1e-5));
  EXPECT_LE(all.normal_velocity_min[0], 0.1);
  EXPECT_GE(all.normal_velocity_min[0], 0.1 * (1.0 - 1e-4));
  EXPECT_TRUE(proves_enclosure(ball, all));
  EnclosureSettings settings;
  settings.law = RestitutionLaw::newton;
  const ImpactEnclosure other = enclose_impact(ball, settings);
  EXPECT_GE(other.normal_velocity_max[0], 0.6);
  EXPECT_LE(other.normal_velocity_max[0], 1.0 + 1e-5);
}

/// With as many samples as it takes to find the corners of the set.
TEST(RestitutionEnclosure, OfTheRockingBlockIsATwentiethWiderThanSamples) {
  ImpactProblem problem = models::build("rocking_block");
  ImpactSettings sampling = events(1 << 20);
  sampling.keep_samples = 0;
  sampling.epsilon = 0.0;
  for (const double e : {0.25, 0.5, 0.75, 1.0}) {
    test::set_restitution(problem, e, e);
    const ImpactEnclosure set = enclose_impact(problem);
    EXPECT_TRUE(proves_enclosure(problem, set)) << e;
    const ImpactSummary reached = followed(problem, sampling).summary[0];
    for (std::size_t i = 0; i < 2; ++i) {
      const double least = reached.normal_velocity_min[i], most = reached.normal_velocity_max[i];
      EXPECT_GE(set.normal_velocity_max[i], most) << e;
      EXPECT_LE(set.normal_velocity_min[i], least) << e;
      EXPECT_GE(set.normal_velocity_min[i], 0.999 * least) << e;
      const double range = set.normal_velocity_max[i] - set.normal_velocity_min[i];
      EXPECT_LE(range, 1.05 * (most - least)) << e;
    }
  }
}

/// Changed signs, planes and shares of stores.
TEST(RestitutionEnclosure, FormsOfLeastVelocitiesMayNotClaimMore) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.5, 0.5);
  const ImpactEnclosure set = enclose_impact(problem);
  EXPECT_GE(set.normal_velocity_min[0], 0.022);
  ImpactEnclosure wrong = set;
  wrong.normal_velocity_min[0] *= 1.0 + 1e-6;
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  for (const auto& [low, high] :
       {std::pair(0.45, 0.5), std::pair(0.5, 0.55), std::pair(0.4, 0.4)}) {
    ImpactProblem other = problem;
    test::set_restitution(other, low, high);
    EXPECT_FALSE(proves_enclosure(other, set)) << low << " " << high;
  }
  wrong = set;
  wrong.law = RestitutionLaw::poisson;  // may give back less as well
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  // The planes between contacts: first, second, share, as if the velocities had other ratios.
  const std::size_t at = set.invariant.find("carom-planes 3 5 4 ");
  ASSERT_NE(at, std::string::npos);
  const std::size_t share = set.invariant.find_first_of("123456789", at + 19 + 4);
  ASSERT_NE(share, std::string::npos);
  wrong = set;
  wrong.invariant.insert(share + 1, "7");
  EXPECT_FALSE(proves_enclosure(problem, wrong));
}

TEST(RestitutionEnclosure, ProvesWhatItSaysAndNothingElse) {
  ImpactProblem problem = models::build("box_wall");
  test::set_restitution(problem, 0.3, 0.5);
  const ImpactEnclosure set = enclose_impact(problem);
  EXPECT_TRUE(proves_enclosure(problem, set));
  ImpactEnclosure wrong = set;
  wrong.law = RestitutionLaw::poisson;  // gives back more
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  wrong = set;
  wrong.normal_velocity_max[1] *= 0.999;
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  ImpactProblem livelier = problem;
  livelier.restitution_high[1] = 0.7;
  EXPECT_FALSE(proves_enclosure(livelier, set));
  ImpactProblem duller = problem;  // inelastic forms have no stores
  duller.restitution_low.clear();
  duller.restitution_high.clear();
  EXPECT_FALSE(proves_enclosure(duller, set));
  EXPECT_FALSE(proves_enclosure(problem, enclose_impact(duller)));
  const test::Changes changes = test::change_entries(problem, set, "carom-planes", 7);
  EXPECT_GE(changes.made, 20);
  EXPECT_GE(changes.refused, changes.made / 4);
}

TEST(RestitutionEnclosure, PolyhedraHoldAllOfAnIntervalOfFriction) {
  Generator random(12);
  int enclosed = 0;
  for (int k = 0; k < 30; ++k) {
    ImpactProblem problem = test::random_impact(random, 1 + k % 2, 3 + k % 2, 0.6);
    draw_friction(random, problem);
    ImpactSettings sampling = events(1024);
    sampling.vary = k % 3 == 2;
    const ImpactEnclosure set = enclose_impact(problem);
    enclosed += set.status == EnclosureStatus::enclosed;
    if (set.status == EnclosureStatus::budget) continue;
    EXPECT_LE(farthest(problem, set, sampling), 1e-9) << k;
    EXPECT_TRUE(proves_enclosure(problem, set)) << k;
    for (const std::vector<double>& friction : {problem.friction, problem.friction_high}) {
      ImpactProblem one = problem;  // each end's set lies within
      one.friction = friction;
      one.friction_high.clear();
      const ImpactEnclosure inner = enclose_impact(one);
      if (inner.status != EnclosureStatus::enclosed) continue;
      EXPECT_LE(excess(bounds_of(inner), bounds_of(set)), 1e-8 * contact_speed(problem)) << k;
      EXPECT_FALSE(problem.friction != problem.friction_high && proves_enclosure(problem, inner))
          << k;
    }
  }
  EXPECT_GE(enclosed, 24);
}

TEST(RestitutionEnclosure, AnswersWhatNeverHappens) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.5, 0.5);
  const std::vector<std::string> names = {"A", "B"};
  const ImpactDecision decision = decide_impact(problem, impact_event("A normal > 0.4", names));
  EXPECT_EQ(decision.answer, ImpactAnswer::never);
  EXPECT_TRUE(proves_enclosure(problem, decision.proof));
  EXPECT_EQ(decide_impact(problem, impact_event("A normal > 0.2", names)).answer,
            ImpactAnswer::open);
}

}  // namespace
}  // namespace carom
