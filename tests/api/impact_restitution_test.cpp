#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/certificate_restitution.hpp>
#include <carom/certificate_restitution_planar.hpp>
#include <carom/error.hpp>
#include <carom/models/models.hpp>

#include "support/bits.hpp"
#include "support/enclosures.hpp"
#include "support/message.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Impacts with restitution, followed from event to event (docs/explanation/restitution.md).
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

/// Two frictionless contacts in their own velocities: J = I, and J M^-1 J' = [1 b; b 1].
ImpactProblem two_contacts(double b, double e) {
  ImpactProblem problem;
  problem.velocities = problem.contacts = 2;
  const double d = 1.0 / (1.0 - b * b);
  problem.mass_matrix = {d, -b * d, -b * d, d};
  problem.normal_jacobian = {1.0, 0.0, 0.0, 1.0};
  problem.tangent_jacobian = Values(4, 0.0);
  problem.friction = {0.0, 0.0};
  problem.velocity = {-1.0, -1.0};
  set_restitution(problem, e, e);
  return problem;
}

/// The largest component by which the nearest of a run's outcomes misses v.
double distance(const ImpactResult& run, const Values& v) {
  double least = INFINITY;
  const auto nv = static_cast<std::int64_t>(v.size());
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    if (run.samples.status.data()[s] != TrajectoryStatus::terminated) continue;
    double most = 0.0;
    for (std::int64_t j = 0; j < nv; ++j) {
      const double miss = run.samples.velocity.data()[s * nv + j] - v[static_cast<std::size_t>(j)];
      most = std::max(most, std::abs(miss));
    }
    least = std::min(least, most);
  }
  return least;
}

void expect_all_ended(const ImpactSummary& summary) {
  EXPECT_EQ(summary.terminated, summary.samples);
  EXPECT_LE(summary.max_residual, 1e-9);
}

TEST(Restitution, OfOneBallIsStrongesAndFrictionActsInBothPhases) {
  const ImpactResult run = followed(sliding_ball(0.6), events(256));
  expect_all_ended(run.summary[0]);
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    EXPECT_NEAR(run.samples.velocity.data()[2 * s], 3.0 - 0.25 * 1.6, 1e-14);
    EXPECT_NEAR(run.samples.velocity.data()[2 * s + 1], 0.6, 1e-14);
    EXPECT_NEAR(run.samples.stored.data()[s], 0.36, 1e-14);
    EXPECT_NEAR(run.samples.released.data()[s], 0.36, 1e-14);
    EXPECT_NEAR(run.samples.lost_compression.data()[s], 0.64, 1e-14);
    EXPECT_NEAR(run.samples.lost_friction.data()[s], 9.0 - 2.6 * 2.6, 1e-14);
  }
}

TEST(Restitution, OfCradlesHasTheClassicalOutcomesAndKeepsTheEnergy) {
  for (int balls = 2; balls <= 6; ++balls) {
    SCOPED_TRACE(balls);
    const ImpactResult run = followed(cradle(balls, 1.0), events(balls < 6 ? 1 << 14 : 1 << 16));
    const ImpactSummary& summary = run.summary[0];
    expect_all_ended(summary);
    EXPECT_NEAR(summary.min_energy_ratio, 1.0, 1e-12);
    EXPECT_NEAR(summary.max_energy_ratio, 1.0, 1e-12);
    const auto n = static_cast<std::size_t>(balls);
    Values passing(n, 0.0), mirrored(n, 2.0 / balls);
    passing.back() = 1.0;
    mirrored.front() -= 1.0;
    EXPECT_LE(distance(run, passing), 1e-14);
    EXPECT_LE(distance(run, mirrored), 1e-3);
  }
}

TEST(Restitution, OfThreeBallsAtOneHalfLosesBetweenTheSequenceAndTheMirroredImpulse) {
  const ImpactResult run = followed(cradle(3, 0.5), events(1 << 14));
  expect_all_ended(run.summary[0]);
  // 1 on 2, 2 on 3, and 1 on 2 again: speeds in 32nds are 8 24 0, 8 6 18, 6.5 7.5 18
  EXPECT_NEAR(run.summary[0].min_energy_ratio, (6.5 * 6.5 + 7.5 * 7.5 + 18.0 * 18.0) / 1024.0,
              1e-14);
  EXPECT_NEAR(run.summary[0].max_energy_ratio, 1.0 / 3.0 + 0.25 * 2.0 / 3.0, 1e-14);
}

TEST(Restitution, OfThreeBallsHoldsTheLastWhileTheFirstGivesBack) {
  // 1 on 2 until they go together, with them 2 on 3 until all do; the stores of 3/8 and 1/8 of
  // e^2 (1 - 1/3) come back one after the other, the first one while 2 and 3 stay together
  const double v = 1.0 / std::sqrt(12.0);
  const ImpactResult run = followed(cradle(3, 0.5), events(1 << 15));
  EXPECT_LE(distance(run, {1.0 / 3.0 - v, 1.0 / 3.0, 1.0 / 3.0 + v}), 1e-14);
}

TEST(Restitution, OfABlockThatFallsFlatReachesEachCornersSequenceAndBothTogether) {
  const double b = 0.25;
  for (const double e : {0.0, 0.3, 0.7, 1.0}) {
    SCOPED_TRACE(e);
    const double second = (1.0 + e) * b - 1.0;  // B, after A
    const Values sequence = {e - (1.0 + e) * b * second, -e * second};
    const ImpactResult run = followed(two_contacts(b, e), events(1 << 16));
    expect_all_ended(run.summary[0]);
    EXPECT_LE(distance(run, sequence), 1e-14);
    EXPECT_LE(distance(run, {sequence[1], sequence[0]}), 1e-14);
    EXPECT_LE(distance(run, {e, e}), 2e-4);
  }
}

TEST(Restitution, OfNoneIsBitForBitTheInelasticSet) {
  for (const char* name : {"rocking_block", "box_wall", "cube_drop", "disk_stack"}) {
    SCOPED_TRACE(name);
    const ImpactProblem plain = models::build(name);
    ImpactProblem zero = plain;
    set_restitution(zero, 0.0, 0.0);
    zero.friction_high = zero.friction;
    ImpactProblem bouncing = plain;
    set_restitution(bouncing, 0.5, 0.5);
    const ImpactResult expected = followed(plain, events(512));
    const ImpactProblem both[] = {zero, bouncing};
    const ImpactResult run = sample_impacts(make_batch(both), events(512), Backend::cpu);
    const auto own = static_cast<std::ptrdiff_t>(expected.samples.velocity.size());
    EXPECT_TRUE(std::equal(expected.samples.velocity.data(), expected.samples.velocity.data() + own,
                           run.samples.velocity.data()));
    EXPECT_EQ(run.summary[0].lcp_solves, expected.summary[0].lcp_solves);
    EXPECT_TRUE(std::isnan(run.summary[0].lost_friction_mean));
    EXPECT_EQ(run.samples.restitution.data()[0], 0.0);
    EXPECT_EQ(run.samples.friction.data()[0], plain.friction[0]);
  }
}

TEST(Restitution, DrawsItsNumbersInTheirIntervalsAndAQuarterAtTheEnds) {
  ImpactProblem block = models::build("rocking_block");
  set_restitution(block, 0.2, 0.4);
  block.friction_high.assign(2, block.friction[0] + 0.5);
  const ImpactResult run = followed(block, events(1 << 14));
  expect_all_ended(run.summary[0]);
  std::int64_t low = 0, high = 0;
  const std::int64_t all = 2 * run.samples.count;
  double sum = 0.0;
  for (std::int64_t k = 0; k < all; ++k) {
    const double e = run.samples.restitution.data()[k], mu = run.samples.friction.data()[k];
    ASSERT_TRUE(e >= 0.2 && e <= 0.4);
    ASSERT_TRUE(mu >= block.friction[0] && mu <= block.friction_high[0]);
    low += e == 0.2 ? 1 : 0;
    high += e == 0.4 ? 1 : 0;
    sum += e;
  }
  EXPECT_NEAR(static_cast<double>(low) / static_cast<double>(all), 0.125, 0.01);
  EXPECT_NEAR(static_cast<double>(high) / static_cast<double>(all), 0.125, 0.01);
  EXPECT_NEAR(sum / static_cast<double>(all), 0.3, 0.002);
}

TEST(Restitution, OfPacksIsBitForBitThatOfOneTrajectoryAtATime) {
  std::vector<ImpactProblem> problems = {cradle(2, 0.6), cradle(3, 1.0)};
  for (const char* name : {"rocking_block", "box_wall", "compass_gait", "ball_in_corner"}) {
    problems.push_back(models::build(name));
    set_restitution(problems.back(), 0.2, 0.9);
  }
  for (const ImpactProblem& problem : problems) {
    SCOPED_TRACE(problem.name);
    ImpactSettings settings = events(3000);
    const ImpactResult packs = followed(problem, settings);
    settings.keep_paths = settings.samples;  // which are followed one at a time
    const ImpactResult single = followed(problem, settings);
    expect_all_ended(packs.summary[0]);
    test::expect_identical(packs.summary[0], single.summary[0]);
    test::expect_identical(packs.samples, single.samples);
  }
}

TEST(Restitution, OfSamplesDependsOnlyOnTheirProblemAndIndex) {
  ImpactProblem block = models::build("box_wall");
  set_restitution(block, 0.2, 0.9);
  block.friction_high.assign(2, 1.0);
  ImpactSettings settings = events(3000);
  settings.threads = 1;
  const ImpactResult whole = followed(block, settings);
  settings.threads = 0;
  settings.samples = 1000;
  settings.first_sample = 1700;
  const ImpactResult shard = followed(block, settings);
  const auto nv = static_cast<std::ptrdiff_t>(block.velocities);
  EXPECT_TRUE(std::equal(shard.samples.velocity.data(), shard.samples.velocity.data() + 1000 * nv,
                         whole.samples.velocity.data() + 1700 * nv));
  // a number is an interval that is one, drawn or not
  ImpactProblem number = block;
  set_restitution(number, 0.5, 0.5);
  ImpactProblem interval = number;
  interval.friction_high = interval.friction;
  number.friction_high.clear();
  const ImpactResult a = followed(number, settings), c = followed(interval, settings);
  EXPECT_TRUE(std::equal(a.samples.velocity.data(), a.samples.velocity.data() + 1000 * nv,
                         c.samples.velocity.data()));
}

double kinetic_energy(const ImpactProblem& problem, const double* v) {
  double twice = 0.0;
  for (int i = 0; i < problem.velocities; ++i) {
    for (int j = 0; j < problem.velocities; ++j) {
      twice +=
          v[i] * v[j] * problem.mass_matrix[static_cast<std::size_t>(i * problem.velocities + j)];
    }
  }
  return 0.5 * twice;
}

TEST(Restitution, NeverGainsEnergyEndsAndClosesItsBooksOnRandomProblems) {
  Generator random(44);
  for (int k = 0; k < 400; ++k) {
    const int dimension = 2 + k % 2, contacts = 1 + k / 2 % 4;
    const Flavour flavours[] = {Flavour::generic, Flavour::rank_deficient, Flavour::duplicated,
                                Flavour::frictionless, Flavour::vertical};
    ImpactProblem problem = test::random_problem(random, flavours[k % 5], dimension, contacts);
    const double low = random.unit();
    set_restitution(problem, low, random.between(low, 1.0));
    const ImpactResult run = followed(problem, events(64));
    const double before = kinetic_energy(problem, problem.velocity.data());
    const ImpactSummary& summary = run.summary[0];
    expect_all_ended(summary);
    for (std::int64_t s = 0; s < run.samples.count; ++s) {
      if (run.samples.status.data()[s] != TrajectoryStatus::terminated) continue;
      const double after =
          kinetic_energy(problem, run.samples.velocity.data() + s * problem.velocities);
      double lost = 0.0;
      for (std::int64_t i = s * contacts; i < (s + 1) * contacts; ++i) {
        lost += run.samples.lost_compression.data()[i] + run.samples.lost_friction.data()[i];
        EXPECT_GE(run.samples.lost_compression.data()[i], -1e-12 * before);
        EXPECT_GE(run.samples.lost_friction.data()[i], -1e-12 * before);
        EXPECT_NEAR(run.samples.stored.data()[i], run.samples.released.data()[i], 1e-12 * before);
      }
      EXPECT_NEAR(before - after, lost, 2e-12 * before) << k << " " << s;
      EXPECT_LE(after, before * (1.0 + 1e-12));
    }
  }
}

TEST(Restitution, OfOtherLawsIsThatOfOneContactAndNeverGainsEnergy) {
  ImpactSettings settings = events(2048);
  for (const RestitutionLaw law : {RestitutionLaw::poisson, RestitutionLaw::newton}) {
    SCOPED_TRACE(to_string(law));
    settings.law = law;
    // u is affine in the impulse: the three laws agree
    const ImpactResult two = followed(cradle(2, 0.6), settings);
    expect_all_ended(two.summary[0]);
    for (std::int64_t s = 0; s < two.samples.count; ++s) {
      EXPECT_NEAR(two.samples.velocity.data()[2 * s], 0.2, 1e-14);
      EXPECT_NEAR(two.samples.velocity.data()[2 * s + 1], 0.8, 1e-14);
    }
    std::int64_t guarded = 0;
    for (const char* name : {"rocking_block", "box_wall", "compass_gait", "cube_drop"}) {
      ImpactProblem problem = models::build(name);
      set_restitution(problem, 0.5, 1.0);
      const ImpactSummary summary = followed(problem, settings).summary[0];
      EXPECT_GE(summary.terminated, summary.samples - 8) << name;
      EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-12) << name;
      guarded += summary.guarded;
    }
    EXPECT_GT(guarded, 0);
  }
}

TEST(Restitution, VariesWithinSamplesWhereAsked) {
  ImpactProblem pair = cradle(2, 0.0);
  set_restitution(pair, 0.2, 0.8);
  ImpactSettings settings = events(4096);
  settings.vary = true;
  const ImpactResult run = followed(pair, settings);
  expect_all_ended(run.summary[0]);
  EXPECT_TRUE(std::isnan(run.samples.restitution.data()[0]));
  // (v2 - v1) is what is given back, and stays between the ends of the interval
  double least = 1.0, most = 0.0;
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    const double* const v = run.samples.velocity.data() + 2 * s;
    least = std::min(least, v[1] - v[0]);
    most = std::max(most, v[1] - v[0]);
  }
  EXPECT_NEAR(least, 0.2, 1e-12);
  EXPECT_NEAR(most, 0.8, 1e-12);
}

TEST(Restitution, OfAWiderIntervalHasTheOutcomesOfTheNarrower) {
  ImpactProblem block = models::build("rocking_block");
  set_restitution(block, 0.3, 0.3);
  const ImpactResult narrow = followed(block, events(64));
  set_restitution(block, 0.2, 0.4);
  const ImpactResult wide = followed(block, events(1 << 16));
  const double speed = wide.summary[0].contact_speed;
  for (std::int64_t s = 0; s < 64; ++s) {
    const double* const v = narrow.samples.velocity.data() + 3 * s;
    EXPECT_LE(distance(wide, {v[0], v[1], v[2]}), 0.02 * speed) << s;
  }
}

bool passes(double residual, double books) {
  return certificate::within(residual, 1e-9) && certificate::within(books, certificate::kBooks);
}

/// Whether the certificates accept a ball of 1 kg that comes with 1 m/s and slides, by its pieces.
struct Judged {
  bool any, planar;
};
Judged judged(const std::vector<std::array<double, 2>>& pieces, Values after,
              double lost_compression, double lost_friction, double e = 0.5) {
  const double identity[] = {1.0, 0.0, 0.0, 1.0}, before[] = {-1.0, 1.0}, mu = 0.25;
  const kernels::FrictionPolygon polygon;
  const certificate::RestitutionProblem problem{
      2, 1, identity, identity, identity, before, 1.0, RestitutionLaw::stronge};
  certificate::Restitution<2, 1> any(polygon);
  any.begin(problem);
  certificate::PlanarRestitution<double, bool, 1, 2> planar(problem, &mu);
  for (const auto& piece : pieces) {
    any.add(piece.data(), &e, &mu);
    planar.add(piece.data(), &e);
  }
  const auto found = any.finish(after.data(), &lost_compression, &lost_friction);
  const double ratio = 0.5 * (after[0] * after[0] + after[1] * after[1]);
  return {passes(found.residual, found.books),
          passes(planar.residual(after.data()), planar.books(&lost_compression, &lost_friction)) &&
              certificate::energies_balance(1.0, ratio, lost_compression + lost_friction)};
}

TEST(Restitution, IsJudgedByItsPieces) {
  // to u = 0 with 1 N s, on to u = 1/2 with another half; friction takes 3/8 of the slip
  const double friction = 0.5 - 0.5 * 0.625 * 0.625;
  const std::vector<std::array<double, 2>> good = {{0.4, -0.1}, {0.6, -0.15}, {0.5, -0.125}};
  for (const auto& pieces : {good, {{1.5, -0.375}}}) {  // in three, in one
    const Judged found = judged(pieces, {0.5, 0.625}, 0.375, friction);
    EXPECT_TRUE(found.any);
    EXPECT_TRUE(found.planar);
  }
  struct Wrong {
    const char* what;
    std::vector<std::array<double, 2>> pieces;
    Values after;
    double compression, friction;
  };
  const double more = std::sqrt(0.25 + 2e-9), taken = 0.5 - 0.5 * std::pow(0.75 - 0.25 * more, 2);
  const std::vector<Wrong> wrong = {
      {"releases 1e-9 too much",
       {{1.0 + more, -0.25 - 0.25 * more}},
       {more, 0.75 - 0.25 * more},
       0.375 - 1e-9,
       taken},
      {"keeps 1e-2 in store",
       {{1.48, -0.37}},
       {0.48, 0.63},
       0.5 - 0.5 * 0.48 * 0.48,
       0.5 - 0.5 * 0.63 * 0.63},
      {"friction along the slip",
       {{1.0, 0.25}, {0.5, 0.125}},
       {0.5, 1.375},
       0.375,
       0.5 - 0.5 * 1.375 * 1.375},
      {"friction beyond the cone", {{1.5, -0.5}}, {0.5, 0.5}, 0.375, 0.375},
      {"less friction than sliding has", {{1.5, -0.3}}, {0.5, 0.7}, 0.375, 0.255},
      {"a piece is missing", {good[0], good[2]}, {0.5, 0.625}, 0.375, friction},
      {"still approaches", {good[0]}, {-0.6, 0.9}, 0.32, 0.095},
      {"pulls", {{1.6, -0.4}, {-0.1, 0.025}}, {0.5, 0.625}, 0.375, friction},
      {"another v+", good, {0.5, 0.626}, 0.375, friction},
      {"another loss", good, {0.5, 0.625}, 0.374, friction + 0.001},
  };
  for (const Wrong& each : wrong) {
    const Judged found = judged(each.pieces, each.after, each.compression, each.friction);
    EXPECT_FALSE(found.any) << each.what;
    EXPECT_FALSE(found.planar) << each.what;
  }
}

TEST(Restitution, RefusesWhatIsNone) {
  const auto sampled = [](auto&& change) {
    ImpactProblem block = models::build("rocking_block");
    set_restitution(block, 0.2, 0.4);
    change(block);
    return test::refusal([&] { followed(block, events(8)); });
  };
  test::expect_names(sampled([](ImpactProblem& p) { p.restitution_high[1] = 1.5; }),
                     {"restitution_high[1]", "1.5", "restitution_low..1"});
  test::expect_names(sampled([](ImpactProblem& p) { p.restitution_low[0] = -0.5; }),
                     {"restitution_low[0]", "-0.5", "0..1"});
  test::expect_names(sampled([](ImpactProblem& p) { p.restitution_low[1] = 0.5; }),
                     {"restitution_high[1]", "0.4", "restitution_low"});
  test::expect_names(sampled([](ImpactProblem& p) {
                       p.friction_high = {9.0, 0.0};
                     }),
                     {"friction_high[1]", "0", ">= friction"});
  test::expect_names(sampled([](ImpactProblem& p) { p.restitution_high = {0.4}; }),
                     {"restitution_high", "1", "2"});
  test::expect_names(sampled([](ImpactProblem& p) { p.restitution_low.clear(); }),
                     {"restitution_low", "left out", "other end"});
}

}  // namespace
}  // namespace carom
