#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "support/bits.hpp"
#include "support/message.hpp"
#include "support/model_runs.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

ImpactProblem point(double mass, double speed) {
  ImpactProblem problem;
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {mass, 0, 0, mass};
  problem.normal_jacobian = {0, 1};
  problem.tangent_jacobian = {1, 0};
  problem.friction = {0.5};
  problem.velocity = {0.25, -speed};
  return problem;
}

ImpactResult sampled(std::vector<ImpactProblem> problems, const ImpactSettings& settings,
                     Backend backend = Backend::cpu) {
  return sample_impacts(make_batch(problems), settings, backend);
}

ImpactSettings of(std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  return settings;
}

double extent(const ImpactSummary& summary) {
  double sum = 0.0;
  for (std::size_t i = 0; i < summary.velocity_min.size(); ++i) {
    sum += std::pow(summary.velocity_max[i] - summary.velocity_min[i], 2);
  }
  return std::sqrt(sum);
}

// 2 kg at 3 m/s: 6 N s stop it. Every draw ends in one velocity: epsilon follows from the speed.
TEST(DerivedSettings, OfAPointMassByHand) {
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const ImpactResult result = sampled({point(2.0, 3.0)}, of(300), backend);
    const ImpactSummary& summary = result.summary[0];
    EXPECT_DOUBLE_EQ(summary.step_size, 6.0);
    EXPECT_EQ(summary.max_steps, 40);
    EXPECT_EQ(summary.contact_speed, 3.0);
    EXPECT_EQ(summary.epsilon, 0.02 * 3.0);
    ASSERT_EQ(result.net.size(), 1U);
    EXPECT_EQ(result.net[0].requested_epsilon, 0.02 * 3.0);
    EXPECT_EQ(summary.terminated, 300);
  }
  const StoppingImpulse stop = stopping_impulse(point(2.0, 3.0));
  EXPECT_EQ(stop.contact, 0);
  EXPECT_DOUBLE_EQ(stop.impulse, 6.0);
}

TEST(DerivedSettings, NothingApproaches) {
  const ImpactResult result = sampled({point(2.0, -1.0)}, of(10));
  EXPECT_EQ(result.summary[0].step_size, 1.0);
  EXPECT_EQ(result.summary[0].lcp_solves, 0);
  EXPECT_EQ(stopping_impulse(point(2.0, -1.0)).contact, -1);
}

TEST(DerivedSettings, EpsilonIsAShareOfTheFirstSamplesExtent) {
  for (const char* name : {"rocking_block", "compass_gait", "tripod"}) {
    SCOPED_TRACE(name);
    const ImpactProblem problem = models::build(name);
    ImpactSettings first = of(1024);
    first.epsilon = 0.0;
    const ImpactResult pilot = sampled({problem}, first);
    EXPECT_TRUE(pilot.net.empty());
    const ImpactResult result = sampled({problem}, of(2500));
    EXPECT_EQ(result.summary[0].epsilon, 0.05 * extent(pilot.summary[0]));
    EXPECT_EQ(result.net[0].requested_epsilon, result.summary[0].epsilon);
    // Given numbers are taken, and what they give is the same.
    ImpactSettings given = of(2500);
    given.step_size = result.summary[0].step_size;
    given.max_steps = result.summary[0].max_steps;
    given.epsilon = result.summary[0].epsilon;
    const ImpactResult again = sampled({problem}, given);
    test::expect_identical(again.net[0], result.net[0]);
    const std::vector<double> radius = {given.epsilon};
    given.epsilon = 0.0;
    given.problem_epsilon = radius;
    test::expect_identical(sampled({problem}, given).net[0], result.net[0]);
  }
}

// What a problem gets depends on no neighbour and on no shard.
TEST(DerivedSettings, EachProblemHasItsOwn) {
  ImpactProblem heavy = models::build("rocking_block");
  for (double& value : heavy.mass_matrix) value *= 1024.0;
  ImpactProblem slow = models::build("rocking_block");
  for (double& value : slow.velocity) value *= 0.125;
  const ImpactProblem plain = models::build("rocking_block");
  for (const std::int64_t samples : {std::int64_t{1500}, std::int64_t{200}}) {
    const ImpactResult all = sampled({plain, heavy, slow}, of(samples));
    EXPECT_EQ(all.summary[1].step_size, 1024.0 * all.summary[0].step_size);
    EXPECT_EQ(all.summary[2].step_size, 0.125 * all.summary[0].step_size);
    const std::vector<ImpactProblem> alone = {plain, heavy, slow};
    for (std::size_t p = 0; p < 3; ++p) {
      ImpactSettings settings = of(samples);
      settings.first_problem = static_cast<std::int64_t>(p);
      const ImpactResult one = sampled({alone[p]}, settings);
      EXPECT_EQ(one.summary[0].step_size, all.summary[p].step_size);
      EXPECT_EQ(one.summary[0].epsilon, all.summary[p].epsilon);
      test::expect_identical(one.net[0], all.net[p]);
    }
  }
  ImpactSettings shard = of(1100);
  const double whole = sampled({plain}, of(4400)).summary[0].epsilon;
  shard.first_sample = 3300;
  EXPECT_EQ(sampled({plain}, shard).summary[0].epsilon, whole);
}

TEST(DerivedSettings, ARefusedProblemHasNone) {
  ImpactProblem bad = point(2.0, 3.0);
  bad.friction[0] = -1.0;
  ImpactSettings settings = of(50);
  settings.bad_problem = BadProblem::isolate;
  const ImpactResult result = sampled({bad, point(2.0, 3.0)}, settings);
  EXPECT_EQ(result.summary[0].status, Status::invalid_input);
  EXPECT_EQ(result.net[0].points(), 0);
  EXPECT_DOUBLE_EQ(result.summary[1].step_size, 6.0);
  EXPECT_EQ(result.summary[1].epsilon, 0.06);
  EXPECT_GE(result.net[1].points(), 1);
  EXPECT_LE(result.net[1].points(), 4);  // of one velocity, by the signs of rounding
}

TEST(DerivedSettings, ListsOfRadiiAreChecked) {
  const std::vector<double> two = {0.1, 0.2};
  ImpactSettings settings = of(10);
  settings.problem_epsilon = two;
  expect_names(refusal([&] { sampled({point(2.0, 3.0)}, settings); }), {"problem_epsilon", "2"});
  const std::vector<double> bad = {0.1, -0.5};
  settings.problem_epsilon = bad;
  expect_names(refusal([&] {
                 sampled({point(2.0, 3.0), point(1.0, 3.0)}, settings);
               }),
               {"problem_epsilon", "1", "-0.5"});
}

// The wish to stop is heard while the first samples are taken.
TEST(DerivedSettings, StopsInTheFirstSamples) {
  ImpactSettings settings = of(1 << 16);
  std::int64_t total = 0;
  settings.progress = [&](const ImpactProgress& progress) {
    total = progress.samples_total;
    EXPECT_EQ(progress.samples_done, 0);
    EXPECT_GT(progress.pilot_done, 0);
    EXPECT_GE(progress.pilot_total, progress.pilot_done);
    return false;
  };
  const ImpactResult result = sampled({models::build("ramone")}, settings);
  EXPECT_TRUE(result.cancelled);
  EXPECT_LT(result.summary[0].samples, 1 << 16);
  EXPECT_EQ(total, 1 << 16);
}

}  // namespace
}  // namespace carom
