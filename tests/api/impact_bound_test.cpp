#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "enclosure/quadratic_bound.hpp"
#include "support/enclosures.hpp"

namespace carom {
namespace {

using test::Bounds;
using test::bounds_of;
using test::excess;

/// Of the normal velocities alone; impact_planes_test.cpp has the closer bounds.
constexpr EnclosureSettings kCoarse = {.closeness = 0};

ImpactResult sampled(const ImpactProblem& problem, double step, int samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.step_size = step;
  settings.max_steps = 2000;
  settings.keep_samples = -1;
  return sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
}

double speed_of(const Bounds& b) {
  double most = 0.0;
  for (std::size_t k = 0; k < b.low.size(); ++k) {
    most = std::max({most, std::abs(b.low[k]), std::abs(b.high[k])});
  }
  return most;
}

TEST(ImpactBound, HoldsTheSamplesInSpaceAndOfManyContacts) {
  for (const char* name : {"cube_drop", "tripod", "ball_in_corner", "disk_stack"}) {
    const ImpactProblem problem = models::build(name);
    const ImpactEnclosure set = enclose_impact(problem, kCoarse);
    ASSERT_EQ(set.status, EnclosureStatus::outer) << name;
    EXPECT_TRUE(set.modes.empty() && set.impossible_modes.empty());
    EXPECT_EQ(set.tangent_velocity_max.size(), problem.friction.size() * (problem.dimension - 1U));
    const ImpactResult samples = sampled(problem, 0.05, 1024);
    ASSERT_GT(samples.summary[0].terminated, 0) << name;
    EXPECT_LE(excess(bounds_of(samples.summary[0]), bounds_of(set)), 1e-9) << name;
    EXPECT_TRUE(proves_enclosure(problem, set)) << name;
  }
}

// What is enclosed exactly lies within the bounds, also where friction is strong.
TEST(ImpactBound, HoldsWhatIsEnclosedExactly) {
  test::Generator random(31);
  int narrower = 0, compared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const ImpactProblem problem = test::random_impact(random, 2, 4, trial % 4 == 3 ? 5.0 : 0.5);
    EnclosureSettings settings;
    settings.budget = 150;
    const ImpactEnclosure exact = enclose_impact(problem, settings);
    if (exact.status != EnclosureStatus::enclosed) continue;
    ++compared;
    const ImpactEnclosure bound = enclosure::bound_by_forms(problem, kCoarse);
    EXPECT_LE(excess(bounds_of(exact), bounds_of(bound)), 1e-9) << trial;
    EXPECT_TRUE(enclosure::proves_bound(problem, bound)) << trial;
    ImpactEnclosure energy = bound;  // its forms replaced by the energy's own
    energy.invariant = "carom-form 1 2\n1099511627776 0\n1099511627776 0\n1099511627776 0\n";
    narrower += enclosure::proves_bound(problem, energy) ? 0 : 1;
  }
  EXPECT_GE(compared, 25);
  EXPECT_GE(narrower, compared / 2);  // the energy alone does not prove these bounds
}

// One contact without friction stops: nothing comes back.
TEST(ImpactBound, OneContactDoesNotRebound) {
  ImpactProblem ball;
  ball.dimension = 3;
  ball.velocities = 3;
  ball.contacts = 1;
  ball.mass_matrix = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  ball.normal_jacobian = {0, 0, 1};
  ball.tangent_jacobian = {1, 0, 0, 0, 1, 0};
  ball.friction = {0.0};
  ball.velocity = {0.5, 0.0, -3.0};
  const ImpactEnclosure set = enclose_impact(ball, kCoarse);
  EXPECT_EQ(set.normal_velocity_min[0], 0.0);
  EXPECT_LE(set.normal_velocity_max[0], 1e-3);
  EXPECT_TRUE(proves_enclosure(ball, set));
  // Before the impact has begun it is over.
  ball.velocity[2] = 0.25;
  const ImpactEnclosure stays = enclose_impact(ball, kCoarse);
  EXPECT_NEAR(stays.normal_velocity_min[0], 0.25, 1e-12);
  EXPECT_NEAR(stays.normal_velocity_max[0], 0.25, 1e-12);
  EXPECT_NEAR(stays.tangent_velocity_max[0], 0.5, 1e-12);
  EXPECT_TRUE(proves_enclosure(ball, stays));
}

TEST(ImpactBound, ProblemsWithoutContactsStay) {
  ImpactProblem free;
  free.dimension = 3;
  free.velocities = 1;
  free.mass_matrix = {1.0};
  free.velocity = {-1.0};
  const ImpactEnclosure set = enclose_impact(free);
  EXPECT_EQ(set.status, EnclosureStatus::enclosed);
  EXPECT_TRUE(proves_enclosure(free, set));
}

TEST(ImpactBound, ADamagedProofProvesNothing) {
  const ImpactProblem problem = models::build("tripod");
  const ImpactEnclosure set = enclose_impact(problem, kCoarse);
  for (std::size_t i = 0; i < set.normal_velocity_max.size(); ++i) {
    ImpactEnclosure narrowed = set;
    narrowed.normal_velocity_max[i] *= 1.0 - 1e-6;
    EXPECT_FALSE(proves_enclosure(problem, narrowed)) << i;
  }
  ImpactEnclosure denied = set;
  denied.impossible_modes.push_back(0);
  EXPECT_FALSE(proves_enclosure(problem, denied));
  ImpactProblem other = problem;
  for (double& v : other.velocity) v *= 1.01;
  EXPECT_FALSE(proves_enclosure(other, set));
  other = problem;
  other.friction.assign(3, 0.8);
  EXPECT_FALSE(proves_enclosure(other, set));
  for (std::size_t cut = 40; cut < set.invariant.size(); cut += 97) {
    ImpactEnclosure damaged = set;
    damaged.invariant.resize(damaged.invariant.size() - cut);
    EXPECT_FALSE(proves_enclosure(problem, damaged)) << cut;
  }
}

// Every entry of every form raised or lowered by a hundredth: a form that grows or bounds less.
TEST(ImpactBound, ChangedEntriesAreSeen) {
  const ImpactProblem problem = models::build("tripod");
  const ImpactEnclosure set = enclose_impact(problem, kCoarse);
  const test::Changes changes = test::change_entries(problem, set, "carom-form", 1);
  EXPECT_GE(changes.made, 20);
  EXPECT_GE(2 * changes.refused, changes.made);  // in one of both directions at least
}

TEST(ImpactBound, DoesNotDependOnUnits) {
  const ImpactProblem problem = models::build("cube_drop");
  const Bounds b = bounds_of(enclose_impact(problem, kCoarse));
  ImpactProblem scaled = problem;
  for (double& entry : scaled.mass_matrix) entry *= 37.0;
  for (double& entry : scaled.velocity) entry *= 5.0;
  const Bounds s = bounds_of(enclose_impact(scaled, kCoarse));
  for (std::size_t k = 0; k < b.high.size(); ++k) {
    EXPECT_NEAR(s.high[k], 5.0 * b.high[k], 1e-4 * speed_of(s)) << k;
  }
}

TEST(ImpactBound, AnswersWhatNeverHappens) {
  const ImpactProblem problem = models::build("cube_drop");
  const std::vector<std::string> names = models::find("cube_drop").contact_names;
  const ImpactEnclosure set = enclose_impact(problem, kCoarse);
  const auto event = [&](const std::string& text) { return impact_event(text, names, 3); };
  const std::string above = std::to_string(set.normal_velocity_max[0] + 1e-5);
  EXPECT_LT(set.normal_velocity_max[0], 1.9);  // the energy alone allows 2
  EXPECT_TRUE(never_happens(set, event("A normal > " + above)));
  EXPECT_FALSE(never_happens(set, event("A normal > 0.1")));
  EXPECT_TRUE(never_happens(set, event("A normal < -0.001")));
  EXPECT_TRUE(never_happens(set, event("B tangent2 > 2.01")));
  EXPECT_FALSE(never_happens(set, event("B sliding, C separating")));
  EXPECT_EQ(decide_impact(problem, event("A normal > " + above), kCoarse).answer,
            ImpactAnswer::never);
  EXPECT_EQ(decide_impact(problem, event("B sliding"), kCoarse).answer, ImpactAnswer::open);
  const ImpactResult samples = sampled(problem, 1.0, 1024);
  EXPECT_GE(first_happening(problem, samples.samples, 0, event("B sliding"), 1e-6), 0);
  EXPECT_EQ(first_happening(problem, samples.samples, 0, event("A normal > " + above), 1e-6), -1);
  for (const char* wrong : {"A sliding-", "A tangent > 1", "A flying"}) {
    EXPECT_THROW(event(wrong), InvalidInput) << wrong;
  }
  EXPECT_THROW(decide_impact(problem, impact_event("A normal > 1", names, 2)), InvalidInput);
}

TEST(ImpactBound, BatchesAreTheSameForAnyThreads) {
  std::vector<ImpactProblem> problems(5, models::build("tripod"));
  for (std::size_t p = 0; p < problems.size(); ++p) {
    problems[p].friction.assign(3, 0.1 * static_cast<double>(p));
  }
  ImpactBatch batch = make_batch(problems);
  batch.friction.host()[7] = -1.0;
  EnclosureSettings settings = kCoarse;
  settings.threads = 1;
  const std::vector<ImpactEnclosure> one = enclose_impacts(batch, settings);
  settings.threads = 2;
  const std::vector<ImpactEnclosure> two = enclose_impacts(batch, settings);
  for (std::size_t p = 0; p < one.size(); ++p) {
    EXPECT_EQ(one[p].invariant, two[p].invariant);
    EXPECT_EQ(one[p].status == EnclosureStatus::invalid_input, p == 2) << p;
  }
}

}  // namespace
}  // namespace carom
