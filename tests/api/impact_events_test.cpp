#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"

// Solutions of the inclusion that are followed from event to event.
namespace carom {
namespace {

using test::bounds_of;
using test::events;
using test::followed;
using test::Generator;
using test::random_impact;

/// Largest distance of a sample from the enclosure's polyhedra, those of modes with several
/// polyhedra left out.
double farthest(const ImpactProblem& problem, const ImpactResult& result,
                const ImpactEnclosure& enclosure) {
  double most = 0.0;
  const auto nv = static_cast<std::size_t>(problem.velocities);
  for (std::int64_t s = 0; s < result.samples.count; ++s) {
    const auto row = static_cast<std::size_t>(s);
    if (result.samples.status.host()[row] != TrajectoryStatus::terminated) continue;
    const double* v = result.samples.velocity.data() + row * nv;
    std::vector<double> u;
    for (const auto* jacobian : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
      for (std::size_t k = 0; k * nv < jacobian->size(); ++k) {
        double sum = 0.0;
        for (std::size_t j = 0; j < nv; ++j) sum += (*jacobian)[k * nv + j] * v[j];
        u.push_back(sum);
      }
    }
    const double far = test::outside(enclosure, u);
    if (std::isfinite(far)) most = std::max(most, far);
  }
  return most;
}

TEST(ImpactEvents, StayInsideAndFillThePapersModels) {
  struct Case {
    const char* name;
    double share;
  };
  for (const auto& [name, share] :
       {Case{"rocking_block", 0.9999}, Case{"compass_gait", 0.999}, Case{"box_wall", 0.99}}) {
    const ImpactProblem problem = models::build(name);
    const ImpactEnclosure enclosure = enclose_impact(problem);
    const ImpactResult result = followed(problem, events(8192));
    const ImpactSummary& summary = result.summary[0];
    EXPECT_EQ(summary.terminated, 8192) << name;
    EXPECT_LE(summary.max_residual, 1e-10) << name;
    EXPECT_LE(summary.max_energy_ratio, 1.0) << name;
    EXPECT_LE(farthest(problem, result, enclosure), 1e-9) << name;
    const test::Bounds inner = bounds_of(summary);
    EXPECT_GE(filled_share(enclosure, inner.low, inner.high), share) << name;
  }
}

TEST(ImpactEvents, StayInsideRandomProblemsAndFillThem) {
  Generator random(404);
  std::vector<double> shares;
  EnclosureSettings brief;
  brief.budget = 150;
  for (int trial = 0; trial < 40; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 1.0);
    const ImpactEnclosure enclosure = enclose_impact(problem, brief);
    if (enclosure.status != EnclosureStatus::enclosed) continue;
    const ImpactResult result = followed(problem, events(2048));
    EXPECT_GE(result.summary[0].terminated, 2047) << trial;
    EXPECT_LE(farthest(problem, result, enclosure), 1e-9) << trial;
    const test::Bounds inner = bounds_of(result.summary[0]);
    if (enclosure.exact) shares.push_back(filled_share(enclosure, inner.low, inner.high));
  }
  ASSERT_GE(shares.size(), 25U);
  std::sort(shares.begin(), shares.end());
  EXPECT_GE(shares[shares.size() / 20], 0.9);
  EXPECT_GE(shares[shares.size() / 2], 0.9999);
}

// What uniform draws with a small step miss by one per cent.
TEST(ImpactEvents, ReachTheWallsLargestSlip) {
  const ImpactProblem wall = models::build("box_wall");
  ImpactSettings settings = events(1 << 18);
  settings.keep_samples = 0;
  const ImpactSummary summary = followed(wall, settings).summary[0];
  EXPECT_EQ(summary.failed, 0);
  EXPECT_GT(summary.tangent_velocity_max[0], 0.372);
}

// The same draws, with every mode solved anew and nothing shared.
TEST(ImpactEvents, AgreeWithTheReference) {
  Generator random(31);
  std::vector<ImpactProblem> problems;
  for (const char* name : {"rocking_block", "compass_gait", "box_wall"}) {
    problems.push_back(models::build(name));
  }
  for (const int contacts : {1, 2, 2, 3, 4}) {
    problems.push_back(random_impact(random, contacts, 5, 1.0));
  }
  for (std::size_t p = 0; p < problems.size(); ++p) {
    ImpactSettings settings = events(256);
    settings.keep_paths = 4;
    settings.max_steps = 6;
    const ImpactBatch batch = make_batch({&problems[p], 1});
    const ImpactResult a = sample_impacts(batch, settings, Backend::cpu);
    const ImpactResult b = sample_impacts(batch, settings, Backend::reference);
    const auto nv = static_cast<std::size_t>(problems[p].velocities);
    double size = 0.0;
    for (const double v : problems[p].velocity) size = std::max(size, std::abs(v));
    for (std::size_t s = 0; s < 256; ++s) {
      EXPECT_EQ(a.samples.status.host()[s], b.samples.status.host()[s]) << p << " " << s;
      EXPECT_EQ(a.samples.steps.host()[s], b.samples.steps.host()[s]) << p << " " << s;
      for (std::size_t j = s * nv; j < (s + 1) * nv; ++j) {
        EXPECT_NEAR(a.samples.velocity.host()[j], b.samples.velocity.host()[j], 1e-9 * size)
            << p << " " << s;
      }
    }
    ASSERT_EQ(a.paths[0].offset, b.paths[0].offset) << p;
    for (std::size_t j = 0; j < a.paths[0].velocity.size(); ++j) {
      EXPECT_NEAR(a.paths[0].velocity[j], b.paths[0].velocity[j], 1e-9 * size) << p << " " << j;
    }
  }
}

TEST(ImpactEvents, DependOnlyOnSeedProblemAndSample) {
  Generator random(9);
  const ImpactProblem problem = random_impact(random, 3, 6, 0.7);
  test::expect_addressed(problem);
  const std::size_t nv = 6;
  // paths begin before the impact and end in v+
  ImpactSettings settings = events(16);
  settings.keep_paths = 16;
  for (const int rows : {2, 4096}) {
    settings.max_steps = rows;
    const ImpactResult drawn = followed(problem, settings);
    EXPECT_EQ(drawn.summary[0].lcp_solves, followed(problem, events(16)).summary[0].lcp_solves);
    for (std::size_t s = 0; s < 16; ++s) {
      const double* first =
          drawn.paths[0].velocity.data() + nv * static_cast<std::size_t>(drawn.paths[0].offset[s]);
      const double* last = drawn.paths[0].velocity.data() +
                           nv * static_cast<std::size_t>(drawn.paths[0].offset[s + 1] - 1);
      for (std::size_t j = 0; j < nv; ++j) {
        EXPECT_EQ(first[j], problem.velocity[j]);
        EXPECT_EQ(last[j], drawn.samples.velocity.host()[s * nv + j]);
      }
      EXPECT_LE(drawn.paths[0].offset[s + 1] - drawn.paths[0].offset[s], rows + 1);
    }
  }
}

// Heavier and faster by powers of two: the same bits but for the exponents. In other coordinates:
// the same contact velocities.
TEST(ImpactEvents, DoNotDependOnScaleOrCoordinates) {
  Generator random(17);
  for (int trial = 0; trial < 6; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 0.8);
    const ImpactResult plain = followed(problem, events(512));
    ImpactProblem scaled = problem;
    for (double& entry : scaled.mass_matrix) entry *= 16.0;
    for (double& entry : scaled.velocity) entry *= 4.0;
    const ImpactResult larger = followed(scaled, events(512));

    ImpactProblem moved = problem;  // v = T w with T of unit determinant
    test::Matrix shear = test::Matrix::Identity(4, 4);
    shear(0, 1) = 0.5;
    for (auto* jacobian : {&moved.normal_jacobian, &moved.tangent_jacobian}) {
      for (std::size_t row = 0; row < 2; ++row) {
        (*jacobian)[4 * row + 1] += 0.5 * (*jacobian)[4 * row];
      }
    }
    const Eigen::Map<const test::Matrix> mass(problem.mass_matrix.data(), 4, 4);
    const test::Matrix sheared = shear.transpose() * mass * shear;
    moved.mass_matrix.assign(sheared.data(), sheared.data() + 16);
    moved.velocity[0] -= 0.5 * moved.velocity[1];
    const ImpactResult turned = followed(moved, events(512));
    int apart = 0;
    for (std::size_t s = 0; s < 512; ++s) {
      const double* a = plain.samples.velocity.data() + 4 * s;
      const double* b = larger.samples.velocity.data() + 4 * s;
      const double* c = turned.samples.velocity.data() + 4 * s;
      const double back[4] = {c[0] + 0.5 * c[1], c[1], c[2], c[3]};
      bool same = true;
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_EQ(4.0 * a[j], b[j]) << trial << " " << s;
        same = same && std::abs(back[j] - a[j]) < 1e-9;
      }
      apart += same ? 0 : 1;  // other rounding may break a tie of two events
    }
    EXPECT_LE(apart, 2) << trial;
  }
}

TEST(ImpactEvents, StayInsideWhereContactsAreSwappedOrTwice) {
  Generator random(23);
  for (int trial = 0; trial < 6; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 0.8);
    EnclosureSettings brief;
    brief.budget = 150;
    const ImpactEnclosure set = enclose_impact(problem, brief);
    if (set.status != EnclosureStatus::enclosed) continue;
    const test::Bounds outer = bounds_of(set);
    const test::Bounds inner = bounds_of(followed(test::swapped(problem), events(4096)).summary[0]);
    ImpactProblem twice = problem;  // contact 0 again as contact 2: not another set
    twice.contacts = 3;
    for (auto* jacobian : {&twice.normal_jacobian, &twice.tangent_jacobian}) {
      jacobian->insert(jacobian->end(), jacobian->begin(), jacobian->begin() + 4);
    }
    twice.friction.push_back(twice.friction[0]);
    const ImpactSummary doubled = followed(twice, events(4096)).summary[0];
    EXPECT_GE(doubled.terminated, 4000) << trial;
    const test::Bounds again = bounds_of(doubled);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_GE(inner.low[k ^ 1U], outer.low[k] - 1e-9) << trial;
      EXPECT_LE(inner.high[k ^ 1U], outer.high[k] + 1e-9) << trial;
      const std::size_t at = k < 2 ? k : k + 1;
      EXPECT_GE(again.low[at], outer.low[k] - 1e-9) << trial;
      EXPECT_LE(again.high[at], outer.high[k] + 1e-9) << trial;
    }
  }
}

TEST(ImpactEvents, TakeHardProblems) {
  Generator random(12);
  for (const double mu : {0.0, 1e5}) {
    for (int trial = 0; trial < 10; ++trial) {
      ImpactProblem problem = random_impact(random, 2, 3, 0.0);
      problem.friction.assign(2, mu);
      if (trial % 2 == 1) {  // contact 1 repeats contact 0
        std::copy_n(problem.normal_jacobian.begin(), 3, problem.normal_jacobian.begin() + 3);
        std::copy_n(problem.tangent_jacobian.begin(), 3, problem.tangent_jacobian.begin() + 3);
      }
      const ImpactSummary summary = followed(problem, events(256)).summary[0];
      EXPECT_GE(summary.terminated, 240) << mu << " " << trial;
    }
  }
  ImpactProblem rest = models::build("rocking_block");
  rest.velocity.assign(3, 0.0);
  const ImpactSummary still = followed(rest, events(4)).summary[0];
  EXPECT_EQ(still.terminated, 4);
  EXPECT_EQ(still.lcp_solves, 0);
}

}  // namespace
}  // namespace carom
