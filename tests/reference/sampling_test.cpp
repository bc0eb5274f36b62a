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
#include "impact/backends.hpp"
#include "reference/problems.hpp"

namespace carom::reference {
namespace {

ImpactResult run(const std::vector<ImpactProblem>& problems, const ImpactSettings& settings) {
  const ImpactBatch batch = make_batch(problems);
  return reference::sample_impacts(batch, settings);
}

ImpactSettings model_settings(const char* name, std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.step_size = models::find(name).step_size;
  settings.max_steps = models::find(name).max_steps;
  return settings;
}

// A frictionless point of unit mass gains lambda_max a step until its 1 m/s is spent: the number of
// steps follows from the draws alone.
TEST(Sampling, PointTakesTheDrawsInOrder) {
  for (const Sampler sampler : {Sampler::uniform, Sampler::sobol}) {
    ImpactSettings settings;
    settings.samples = 200;
    settings.first_sample = 17;
    settings.seed = 5;
    settings.step_size = 0.7;
    settings.max_steps = 4;
    settings.keep_samples = -1;
    settings.sampler = sampler;
    const ImpactResult result =
        run({point_on_floor(1, 0, 0, 5), point_on_floor(1, 0, 0.25, -1)}, settings);
    const std::vector<std::uint64_t> table = sobol_directions(4);
    int exhausted = 0;
    for (int i = 0; i < 200; ++i) {
      double speed = -1.0;
      int steps = 0;
      for (; speed < 0.0 && steps < 4; ++steps) {
        const std::uint64_t sample = 17 + i;
        const double unit = sampler == Sampler::uniform ? uniform(5, 1, sample, steps)
                                                        : sobol(table.data(), 5, 1, sample, steps);
        speed = std::min(speed + 0.7 * unit, 0.0);
      }
      const std::size_t row = 200 + i;
      ASSERT_EQ(result.samples.steps.host()[row], steps);
      EXPECT_EQ(result.samples.velocity.host()[2 * row], 0.25);
      EXPECT_NEAR(result.samples.velocity.host()[2 * row + 1], speed, 1e-14);
      EXPECT_NEAR(result.samples.impulse.host()[2 * row], speed + 1.0, 1e-14);
      const bool stopped = speed < -1e-9;
      EXPECT_EQ(result.samples.status.host()[row],
                stopped ? TrajectoryStatus::max_steps : TrajectoryStatus::terminated);
      exhausted += stopped ? 1 : 0;
    }
    EXPECT_GT(exhausted, 0);
    EXPECT_EQ(result.summary[1].max_steps_reached, exhausted);
    // The first problem separates already.
    EXPECT_EQ(result.summary[0].terminated, 200);
    EXPECT_EQ(result.summary[0].lcp_solves, 0);
    EXPECT_EQ(result.samples.velocity.host()[1], 5.0);
  }
}

TEST(Sampling, BlockSpansItsSequentialOutcomes) {
  const ImpactProblem problem = models::build("rocking_block");
  const ImpactSettings settings = model_settings("rocking_block", 4096);
  const ImpactSummary summary = run({problem}, settings).summary[0];
  EXPECT_EQ(summary.status, Status::solved);
  EXPECT_EQ(summary.samples, 4096);
  EXPECT_EQ(summary.terminated + summary.max_steps_reached + summary.failed, 4096);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_LE(summary.max_residual, 1e-9);
  EXPECT_LE(summary.max_energy_ratio, 1.0);
  // No sample pivots faster than the two purely sequential impacts.
  for (const int first : {0, 1}) {
    const SequentialOutcome sequential =
        sequential_impact(problem, std::array<int, 2>{first, 1 - first});
    EXPECT_LE(summary.normal_velocity_max[first], sequential.normal_velocity[first] + 1e-12);
    EXPECT_GE(summary.normal_velocity_max[first], 0.5 * sequential.normal_velocity[first]);
  }
  std::int64_t counted = 0;
  for (const auto& [modes, count] : summary.mode_counts) counted += count;
  EXPECT_EQ(counted, summary.terminated);
}

TEST(Sampling, EveryModelIsSolved) {
  for (const models::Model& model : models::all()) {
    SCOPED_TRACE(model.name);
    const ImpactSettings settings = model_settings(model.name.c_str(), 300);
    const ImpactSummary summary = run({models::build(model.name)}, settings).summary[0];
    EXPECT_EQ(summary.failed, 0);
    EXPECT_LE(summary.max_residual, 1e-12);
    EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-12);
    EXPECT_GE(summary.terminated, 290);
  }
}

TEST(Sampling, SamplesDependOnTheirIndexAlone) {
  for (const Selection selection : {Selection::lemke, Selection::random}) {
    ImpactSettings settings = model_settings("compass_gait", 100);
    settings.selection = selection;
    settings.threads = 1;
    const std::vector<ImpactProblem> problems = {models::build("compass_gait")};
    const ImpactResult whole = run(problems, settings);
    settings.threads = 2;
    settings.first_sample = 60;
    settings.samples = 40;
    const ImpactResult shard = run(problems, settings);
    const auto all = whole.samples.velocity.host();
    const auto part = shard.samples.velocity.host();
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 60 * 4));
    settings.seed = 1;
    const ImpactResult other = run(problems, settings);
    EXPECT_FALSE(std::equal(part.begin(), part.end(), other.samples.velocity.host().begin()));
  }
}

TEST(Sampling, RandomSelectionReportsAndUsesAllOutcomes) {
  ImpactSettings settings = model_settings("compass_gait", 600);
  settings.max_steps = 1;
  settings.step_size = 1e3;  // no limit binds: a step is one of the three simultaneous outcomes
  settings.selection = Selection::random;
  const ImpactProblem problem = models::build("compass_gait");
  const ImpactResult result = run({problem}, settings);
  const ImpactSummary& summary = result.summary[0];
  EXPECT_EQ(summary.nonunique_examined, 600);
  EXPECT_GE(summary.nonunique_solves, 590);
  const std::vector<ImpactOutcome> outcomes = simultaneous_impacts(problem);
  ASSERT_EQ(outcomes.size(), 3U);
  std::vector<int> counts(3, 0);
  for (int i = 0; i < 600; ++i) {
    for (int k = 0; k < 3; ++k) {
      double distance = 0.0;
      for (int j = 0; j < 4; ++j) {
        distance = std::max(distance, std::fabs(result.samples.velocity.host()[4 * i + j] -
                                                outcomes[k].velocity[j]));
      }
      counts[k] += distance < 1e-7 ? 1 : 0;
    }
  }
  // 200 each expected, standard deviation 11.5.
  for (const int count : counts) EXPECT_NEAR(count, 200, 60);
}

TEST(Sampling, PathsAndNetDescribeTheSamples) {
  ImpactSettings settings = model_settings("disk_stack", 64);
  settings.keep_paths = 10;
  settings.epsilon = 0.05;
  const ImpactProblem problem = models::build("disk_stack");
  const ImpactResult result = run({problem}, settings);
  const ImpactPaths& paths = result.paths[0];
  ASSERT_EQ(paths.offset.size(), 11U);
  const int nv = problem.velocities;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(paths.offset[i + 1] - paths.offset[i], result.samples.steps.host()[i] + 1);
    for (int j = 0; j < nv; ++j) {
      EXPECT_EQ(paths.velocity[paths.offset[i] * nv + j], problem.velocity[j]);
      EXPECT_EQ(paths.velocity[(paths.offset[i + 1] - 1) * nv + j],
                result.samples.velocity.host()[i * nv + j]);
    }
  }
  const EpsilonNet& net = result.net[0];
  for (int i = 0; i < 64; ++i) {
    if (result.samples.status.host()[i] != TrajectoryStatus::terminated) continue;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::int64_t p = 0; p < net.points(); ++p) {
      double square = 0.0;
      for (int j = 0; j < nv; ++j) {
        square +=
            std::pow(result.samples.velocity.host()[i * nv + j] - net.velocity[p * nv + j], 2);
      }
      nearest = std::min(nearest, std::sqrt(square));
    }
    EXPECT_LE(nearest, net.epsilon);
  }
}

// One step of at most h leaves the point falling; the closing step stops it where it is nearly at
// rest, and the net holds nothing else.
TEST(Sampling, ClosingStepEndsWhatIsNearlyAtRest) {
  ImpactSettings settings;
  settings.samples = 500;
  settings.step_size = 1.0;
  settings.max_steps = 1;
  settings.epsilon = 0.3;
  settings.keep_samples = -1;
  const ImpactResult result = run({point_on_floor(1, 0, 0, -1)}, settings);
  // psi = |[Jn; J_D]'|_F m (1 + mu) + 1 = sqrt(3) + 1: rows (0, 1), (1, 0), (-1, 0).
  const double closing = 0.3 / (3.0 * (std::sqrt(3.0) + 1.0));
  std::int64_t closed = 0;
  for (int i = 0; i < 500; ++i) {
    closed += result.samples.velocity.host()[2 * i + 1] >= -closing ? 1 : 0;
  }
  EXPECT_GT(closed, 0);
  EXPECT_EQ(result.net[0].dropped, 500 - closed);
  // Rest is a corner of the net's cells: rounding of either sign makes a point of its own.
  std::int64_t held = 0;
  ASSERT_LE(result.net[0].points(), 2);
  for (std::size_t p = 0; p < static_cast<std::size_t>(result.net[0].points()); ++p) {
    held += result.net[0].multiplicity[p];
    EXPECT_NEAR(result.net[0].impulse[2 * p], 1.0, 1e-12);
    EXPECT_NEAR(result.net[0].velocity[2 * p + 1], 0.0, 1e-12);
  }
  EXPECT_EQ(held, closed);
}

TEST(Sampling, StopsWhenAsked) {
  ImpactSettings settings = model_settings("rocking_block", 10000);
  std::int64_t seen = -1;
  settings.progress = [&](const ImpactProgress& progress) {
    EXPECT_EQ(progress.samples_total, 20000);
    EXPECT_GT(progress.samples_done, seen);
    seen = progress.samples_done;
    return progress.samples_done == 0;
  };
  const ImpactProblem problem = models::build("rocking_block");
  const ImpactResult result = run({problem, problem}, settings);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.summary[0].status, Status::cancelled);
  EXPECT_EQ(result.summary[0].samples, seen);
  EXPECT_EQ(result.summary[1].status, Status::cancelled);
  EXPECT_EQ(result.summary[1].samples, 0);
  EXPECT_EQ(result.samples.status.host()[9999], TrajectoryStatus::cancelled);
  EXPECT_TRUE(std::isnan(result.samples.velocity.host()[9999 * 3]));
}

TEST(Sampling, BadProblemHarmsNoNeighbour) {
  ImpactSettings settings = model_settings("rocking_block", 50);
  const ImpactProblem good = models::build("rocking_block");
  const ImpactResult clean = run({good, good, good}, settings);
  ImpactBatch batch = make_batch(std::vector<ImpactProblem>{good, good, good});
  batch.velocity.host()[3] = std::numeric_limits<double>::quiet_NaN();
  settings.bad_problem = BadProblem::isolate;
  const ImpactResult poisoned = reference::sample_impacts(batch, settings);
  EXPECT_EQ(poisoned.summary[0].status, Status::solved);
  EXPECT_EQ(poisoned.summary[1].status, Status::invalid_input);
  EXPECT_EQ(poisoned.summary[2].status, Status::solved);
  for (const int p : {0, 2}) {
    for (int i = 150 * p; i < 150 * (p + 1); ++i) {
      ASSERT_EQ(poisoned.samples.velocity.host()[i], clean.samples.velocity.host()[i]);
    }
  }
  EXPECT_TRUE(std::isnan(poisoned.samples.velocity.host()[150]));
}

TEST(Sampling, NoContactMeansNoStep) {
  ImpactProblem problem;
  problem.name = "free";
  problem.velocities = 1;
  problem.mass_matrix = {2.0};
  problem.velocity = {-3.0};
  ImpactSettings settings;
  settings.samples = 3;
  settings.keep_samples = -1;
  settings.epsilon = 0.1;
  const ImpactResult result = run({problem}, settings);
  EXPECT_EQ(result.summary[0].status, Status::solved);
  EXPECT_EQ(result.summary[0].terminated, 3);
  EXPECT_EQ(result.summary[0].lcp_solves, 0);
  EXPECT_EQ(result.samples.velocity.host()[2], -3.0);
}

}  // namespace
}  // namespace carom::reference
