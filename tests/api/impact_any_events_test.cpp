#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"
#include "support/message.hpp"

// Solutions followed from event to event of spatial impacts and of planar ones with more contacts
// than modes are tabled for.
namespace carom {
namespace {

using test::Bounds;
using test::bounds_of;
using test::events;
using test::Flavour;
using test::followed;
using test::Generator;

/// Contact velocities before the impact, normals, then tangents.
std::vector<double> before(const ImpactProblem& problem) {
  std::vector<double> u;
  const auto nv = static_cast<std::size_t>(problem.velocities);
  for (const auto* jacobian : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
    for (std::size_t k = 0; k * nv < jacobian->size(); ++k) {
      double sum = 0.0;
      for (std::size_t j = 0; j < nv; ++j) sum += (*jacobian)[k * nv + j] * problem.velocity[j];
      u.push_back(sum);
    }
  }
  return u;
}

double speed(const ImpactProblem& problem) {
  double most = 0.0;
  for (const double u : before(problem)) most = std::max(most, std::abs(u));
  return most;
}

ImpactProblem random_spatial(Generator& random, int contacts) {
  ImpactProblem problem = test::random_problem(random, Flavour::generic, 3, contacts);
  for (double& mu : problem.friction) mu *= 0.6;
  return problem;
}

void expect_certified(const ImpactSummary& summary, std::int64_t samples, const std::string& name) {
  EXPECT_EQ(summary.terminated, samples) << name;
  EXPECT_LE(summary.max_residual, 1e-9) << name;
  EXPECT_LE(summary.max_energy_ratio, 1.0) << name;
}

TEST(AnyImpactEvents, StayInTheBoundsOfTheModelsAndFillMoreThanSteps) {
  for (const char* name : {"tripod", "ball_in_corner", "cube_drop", "bar_on_steps", "disk_stack"}) {
    const ImpactProblem problem = models::build(name);
    const ImpactResult result = followed(problem, events(4096));
    expect_certified(result.summary[0], 4096, name);
    const Bounds inner = bounds_of(result.summary[0]);
    EnclosureSettings bounds;
    bounds.closeness = problem.contacts <= 3 ? 1 : 0;
    EXPECT_LE(test::excess(inner, bounds_of(enclose_impact(problem, bounds))), 1e-9) << name;
    // Algorithm 1 with a fiftieth of the impulse that stops it leaves the set by little, if at all.
    ImpactSettings steps;
    steps.samples = 1 << 12;
    steps.step_size = 0.02;
    steps.max_steps = 100000;
    const ImpactSummary walked = followed(problem, steps).summary[0];
    EXPECT_LE(test::excess(bounds_of(walked), inner), 0.01 * speed(problem)) << name;
  }
}

TEST(AnyImpactEvents, StayInTheBoundsOfRandomProblemsAndFillMoreThanSteps) {
  Generator random(606);
  for (int trial = 0; trial < 80; ++trial) {
    const ImpactProblem problem = random_spatial(random, 1 + trial % 4);
    const ImpactResult result = followed(problem, events(1024));
    EXPECT_GE(result.summary[0].terminated, 1023) << trial;
    EXPECT_LE(result.summary[0].max_residual, 1e-9) << trial;
    EXPECT_LE(result.summary[0].max_energy_ratio, 1.0) << trial;
    const Bounds inner = bounds_of(result.summary[0]);
    EnclosureSettings bounds;  // the closer ones take seconds of three contacts and more
    bounds.closeness = problem.contacts <= 2 || trial < 4 ? 1 : 0;
    EXPECT_LE(test::excess(inner, bounds_of(enclose_impact(problem, bounds))), 1e-9) << trial;
    if (trial % 10 != 0) continue;
    ImpactSettings steps;
    steps.samples = 1 << 12;
    steps.step_size = 0.05 * stopping_impulse(problem).impulse;
    steps.max_steps = 100000;
    const ImpactSummary walked = followed(problem, steps).summary[0];
    EXPECT_LE(test::excess(bounds_of(walked), inner), 0.03 * speed(problem)) << trial;
  }
}

// The same draws, with least squares for elimination and sets of directions for sectors.
TEST(AnyImpactEvents, AgreeWithTheReference) {
  Generator random(32);
  std::vector<ImpactProblem> problems{models::build("ball_in_corner"),
                                      models::build("bar_on_steps")};
  for (const int contacts : {1, 2, 3, 4, 6, 9, 12})
    problems.push_back(random_spatial(random, contacts));
  problems.push_back(test::random_impact(random, 6, 9, 1.0));
  for (std::size_t p = 0; p < problems.size(); ++p) {
    ImpactSettings settings = events(128);
    settings.keep_paths = 4;
    settings.max_steps = 6;
    settings.friction_directions = p == 3 ? 5 : (p == 4 ? 8 : 4);
    const ImpactBatch batch = make_batch({&problems[p], 1});
    const ImpactResult a = sample_impacts(batch, settings, Backend::cpu);
    const ImpactResult b = sample_impacts(batch, settings, Backend::reference);
    const auto nv = static_cast<std::size_t>(problems[p].velocities);
    const double size = speed(problems[p]);
    int apart = 0;
    for (std::size_t s = 0; s < 128; ++s) {
      bool same = a.samples.status.host()[s] == b.samples.status.host()[s];
      for (std::size_t j = s * nv; j < (s + 1) * nv; ++j) {
        const double difference = a.samples.velocity.host()[j] - b.samples.velocity.host()[j];
        same = same && std::abs(difference) <= 1e-8 * size;
      }
      apart += same ? 0 : 1;
    }
    EXPECT_LE(apart, 1) << p;  // other rounding may break a tie of two events
    ASSERT_EQ(a.paths[0].offset, b.paths[0].offset) << p;
    for (std::size_t j = 0; j < a.paths[0].velocity.size(); ++j) {
      EXPECT_NEAR(a.paths[0].velocity[j], b.paths[0].velocity[j], 1e-8 * size) << p << " " << j;
    }
  }
}

// Cycles of events that shrink to a point end in one and the same face, whoever rounds them.
TEST(AnyImpactEvents, AgreeWithTheReferenceBehindCyclesThatEnd) {
  for (const char* name : {"tripod", "cube_drop"}) {
    const ImpactProblem problem = models::build(name);
    const ImpactBatch batch = make_batch({&problem, 1});
    const ImpactResult a = sample_impacts(batch, events(512), Backend::cpu);
    const ImpactResult b = sample_impacts(batch, events(512), Backend::reference);
    EXPECT_GE(a.summary[0].pivots, 200) << name;  // series of cycles
    EXPECT_EQ(a.summary[0].pivots, b.summary[0].pivots) << name;
    int apart = 0;
    for (std::size_t s = 0; s < 512; ++s) {
      EXPECT_EQ(a.samples.steps.host()[s], b.samples.steps.host()[s]) << name << " " << s;
      double largest = 0.0;
      for (std::size_t j = 6 * s; j < 6 * (s + 1); ++j) {
        const double difference = a.samples.velocity.host()[j] - b.samples.velocity.host()[j];
        largest = std::max(largest, std::abs(difference));
      }
      apart += largest <= 1e-8 * speed(problem) ? 0 : 1;
    }
    EXPECT_LE(apart, 2) << name;  // solutions that expand enlarge rounding
  }
}

/// A planar problem whose contacts and motion lie in a plane of space: one more velocity, across
/// it, with a mass of its own.
ImpactProblem embedded(const ImpactProblem& planar) {
  ImpactProblem space = planar;
  const int nv = planar.velocities + 1, m = planar.contacts;
  space.dimension = 3;
  space.velocities = nv;
  test::Matrix mass = test::Matrix::Zero(nv, nv);
  mass.topLeftCorner(nv - 1, nv - 1) = Eigen::Map<const test::Matrix>(
      planar.mass_matrix.data(), planar.velocities, planar.velocities);
  mass(nv - 1, nv - 1) = 2.0;
  test::Matrix normal = test::Matrix::Zero(m, nv), tangent = test::Matrix::Zero(2 * m, nv);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < nv - 1; ++j) {
      const auto at = static_cast<std::size_t>(i * (nv - 1) + j);
      normal(i, j) = planar.normal_jacobian[at];
      tangent(2 * i, j) = planar.tangent_jacobian[at];
    }
    tangent(2 * i + 1, nv - 1) = 1.0;
  }
  space.mass_matrix = test::flat(mass);
  space.normal_jacobian = test::flat(normal);
  space.tangent_jacobian = test::flat(tangent);
  space.velocity.push_back(0.0);
  return space;
}

TEST(AnyImpactEvents, OfAPlaneInSpaceAreThePlanesOwn) {
  Generator random(77);
  std::vector<ImpactProblem> problems{models::build("rocking_block"), models::build("box_wall")};
  for (int trial = 0; trial < 6; ++trial)
    problems.push_back(test::random_impact(random, 2, 4, 0.8));
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const ImpactProblem& planar = problems[p];
    const Bounds plane = bounds_of(followed(planar, events(8192)).summary[0]);
    const ImpactSummary summary = followed(embedded(planar), events(8192)).summary[0];
    expect_certified(summary, 8192, std::to_string(p));
    const double small = 0.01 * speed(planar);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(summary.normal_velocity_max[i], plane.high[i], small) << p;
      EXPECT_NEAR(summary.tangent_velocity_min[2 * i], plane.low[2 + i], small) << p;
      EXPECT_NEAR(summary.tangent_velocity_max[2 * i], plane.high[2 + i], small) << p;
      EXPECT_NEAR(summary.tangent_velocity_min[2 * i + 1], 0.0, 1e-12) << p;
      EXPECT_NEAR(summary.tangent_velocity_max[2 * i + 1], 0.0, 1e-12) << p;
    }
  }
}

// Heavier and faster by powers of two: the same bits but for the exponents.
TEST(AnyImpactEvents, DoNotDependOnScale) {
  Generator random(17);
  for (int trial = 0; trial < 6; ++trial) {
    const ImpactProblem problem = random_spatial(random, 1 + trial % 3);
    ImpactProblem scaled = problem;
    for (double& entry : scaled.mass_matrix) entry *= 16.0;
    for (double& entry : scaled.velocity) entry *= 4.0;
    const ImpactResult plain = followed(problem, events(256));
    const ImpactResult larger = followed(scaled, events(256));
    for (std::int64_t j = 0; j < 256 * problem.velocities; ++j) {
      EXPECT_EQ(4.0 * plain.samples.velocity.data()[j], larger.samples.velocity.data()[j])
          << trial << " " << j;
    }
  }
}

TEST(AnyImpactEvents, DependOnlyOnSeedProblemAndSample) {
  Generator random(9);
  test::expect_addressed(random_spatial(random, 3));
}

/// Contacts in another order: new[i] = old[order[i]].
ImpactProblem picked(const ImpactProblem& problem, const std::vector<int>& order) {
  ImpactProblem result = problem;
  const int nv = problem.velocities;
  result.contacts = static_cast<int>(order.size());
  result.normal_jacobian.clear();
  result.tangent_jacobian.clear();
  result.friction.clear();
  for (const int i : order) {
    const auto* normal = problem.normal_jacobian.data() + i * nv;
    const auto* tangent = problem.tangent_jacobian.data() + 2 * i * nv;
    result.normal_jacobian.insert(result.normal_jacobian.end(), normal, normal + nv);
    result.tangent_jacobian.insert(result.tangent_jacobian.end(), tangent, tangent + 2 * nv);
    result.friction.push_back(problem.friction[static_cast<std::size_t>(i)]);
  }
  return result;
}

TEST(AnyImpactEvents, AreTheSameSetWhereContactsAreSwappedOrTwice) {
  Generator random(23);
  for (int trial = 0; trial < 6; ++trial) {
    const ImpactProblem problem = random_spatial(random, 2);
    const Bounds plain = bounds_of(followed(problem, events(8192)).summary[0]);
    const double small = 0.05 * speed(problem);
    for (const std::vector<int>& order : {std::vector<int>{1, 0}, std::vector<int>{0, 1, 0}}) {
      const ImpactSummary summary = followed(picked(problem, order), events(8192)).summary[0];
      EXPECT_GE(summary.terminated, 8190) << trial;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto old = static_cast<std::size_t>(order[i]);
        EXPECT_NEAR(summary.normal_velocity_max[i], plain.high[old], small) << trial;
        for (std::size_t c = 0; c < 2; ++c) {
          EXPECT_NEAR(summary.tangent_velocity_min[2 * i + c], plain.low[2 + 2 * old + c], small);
          EXPECT_NEAR(summary.tangent_velocity_max[2 * i + c], plain.high[2 + 2 * old + c], small);
        }
      }
    }
  }
}

TEST(AnyImpactEvents, TakeHardProblems) {
  Generator random(12);
  for (const Flavour flavour : {Flavour::rank_deficient, Flavour::duplicated, Flavour::frictionless,
                                Flavour::jamming, Flavour::mixed_scales, Flavour::vertical}) {
    for (int trial = 0; trial < 8; ++trial) {
      const ImpactProblem problem = test::random_problem(random, flavour, 3, 1 + trial % 4);
      const ImpactSummary summary = followed(problem, events(256)).summary[0];
      EXPECT_GE(summary.terminated, 250) << problem.name << " " << trial;
      EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-9) << problem.name << " " << trial;
    }
  }
  for (const int dimension : {2, 3}) {  // no contacts: nothing happens
    ImpactProblem free;
    free.dimension = dimension;
    free.velocities = 2;
    free.mass_matrix = {2.0, 0.0, 0.0, 3.0};
    free.velocity = {1.0, -1.0};
    const ImpactResult result = followed(free, events(4));
    EXPECT_EQ(result.summary[0].terminated, 4);
    EXPECT_EQ(result.samples.velocity.host()[7], -1.0);
  }
  ImpactProblem rest = models::build("cube_drop");
  rest.velocity.assign(rest.velocity.size(), 0.0);
  const ImpactSummary still = followed(rest, events(4)).summary[0];
  EXPECT_EQ(still.terminated, 4);
  EXPECT_EQ(still.lcp_solves, 0);
}

TEST(AnyImpactEvents, RefuseMoreContactsThanTheyFollow) {
  Generator random(2);
  for (const int dimension : {2, 3}) {
    const ImpactProblem problem = test::random_problem(random, Flavour::generic, dimension, 17);
    test::expect_names(test::refusal([&] { followed(problem, events(4)); }),
                       {"method", "events", "16", "17"});
  }
}

}  // namespace
}  // namespace carom
