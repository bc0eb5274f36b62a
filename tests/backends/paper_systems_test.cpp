#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/impact_models.hpp>
#include <carom/models/models.hpp>

#include "core/random.hpp"
#include "support/model_runs.hpp"

// What the paper says of its own examples, found in the sampled sets.
namespace carom {
namespace {

using test::model_batch;
using test::model_settings;

/// Angular velocity of a uniform w x h block, falling flat at `speed`, after sticking impacts at
/// one corner and then at the other: angular momentum about the corner is kept each time.
double sequential_spin(double width, double height, double speed) {
  const double square = width * width + height * height;
  const double first = 1.5 * speed * width / square;
  return first * (2.0 * height * height - width * width) / (2.0 * square);
}

TEST(RockingBlock, SamplesReachTheSequentialOutcome) {
  ImpactSettings settings = model_settings("rocking_block", 1 << 18);
  settings.keep_samples = -1;
  const ImpactProblem problem = models::build("rocking_block");
  const ImpactResult result = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  // Table 4: 1 m wide, 2 m high, falling at 0.4429 m/s; the lifted corner is 1 m from the pivot.
  const double lift = sequential_spin(1.0, 2.0, 0.4429) * 1.0;
  EXPECT_NEAR(lift, 0.4429 * 0.21, 1e-12);
  for (const int corner : {0, 1}) {
    SCOPED_TRACE(corner);
    const SequentialOutcome sequential =
        sequential_impact(problem, std::array<int, 2>{corner, 1 - corner});
    EXPECT_NEAR(sequential.normal_velocity[static_cast<std::size_t>(corner)], lift, 1e-9);
    const double reached = result.summary[0].normal_velocity_max[static_cast<std::size_t>(corner)];
    EXPECT_NEAR(reached, lift, 0.01 * lift);
    EXPECT_LE(reached, lift + 1e-9);
    EXPECT_GE(result.summary[0].normal_velocity_min[static_cast<std::size_t>(corner)], -1e-9);
    // From rest to the sequential outcome, no gap.
    constexpr int kBins = 40;
    std::vector<int> histogram(kBins, 0);
    for (std::int64_t s = 0; s < settings.samples; ++s) {
      const double* v = result.samples.velocity.data() + 3 * s;
      const double* row = problem.normal_jacobian.data() + 3 * corner;
      const double speed = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
      const int bin = static_cast<int>(std::floor(speed / lift * kBins));
      if (bin >= 0 && bin < kBins) ++histogram[static_cast<std::size_t>(bin)];
    }
    for (int bin = 0; bin < kBins; ++bin) {
      EXPECT_GT(histogram[static_cast<std::size_t>(bin)], 0) << "bin " << bin;
    }
  }
}

TEST(RockingBlock, SimultaneousModelLeavesItAtRest) {
  const auto outcomes = simultaneous_impacts(models::build("rocking_block"));
  ASSERT_EQ(outcomes.size(), 1U);
  for (const double v : outcomes.front().velocity) EXPECT_NEAR(v, 0.0, 1e-12);
}

TEST(CompassGait, SomeSamplesLiftTheLeadingFoot) {
  ImpactSettings settings = model_settings("compass_gait", 1 << 14);
  settings.keep_samples = 0;
  const ImpactResult result = sample_impacts(model_batch("compass_gait"), settings, Backend::cpu);
  std::int64_t lifted = 0;
  for (const auto& [modes, count] : result.summary[0].mode_counts) {
    const std::string words = mode_words(modes, 2, 2);
    if (words.starts_with("separating/") && !words.ends_with("/separating")) lifted += count;
  }
  EXPECT_GT(lifted, 0);
}

TEST(Walkers, HaveThreeSimultaneousOutcomes) {
  for (const char* name : {"compass_gait", "ramone"}) {
    SCOPED_TRACE(name);
    const auto outcomes = simultaneous_impacts(models::build(name));
    ASSERT_EQ(outcomes.size(), 3U);
    int sticks = 0;
    int slides = 0;
    int lifts = 0;
    for (const ImpactOutcome& outcome : outcomes) {
      EXPECT_LE(outcome.residual, 1e-9);
      const double normal = outcome.normal_velocity[1];
      const double tangent = outcome.tangent_velocity[1];
      if (normal > 1e-6)
        ++lifts;
      else if (std::abs(tangent) > 1e-6)
        ++slides;
      else
        ++sticks;
    }
    EXPECT_EQ(sticks, 1);
    EXPECT_EQ(slides, 1);
    EXPECT_EQ(lifts, 1);
  }
}

// With no bound in reach a step is the simultaneous impact: `random` takes each outcome in turn.
TEST(RandomSelection, TakesEveryOutcomeAlike) {
  ImpactSettings settings = model_settings("compass_gait", 6000);
  settings.step_size = 1e3;
  settings.max_steps = 1;
  settings.selection = Selection::random;
  const ImpactProblem problem = models::build("compass_gait");
  const ImpactResult result = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  EXPECT_EQ(result.summary[0].failed, 0);
  EXPECT_EQ(result.summary[0].nonunique_examined, 6000);
  // lambda_max is drawn: a small one binds now and then.
  EXPECT_GT(result.summary[0].nonunique_solves, 5700);
  std::vector<int> counts;
  for (const ImpactOutcome& outcome : simultaneous_impacts(problem)) {
    int near = 0;
    for (std::size_t s = 0; s < 6000; ++s) {
      double gap = 0.0;
      for (std::size_t i = 0; i < 4; ++i) {
        gap = std::max(gap,
                       std::abs(result.samples.velocity.data()[4 * s + i] - outcome.velocity[i]));
      }
      near += gap < 1e-6 ? 1 : 0;
    }
    counts.push_back(near);
  }
  ASSERT_EQ(counts.size(), 3U);
  for (const int count : counts) EXPECT_NEAR(count, 2000, 200);  // standard deviation 37
}

TEST(RandomSelection, AgreesWithReferenceSampleBySample) {
  for (const char* name : {"compass_gait", "rocking_block", "ramone", "ball_in_corner"}) {
    SCOPED_TRACE(name);
    ImpactSettings settings = model_settings(name, 60);
    settings.selection = Selection::random;
    const ImpactBatch batch = model_batch(name);
    if (batch.contact_rows() > 6) continue;
    const ImpactResult fast = sample_impacts(batch, settings, Backend::cpu);
    const ImpactResult slow = sample_impacts(batch, settings, Backend::reference);
    EXPECT_EQ(fast.summary[0].failed, 0);
    EXPECT_EQ(fast.summary[0].fallback_solves, 0);
    EXPECT_EQ(fast.summary[0].nonunique_solves, slow.summary[0].nonunique_solves);
    EXPECT_EQ(fast.summary[0].lcp_solves, slow.summary[0].lcp_solves);
  }
}

TEST(Sobol, CoversMoreThanUniformDraws) {
  // Lattice cells of [0, 1)^2 met by 2^12 points: every one of 64 x 64 by Sobol's first two
  // coordinates, about 1 - 1/e of them by independent ones.
  const auto directions = sobol_directions(2);
  std::vector<int> by_sobol(4096, 0);
  std::vector<int> by_uniform(4096, 0);
  for (std::uint64_t s = 0; s < 4096; ++s) {
    const auto cell = [](double x, double y) {
      return static_cast<std::size_t>(64 * x) * 64 + static_cast<std::size_t>(64 * y);
    };
    by_sobol[cell(sobol(directions.data(), 3, 0, s, 0), sobol(directions.data(), 3, 0, s, 1))] = 1;
    by_uniform[cell(uniform(3, 0, s, 0), uniform(3, 0, s, 1))] = 1;
  }
  EXPECT_EQ(std::count(by_sobol.begin(), by_sobol.end(), 1), 4096);
  EXPECT_LT(std::count(by_uniform.begin(), by_uniform.end(), 1), 2800);
}

}  // namespace
}  // namespace carom
