#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "support/bits.hpp"
#include "support/message.hpp"
#include "support/model_runs.hpp"

namespace carom {
namespace {

using test::model_batch;
using test::model_settings;

class Everywhere : public ::testing::TestWithParam<Backend> {
 protected:
  ImpactResult run(const ImpactProblem& problem, const ImpactSettings& settings) const {
    return sample_impacts(make_batch({&problem, 1}), settings, GetParam());
  }
};

ImpactProblem falling_point(double friction, double vx, double vy) {
  ImpactProblem problem;
  problem.name = "point";
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {2, 0, 0, 2};
  problem.normal_jacobian = {0, 1};
  problem.tangent_jacobian = {1, 0};
  problem.friction = {friction};
  problem.velocity = {vx, vy};
  return problem;
}

ImpactSettings keep_all(std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.keep_samples = -1;
  return settings;
}

TEST_P(Everywhere, NoContactsLeaveTheVelocity) {
  ImpactProblem problem = falling_point(0.0, 1.0, -1.0);
  problem.contacts = 0;
  problem.normal_jacobian.clear();
  problem.tangent_jacobian.clear();
  problem.friction.clear();
  for (const Sampler sampler : {Sampler::uniform, Sampler::sobol}) {
    for (const Selection selection : {Selection::any, Selection::lemke, Selection::random}) {
      ImpactSettings settings = keep_all(5);
      settings.sampler = sampler;
      settings.selection = selection;
      settings.epsilon = 0.1;
      const ImpactResult result = run(problem, settings);
      EXPECT_EQ(result.summary[0].status, Status::solved);
      EXPECT_EQ(result.summary[0].terminated, 5);
      EXPECT_EQ(result.summary[0].lcp_solves, 0);
      EXPECT_EQ(result.samples.velocity.host()[8], 1.0);
      EXPECT_EQ(result.samples.velocity.host()[9], -1.0);
      EXPECT_EQ(result.net[0].points(), 1);
      EXPECT_EQ(result.summary[0].mode_counts,
                (std::vector<std::pair<std::uint64_t, std::int64_t>>{{0, 5}}));
    }
  }
}

TEST_P(Everywhere, NothingCollidesNothingChanges) {
  for (const double vy : {0.5, 0.0, -0.9e-9}) {
    const ImpactResult result = run(falling_point(1.0, 0.25, vy), keep_all(4));
    EXPECT_EQ(result.summary[0].terminated, 4);
    EXPECT_EQ(result.summary[0].lcp_solves, 0);
    EXPECT_EQ(result.summary[0].max_residual, 0.0);
    EXPECT_EQ(result.samples.steps.host()[3], 0);
    EXPECT_EQ(result.samples.velocity.host()[6], 0.25);
    EXPECT_EQ(result.samples.velocity.host()[7], vy);
    EXPECT_EQ(result.samples.impulse.host()[6], 0.0);
  }
}

// A point mass of 2 kg: v+ and the impulse follow by hand.
TEST_P(Everywhere, PointMassByHand) {
  ImpactSettings settings = keep_all(200);
  settings.max_steps = 200;
  struct Known {
    double friction, vx, final_vx;
    ContactMode mode;
  };
  for (const Known& known :
       {Known{0.0, 1.0, 1.0, ContactMode::sliding}, Known{0.25, 1.0, 0.75, ContactMode::sliding},
        Known{0.25, -1.0, -0.75, ContactMode::sliding_negative},
        Known{1e5, 1.0, 0.0, ContactMode::sticking}, Known{1.5, 1.0, 0.0, ContactMode::sticking}}) {
    const ImpactResult result = run(falling_point(known.friction, known.vx, -1.0), settings);
    EXPECT_EQ(result.summary[0].terminated, 200);
    for (std::size_t s = 0; s < 200; ++s) {
      EXPECT_NEAR(result.samples.velocity.host()[2 * s], known.final_vx, 1e-8);
      EXPECT_NEAR(result.samples.velocity.host()[2 * s + 1], 0.0, 1e-8);
      EXPECT_NEAR(result.samples.impulse.host()[2 * s], 2.0, 1e-8);
      EXPECT_NEAR(result.samples.impulse.host()[2 * s + 1], 2.0 * (known.final_vx - known.vx),
                  1e-8);
      EXPECT_EQ(result.samples.modes.host()[s], static_cast<std::uint64_t>(known.mode));
    }
  }
}

TEST_P(Everywhere, PathsRunFromBeforeToAfter) {
  for (const char* name : {"disk_stack", "tripod"}) {
    SCOPED_TRACE(name);
    ImpactSettings settings = model_settings(name, 60);
    settings.keep_samples = 30;
    settings.keep_paths = 20;
    const ImpactProblem problem = models::build(name);
    const ImpactResult result = run(problem, settings);
    EXPECT_EQ(result.samples.count, 30);
    ASSERT_EQ(result.paths.size(), 1U);
    const ImpactPaths& paths = result.paths[0];
    ASSERT_EQ(paths.offset.size(), 21U);
    EXPECT_EQ(paths.offset.front(), 0);
    const auto nv = static_cast<std::size_t>(problem.velocities);
    ASSERT_EQ(paths.velocity.size(), static_cast<std::size_t>(paths.offset.back()) * nv);
    const auto energy = [&](std::int64_t row) {
      const double* v = paths.velocity.data() + static_cast<std::size_t>(row) * nv;
      double twice = 0.0;
      for (std::size_t i = 0; i < nv; ++i) {
        for (std::size_t j = 0; j < nv; ++j) twice += v[i] * problem.mass_matrix[i * nv + j] * v[j];
      }
      return 0.5 * twice;
    };
    for (std::size_t s = 0; s < 20; ++s) {
      const std::int64_t first = paths.offset[s];
      const std::int64_t last = paths.offset[s + 1] - 1;
      EXPECT_EQ(last - first, result.samples.steps.host()[s]);
      for (std::size_t i = 0; i < nv; ++i) {
        EXPECT_EQ(paths.velocity[static_cast<std::size_t>(first) * nv + i], problem.velocity[i]);
        EXPECT_EQ(paths.velocity[static_cast<std::size_t>(last) * nv + i],
                  result.samples.velocity.host()[s * nv + i]);
      }
      for (std::int64_t row = first; row < last; ++row) {
        EXPECT_LE(energy(row + 1), energy(row) * (1.0 + 1e-12));
      }
    }
  }
}

TEST_P(Everywhere, KeepsAsManyRowsAsAskedFor) {
  ImpactSettings settings = model_settings("rocking_block", 40);
  const ImpactProblem problem = models::build("rocking_block");
  settings.keep_samples = 0;
  const ImpactResult none = run(problem, settings);
  EXPECT_EQ(none.samples.count, 0);
  EXPECT_TRUE(none.samples.velocity.empty());
  EXPECT_TRUE(none.paths.empty());
  EXPECT_TRUE(none.net.empty());
  settings.keep_samples = -1;
  const ImpactResult all = run(problem, settings);
  EXPECT_EQ(all.samples.count, 40);
  settings.keep_samples = 7;
  const ImpactResult some = run(problem, settings);
  EXPECT_EQ(some.samples.count, 7);
  EXPECT_EQ(test::first_difference(some.samples.velocity, 0, all.samples.velocity, 0, 21), -1);
  settings.keep_samples = 100;
  settings.keep_paths = 100;
  const ImpactResult more = run(problem, settings);
  EXPECT_EQ(more.samples.count, 40);
  EXPECT_EQ(more.paths[0].offset.size(), 41U);
  test::expect_identical(none.summary[0], all.summary[0]);
}

TEST_P(Everywhere, RangesAreThoseOfTerminatedSamples) {
  const ImpactSettings settings = model_settings("box_wall", 500);
  const ImpactProblem problem = models::build("box_wall");
  const ImpactResult result = run(problem, settings);
  const ImpactSummary& summary = result.summary[0];
  for (std::size_t i = 0; i < 3; ++i) {
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (std::size_t s = 0; s < 500; ++s) {
      if (result.samples.status.host()[s] != TrajectoryStatus::terminated) continue;
      low = std::min(low, result.samples.velocity.host()[3 * s + i]);
      high = std::max(high, result.samples.velocity.host()[3 * s + i]);
    }
    EXPECT_EQ(summary.velocity_min[i], low);
    EXPECT_EQ(summary.velocity_max[i], high);
  }
  EXPECT_EQ(summary.normal_velocity_min.size(), 2U);
  EXPECT_EQ(summary.tangent_velocity_max.size(), 2U);
}

TEST_P(Everywhere, StepLimitIsReported) {
  ImpactSettings settings = model_settings("rocking_block", 300);
  settings.max_steps = 1;
  settings.step_size = 1e-3;
  const ImpactResult result = run(models::build("rocking_block"), settings);
  EXPECT_EQ(result.summary[0].max_steps_reached, 300);
  EXPECT_EQ(result.summary[0].terminated, 0);
  EXPECT_EQ(result.summary[0].status, Status::solved);
  EXPECT_TRUE(std::isnan(result.summary[0].velocity_max[0]));
  EXPECT_EQ(result.samples.status.host()[0], TrajectoryStatus::max_steps);
}

// Stopping between chunks leaves a prefix of the run.
TEST_P(Everywhere, CancelledRunsReportWhatTheyHave) {
  const std::int64_t samples = GetParam() == Backend::cpu ? 3 << 16 : 3 << 12;
  ImpactSettings settings = model_settings("rocking_block", samples);
  settings.keep_samples = -1;
  const ImpactProblem problem = models::build("rocking_block");
  const std::vector<ImpactProblem> problems = {problem, problem};
  std::vector<std::int64_t> seen;
  settings.progress = [&](const ImpactProgress& progress) {
    EXPECT_EQ(progress.samples_total, 2 * samples);
    if (!seen.empty()) {
      EXPECT_GT(progress.samples_done, seen.back());
    }
    seen.push_back(progress.samples_done);
    return progress.samples_done == 0;
  };
  const ImpactResult stopped = sample_impacts(make_batch(problems), settings, GetParam());
  EXPECT_TRUE(stopped.cancelled);
  const std::int64_t done = stopped.summary[0].samples;
  EXPECT_EQ(done, seen.back());
  EXPECT_GT(done, 0);
  EXPECT_LT(done, samples);
  EXPECT_EQ(stopped.summary[0].status, Status::cancelled);
  EXPECT_EQ(stopped.summary[1].status, Status::cancelled);
  EXPECT_EQ(stopped.summary[1].samples, 0);
  settings.progress = {};
  settings.samples = done;
  const ImpactResult whole = sample_impacts(make_batch(problems), settings, GetParam());
  EXPECT_FALSE(whole.cancelled);
  const auto count = static_cast<std::size_t>(done);
  EXPECT_EQ(
      test::first_difference(stopped.samples.velocity, 0, whole.samples.velocity, 0, 3 * count),
      -1);
  EXPECT_EQ(stopped.summary[0].mode_counts, whole.summary[0].mode_counts);
  for (std::size_t s = count; s < static_cast<std::size_t>(samples); s += 97) {
    EXPECT_EQ(stopped.samples.status.host()[s], TrajectoryStatus::cancelled);
    EXPECT_TRUE(std::isnan(stopped.samples.velocity.host()[3 * s]));
  }
}

TEST_P(Everywhere, ProgressReachesTheTotal) {
  ImpactSettings settings = model_settings("rocking_block", 1000);
  std::int64_t last = 0;
  settings.progress = [&](const ImpactProgress& progress) {
    last = progress.samples_done;
    return true;
  };
  const ImpactResult result = run(models::build("rocking_block"), settings);
  EXPECT_EQ(last, 1000);
  EXPECT_FALSE(result.cancelled);
  EXPECT_EQ(result.backend, GetParam());
  EXPECT_GT(result.seconds, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Everywhere, ::testing::Values(Backend::cpu, Backend::reference),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

TEST(EmptyBatch, GivesAnEmptyResult) {
  const ImpactResult result = sample_impacts(make_batch({}), {}, Backend::cpu);
  EXPECT_TRUE(result.summary.empty());
  EXPECT_FALSE(result.cancelled);
}

TEST(Workspace, ServesDifferentRuns) {
  ImpactWorkspace workspace;
  const ImpactSettings settings = model_settings("compass_gait", 100);
  const ImpactBatch batch = model_batch("compass_gait");
  const ImpactResult first = sample_impacts(batch, settings, Backend::cpu, &workspace);
  sample_impacts(model_batch("cube_drop"), model_settings("cube_drop", 50), Backend::cpu,
                 &workspace);
  ImpactWorkspace moved = std::move(workspace);
  test::expect_identical(first, sample_impacts(batch, settings, Backend::cpu, &moved));
}

TEST(ModeWords, NameEveryContact) {
  EXPECT_EQ(mode_words(0b11'10'01'00, 4, 2), "separating/sticking/sliding+/sliding-");
  EXPECT_EQ(mode_words(0b10'01, 2, 3), "sticking/sliding");
  EXPECT_EQ(mode_words(0, 0, 2), "");
}

}  // namespace
}  // namespace carom
