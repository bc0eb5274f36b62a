#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact.hpp>

#include "support/bits.hpp"
#include "support/enclosures.hpp"
#include "support/message.hpp"
#include "support/random_problems.hpp"

// Impacts of more contacts than tables, words of modes and bit masks have room for.
namespace carom {
namespace {

using test::events;
using test::Flavour;
using test::followed;
using test::Generator;

ImpactSettings steps(std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.epsilon = 0.0;
  return settings;
}

/// Points of different masses that fall on a line side by side: each stops, or slides on.
ImpactProblem row_of_points(Generator& random, int points) {
  ImpactProblem problem;
  const auto m = static_cast<std::size_t>(points), nv = 2 * m;
  problem.name = "points";
  problem.contacts = points;
  problem.velocities = 2 * points;
  problem.mass_matrix.assign(nv * nv, 0.0);
  problem.normal_jacobian.assign(m * nv, 0.0);
  problem.tangent_jacobian.assign(m * nv, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double mass = random.between(0.1, 10.0);
    for (const std::size_t j : {2 * i, 2 * i + 1}) problem.mass_matrix[j * nv + j] = mass;
    problem.tangent_jacobian[i * nv + 2 * i] = 1.0;
    problem.normal_jacobian[i * nv + 2 * i + 1] = 1.0;
    problem.friction.push_back(random.between(0.0, 1.0));
    problem.velocity.push_back(random.between(-1.0, 1.0));
    problem.velocity.push_back(random.between(-1.0, -0.1));
  }
  return problem;
}

TEST(ManyContacts, PointsSideBySideStopOrSlideOn) {
  Generator random(71);
  for (const int points : {17, 31, 32, 33, 64}) {
    SCOPED_TRACE(points);
    const ImpactProblem problem = row_of_points(random, points);
    const ImpactResult result = sample_impacts(make_batch({&problem, 1}), steps(64), Backend::cpu);
    EXPECT_EQ(result.summary[0].terminated, 64);
    const double* v = result.samples.velocity.data();
    for (std::size_t s = 0; s < 64; ++s) {
      for (std::size_t i = 0; i < problem.friction.size(); ++i, v += 2) {
        const double slip = problem.velocity[2 * i];
        const double most = -problem.friction[i] * problem.velocity[2 * i + 1];
        EXPECT_NEAR(v[0], std::copysign(std::max(0.0, std::abs(slip) - most), slip), 1e-9) << i;
        EXPECT_NEAR(v[1], 0.0, 1e-9) << i;
      }
    }
    std::int64_t counted = 0;
    for (const auto& [modes, count] : result.summary[0].mode_counts) counted += count;
    EXPECT_EQ(counted, points <= kMaxModeContacts ? 64 : 0);
    EXPECT_EQ(mode_words(0, points, 2).empty(), points > kMaxModeContacts);
  }
}

TEST(ManyContacts, StepsAreCertifiedAndThoseOfTheReference) {
  Generator random(72);
  for (const int contacts : {21, 22, 40, 64}) {
    for (const Flavour flavour : {Flavour::generic, Flavour::rank_deficient}) {
      SCOPED_TRACE(std::to_string(contacts) + (flavour == Flavour::generic ? "" : " deficient"));
      ImpactProblem problem = test::random_problem(random, flavour, 3, contacts);
      for (double& mu : problem.friction) mu *= 0.6;
      const ImpactBatch batch = make_batch({&problem, 1});
      ImpactSettings settings = steps(8);
      settings.threads = 1;
      const ImpactResult result = sample_impacts(batch, settings, Backend::cpu);
      EXPECT_EQ(result.summary[0].failed, 0);
      EXPECT_LE(result.summary[0].max_residual, 1e-9);
      EXPECT_LE(result.summary[0].max_energy_ratio, 1.0);
      settings.threads = 2;
      test::expect_identical(sample_impacts(batch, settings, Backend::cpu).samples, result.samples);
      if (contacts > 22 || flavour != Flavour::generic) continue;
      settings = steps(1);
      settings.max_steps = 4;
      const ImpactResult own = sample_impacts(batch, settings, Backend::cpu);
      const ImpactResult other = sample_impacts(batch, settings, Backend::reference);
      ASSERT_EQ(other.summary[0].failed, 0);
      for (std::size_t j = 0; j < problem.velocity.size(); ++j) {
        EXPECT_NEAR(own.samples.velocity.host()[j], other.samples.velocity.host()[j], 1e-7) << j;
      }
    }
  }
}

TEST(ManyContacts, EventsAreFollowedToTheEnd) {
  Generator random(73);
  for (int contacts = 9; contacts <= kMaxFollowedContacts; ++contacts) {
    for (const int dimension : {2, 3}) {
      SCOPED_TRACE(std::to_string(contacts) + " in " + std::to_string(dimension) + " dimensions");
      ImpactProblem problem = test::random_problem(random, Flavour::generic, dimension, contacts);
      for (double& mu : problem.friction) mu *= 0.6;
      const ImpactSummary summary = followed(problem, events(64)).summary[0];
      EXPECT_EQ(summary.terminated, 64);
      EXPECT_LE(summary.max_residual, 1e-9);
      EXPECT_LE(summary.max_energy_ratio, 1.0);
    }
  }
}

TEST(ManyContacts, MoreAreRefusedByName) {
  Generator random(74);
  const ImpactProblem most = row_of_points(random, 64);
  ImpactProblem more = row_of_points(random, 65);
  test::expect_names(test::refusal([&] {
                       sample_impacts(make_batch({&more, 1}), steps(1));
                     }),
                     {"contacts", "65", "64"});
  test::expect_names(test::refusal([&] { followed(most, events(1)); }),
                     {"method", "events", "16", "64"});
}

}  // namespace
}  // namespace carom
