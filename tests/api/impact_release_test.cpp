#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/certificate_release.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"
#include "support/message.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Impacts with restitution by steps (75) with release speeds (docs/explanation/restitution.md).
namespace carom {
namespace {

using test::cradle;
using test::events;
using test::Flavour;
using test::followed;
using test::Generator;
using test::set_restitution;
using test::sliding_ball;

using Values = std::vector<double>;

ImpactSettings steps(std::int64_t samples) {
  ImpactSettings settings = events(samples);
  settings.method = ImpactMethod::lcp;
  return settings;
}

ImpactProblem bouncing(const char* name, double low, double high) {
  ImpactProblem problem = models::build(name);
  set_restitution(problem, low, high);
  return problem;
}

TEST(Release, OfOneContactIsStrongesAndFrictionActsInBothPhases) {
  const ImpactResult run = followed(sliding_ball(0.6), steps(256));
  EXPECT_EQ(run.summary[0].terminated, 256);
  EXPECT_EQ(run.summary[0].trimmed, 0);
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    EXPECT_NEAR(run.samples.velocity.data()[2 * s], 3.0 - 0.25 * 1.6, 1e-13);
    EXPECT_NEAR(run.samples.velocity.data()[2 * s + 1], 0.6, 1e-13);
    EXPECT_NEAR(run.samples.stored.data()[s], 0.36, 1e-13);
    EXPECT_NEAR(run.samples.released.data()[s], 0.36, 1e-13);
    EXPECT_NEAR(run.samples.lost_compression.data()[s], 0.64, 1e-13);
    EXPECT_NEAR(run.samples.lost_friction.data()[s], 9.0 - 2.6 * 2.6, 1e-13);
  }
}

TEST(Release, OfCradlesPassesTheSpeedOnAndKeepsTheEnergy) {
  for (int balls = 2; balls <= 5; ++balls) {
    SCOPED_TRACE(balls);
    const ImpactResult run = followed(cradle(balls, 1.0), steps(1 << 12));
    EXPECT_EQ(run.summary[0].failed, 0);
    EXPECT_GE(run.summary[0].terminated, run.summary[0].samples * 99 / 100);
    EXPECT_NEAR(run.summary[0].min_energy_ratio, 1.0, 1e-12);
    EXPECT_NEAR(run.summary[0].max_energy_ratio, 1.0, 1e-12);
    double least = INFINITY;
    for (std::int64_t s = 0; s < run.samples.count; ++s) {
      double miss = 0.0;
      for (int j = 0; j < balls; ++j) {
        miss = std::max(miss, std::abs(run.samples.velocity.data()[s * balls + j] -
                                       (j + 1 == balls ? 1.0 : 0.0)));
      }
      least = std::min(least, miss);
    }
    EXPECT_LE(least, 1e-12);
  }
  // 1 on 2, 2 on 3, 1 on 2 again, as in the test of events; the mirrored impulse keeps most
  const ImpactSummary half = followed(cradle(3, 0.5), steps(1 << 12)).summary[0];
  EXPECT_NEAR(half.min_energy_ratio, (6.5 * 6.5 + 7.5 * 7.5 + 18.0 * 18.0) / 1024.0, 1e-12);
  EXPECT_NEAR(half.max_energy_ratio, 0.5, 1e-3);
}

TEST(Release, OfNoRestitutionIsBitForBitAlgorithm1) {
  for (const char* name : {"rocking_block", "box_wall", "cube_drop", "disk_stack"}) {
    SCOPED_TRACE(name);
    const ImpactProblem plain = models::build(name);
    ImpactProblem zero = plain;
    set_restitution(zero, 0.0, 0.0);
    zero.friction_high = zero.friction;
    const ImpactResult expected = followed(plain, steps(512)), run = followed(zero, steps(512));
    EXPECT_TRUE(std::equal(run.samples.velocity.host().begin(), run.samples.velocity.host().end(),
                           expected.samples.velocity.host().begin()));
    EXPECT_TRUE(std::equal(run.samples.impulse.host().begin(), run.samples.impulse.host().end(),
                           expected.samples.impulse.host().begin()));
    EXPECT_EQ(run.summary[0].lcp_solves, expected.summary[0].lcp_solves);
    EXPECT_EQ(run.summary[0].max_steps, expected.summary[0].max_steps);
    EXPECT_TRUE(std::isnan(run.summary[0].lost_friction_mean));
  }
}

/// max over samples of d . J v+.
Values supports(const ImpactProblem& problem, const ImpactResult& run,
                const std::vector<Values>& directions) {
  const auto nv = static_cast<std::size_t>(problem.velocities);
  Values jacobian = problem.normal_jacobian;
  jacobian.insert(jacobian.end(), problem.tangent_jacobian.begin(), problem.tangent_jacobian.end());
  Values most;
  for (const Values& d : directions) {
    Values row(nv, 0.0);
    for (std::size_t k = 0; k < d.size(); ++k) {
      for (std::size_t j = 0; j < nv; ++j) row[j] += d[k] * jacobian[k * nv + j];
    }
    double best = -INFINITY;
    for (std::int64_t s = 0; s < run.samples.count; ++s) {
      const double* const v = run.samples.velocity.data() + s * problem.velocities;
      double sum = 0.0;
      for (std::size_t j = 0; j < nv; ++j) sum += row[j] * v[j];
      best = std::max(best, sum);  // NaN of a failed sample is no maximum
    }
    most.push_back(best);
  }
  return most;
}

TEST(Release, HasTheSupportFunctionOfTheEventsAsTheStepVanishes) {
  // A few samples of either method lie within what many of the other reach.
  struct Case {
    const char* what;
    ImpactProblem problem;
  };
  const Case cases[] = {{"rocking_block", bouncing("rocking_block", 0.5, 0.5)},
                        {"box_wall", bouncing("box_wall", 0.5, 0.5)},
                        {"ball_in_corner", bouncing("ball_in_corner", 0.5, 0.5)},
                        {"cradle of 3", test::cradle(3, 0.5)}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const ImpactProblem& problem = each.problem;
    const auto rows = static_cast<std::size_t>(problem.dimension * problem.contacts);
    Generator random(5);
    std::vector<Values> directions;
    for (int k = 0; k < 100; ++k) {
      Values d(rows), back(rows);
      for (std::size_t i = 0; i < rows; ++i) back[i] = -(d[i] = random.between(-1.0, 1.0));
      directions.push_back(d);
      directions.push_back(back);
    }
    const auto of = [&](ImpactMethod method, std::int64_t samples) {
      ImpactSettings settings = events(samples);
      settings.method = method;
      settings.step_size = 0.02 * stopping_impulse(problem, 1e-9).impulse;
      settings.max_steps = 100'000;
      const ImpactResult run = followed(problem, settings);
      EXPECT_LE(run.summary[0].failed, samples / 500);
      return supports(problem, run, directions);
    };
    const Values few_steps = of(ImpactMethod::lcp, 64), steps = of(ImpactMethod::lcp, 4096);
    const Values few_events = of(ImpactMethod::events, 64);
    const Values all_events = of(ImpactMethod::events, 1 << 14);
    double largest = 0.0;
    for (std::size_t k = 0; k < directions.size(); k += 2) {
      largest = std::max(largest, all_events[k] + all_events[k + 1]);
    }
    for (std::size_t k = 0; k < directions.size(); ++k) {
      const double extent = all_events[k] + all_events[k ^ 1U];
      if (extent < 0.05 * largest) continue;
      EXPECT_LE(few_steps[k], all_events[k] + 0.02 * extent) << k;
      EXPECT_LE(few_events[k], steps[k] + 0.02 * extent) << k;
    }
  }
}

TEST(Release, NeverGainsEnergyAndClosesItsBooksOnRandomProblems) {
  Generator random(45);
  std::int64_t ended = 0, all = 0, trimmed = 0;
  const Flavour flavours[] = {Flavour::generic, Flavour::duplicated, Flavour::frictionless,
                              Flavour::vertical};
  for (int k = 0; k < 200; ++k) {
    const int contacts = 1 + k / 2 % 4;
    ImpactProblem problem = test::random_problem(random, flavours[k % 4], 2 + k % 2, contacts);
    const double low = random.unit();
    set_restitution(problem, low, random.between(low, 1.0));
    const ImpactResult run = followed(problem, steps(64));
    const ImpactSummary& summary = run.summary[0];
    EXPECT_LE(summary.max_residual, 1e-9);
    EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-12) << k;
    EXPECT_EQ(summary.failed, 0) << k;
    all += summary.samples;
    ended += summary.terminated;
    trimmed += summary.trimmed;
    double before = 0.0;
    for (int i = 0; i < problem.velocities; ++i) {
      for (int j = 0; j < problem.velocities; ++j) {
        const auto at = static_cast<std::size_t>(i * problem.velocities + j);
        before += 0.5 * problem.velocity[static_cast<std::size_t>(i)] * problem.mass_matrix[at] *
                  problem.velocity[static_cast<std::size_t>(j)];
      }
    }
    for (std::int64_t i = 0; i < run.samples.count * contacts; ++i) {
      if (run.samples.status.data()[i / contacts] != TrajectoryStatus::terminated) continue;
      EXPECT_GE(run.samples.lost_compression.data()[i], 0.0);
      EXPECT_GE(run.samples.lost_friction.data()[i], 0.0);
      EXPECT_NEAR(run.samples.stored.data()[i], run.samples.released.data()[i], 1e-12 * before);
    }
  }
  EXPECT_GE(static_cast<double>(ended), 0.99 * static_cast<double>(all));
  EXPECT_GT(trimmed, 0);
}

TEST(Release, OfSamplesDependsOnlyOnTheirProblemAndIndex) {
  const ImpactProblem problem = bouncing("box_wall", 0.2, 0.9);
  ImpactSettings settings = steps(2000);
  settings.threads = 1;
  const ImpactResult whole = followed(problem, settings);
  settings.threads = 0;
  settings.first_sample = 700;
  settings.samples = 900;
  const ImpactResult shard = followed(problem, settings);
  const auto nv = static_cast<std::ptrdiff_t>(problem.velocities);
  EXPECT_TRUE(std::equal(shard.samples.velocity.data(), shard.samples.velocity.data() + 900 * nv,
                         whole.samples.velocity.data() + 700 * nv));
}

/// The books of a ball of 1 kg that comes with 1 m/s and slides: steps with release speeds.
struct Step {
  std::array<double, 2> impulse;
  double limit, release;
};
bool passes(const std::vector<Step>& given, Values after, double compression, double friction) {
  const double identity[] = {1.0, 0.0, 0.0, 1.0}, before[] = {-1.0, 1.0}, mu = 0.25, e = 0.5;
  const kernels::FrictionPolygon polygon;
  certificate::ReleaseBooks<2, 1> books(polygon);
  books.begin({2, 1, identity, identity, identity, before, 1.0, RestitutionLaw::stronge});
  for (const Step& step : given) {
    books.add(step.impulse.data(), &step.limit, &step.release, &e, &mu);
  }
  const auto found = books.finish(after.data(), &compression, &friction, 1e-9);
  return certificate::within(found.residual, 1e-9) &&
         certificate::within(found.books, certificate::kBooks);
}

TEST(Release, IsJudgedByItsSteps) {
  const double friction = 0.5 - 0.5 * 0.625 * 0.625;
  const std::vector<Step> good = {
      {{0.4, -0.1}, 0.4, 0.0}, {{0.6, -0.15}, 0.8, 0.0}, {{0.5, -0.125}, 0.5, 0.5}};
  EXPECT_TRUE(passes(good, {0.5, 0.625}, 0.375, friction));
  struct Wrong {
    const char* what;
    std::vector<Step> given;
    Values after;
    double compression, friction;
  };
  const double more = std::sqrt(0.25 + 2e-9), taken = 0.5 - 0.5 * std::pow(0.75 - 0.25 * more, 2);
  const std::vector<Wrong> wrong = {
      {"releases 1e-9 too much",
       {good[0], good[1], {{more, -0.25 * more}, more, more}},
       {more, 0.75 - 0.25 * more},
       0.375 - 1e-9,
       taken},
      {"releases without a store",
       {good[0], {{1.1, -0.275}, 1.1, 0.5}},
       {0.5, 0.625},
       0.375,
       friction},
      {"leaves a store", {good[0], good[1]}, {0.0, 0.75}, 0.5, 0.5 - 0.5 * 0.75 * 0.75},
      {"friction along the slip",
       {{{1.0, 0.25}, 1.0, 0.0}, {{0.5, 0.125}, 0.5, 0.5}},
       {0.5, 1.375},
       0.375,
       0.5 - 0.5 * 1.375 * 1.375},
      {"a step beyond its limit",
       {{{0.4, -0.1}, 0.3, 0.0}, good[1], good[2]},
       {0.5, 0.625},
       0.375,
       friction},
      {"a step is missing", {good[0], good[2]}, {0.5, 0.625}, 0.375, friction},
      {"another v+", good, {0.5, 0.626}, 0.375, friction},
      {"another loss", good, {0.5, 0.625}, 0.374, friction + 0.001},
  };
  for (const Wrong& each : wrong) {
    EXPECT_FALSE(passes(each.given, each.after, each.compression, each.friction)) << each.what;
  }
}

TEST(Release, RefusesWhatItDoesNotFollow) {
  ImpactSettings settings = steps(8);
  settings.law = RestitutionLaw::poisson;
  test::expect_names(
      test::refusal([&] { followed(bouncing("rocking_block", 0.2, 0.4), settings); }),
      {"method is lcp", "events", "restitution", "poisson", "stronge"});
  settings.law = RestitutionLaw::stronge;
  test::expect_names(test::refusal([&] { followed(cradle(18, 0.5), settings); }),
                     {"contacts is 17", "16", "restitution"});
}

// Masses, impulses and h in a unit 10^12 times smaller: the same steps, as well certified.
TEST(Units, OfMassChangeNeitherStepsNorWhatIsCertified) {
  constexpr double kUnit = 0x1p-40;
  Generator random(4);
  for (int round = 0; round < 60; ++round) {
    ImpactProblem problem =
        test::random_problem(random, Flavour::generic, 2 + round % 2, 1 + round / 2 % 3);
    for (double& mu : problem.friction) mu *= 0.1;  // one outcome of a step
    ImpactSettings settings = steps(32);
    settings.step_size = 0.25;
    const ImpactResult own = followed(problem, settings);
    for (double& entry : problem.mass_matrix) entry *= kUnit;
    settings.step_size *= kUnit;
    const ImpactResult other = followed(problem, settings);
    for (const ImpactResult* run : {&own, &other}) {
      EXPECT_EQ(run->summary[0].failed, 0);
      EXPECT_LE(run->summary[0].max_residual, 1e-12);
    }
    for (std::size_t i = 0; i < own.samples.velocity.size(); ++i) {
      EXPECT_NEAR(own.samples.velocity.data()[i], other.samples.velocity.data()[i], 1e-10);
    }
    for (std::size_t i = 0; i < own.samples.impulse.size(); ++i) {
      EXPECT_NEAR(own.samples.impulse.data()[i], other.samples.impulse.data()[i] / kUnit, 1e-10);
    }
  }
}

}  // namespace
}  // namespace carom
