// A motion's first impact is a sample of the impact family: same seeds, same samples.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>
#include <carom/motion_function.hpp>
#include <carom/motion_tree.hpp>

#include "support/impact_trees.hpp"

namespace carom {
namespace {

constexpr std::int64_t kWide = 8192;  // tables of many samples are others from here on

ImpactResult sampled(const ImpactProblem& problem, const MotionSettings& as, int max_steps,
                     Backend backend = Backend::cpu) {
  ImpactSettings settings;
  settings.samples = as.samples;
  settings.first_sample = as.first_sample;
  settings.keep_samples = as.samples;
  settings.seed = as.seed;
  settings.step_size = as.step_size;
  settings.max_steps = max_steps;
  return sample_impacts(make_batch({&problem, 1}), settings, backend);
}

/// Samples whose velocities after the impact differ, of those that the impact family ended.
void expect_same(const MotionResult& motions, const ImpactResult& impacts, double tolerance) {
  const auto nv = static_cast<std::size_t>(motions.velocities);
  std::int64_t differing = 0;
  std::int64_t ended = 0;
  for (std::int64_t i = 0; i < motions.samples; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (impacts.samples.status.host()[row] != TrajectoryStatus::terminated) continue;
    ++ended;
    double apart = 0.0;
    for (std::size_t j = row * nv; j < (row + 1) * nv; ++j) {
      const double d = motions.first_impact.host()[j] - impacts.samples.velocity.host()[j];
      apart = std::max(apart, std::isfinite(d) ? std::abs(d) : 1.0);
    }
    if (!(apart <= tolerance)) ++differing;
  }
  EXPECT_EQ(differing, 0) << "of " << ended;
  EXPECT_GT(ended, motions.samples / 2);
}

MotionSettings settings_of(double step_size, std::int64_t first_sample) {
  MotionSettings settings;
  settings.duration = 1e-6;
  settings.samples = 200;
  settings.first_sample = first_sample;
  settings.seed = 7;
  settings.step_size = step_size;
  return settings;
}

TEST(FirstImpact, OfModelsIsTheImpactModels) {
  for (const auto& [motion, impact] : {std::pair{"rocking_block_drop", "rocking_block"},
                                       {"disk_stack_drop", "disk_stack"},
                                       {"ramone_step", "ramone"},
                                       {"bar_on_steps_drop", "bar_on_steps"}}) {
    const MotionProblem problem = models::build_motion(motion);
    const MotionBatch batch = make_batch({&problem, 1});
    const models::Model& model = models::find(impact);
    EXPECT_EQ(models::find_motion(motion).step_size, model.step_size);
    for (const std::int64_t first : {std::int64_t{0}, kWide - 100}) {
      SCOPED_TRACE(std::string(motion) + " from " + std::to_string(first));
      const MotionSettings settings = settings_of(model.step_size, first);
      const MotionResult motions = simulate_motions(batch, settings, Backend::cpu);
      // However many steps the impact family allows.
      for (const int most : {model.max_steps, 1000}) {
        expect_same(motions, sampled(models::build(impact), settings, most), 0.0);
      }
    }
  }
}

TEST(FirstImpact, OfTreesIsTheirImpactProblems) {
  for (const test::ImpactTree& tree : test::impact_trees()) {
    const ImpactProblem impact = impact_problem(tree.problem);
    EXPECT_EQ(impact.contacts, tree.contacts) << tree.problem.name;
    for (const std::int64_t first : {std::int64_t{0}, kWide - 100}) {
      SCOPED_TRACE(tree.problem.name + " from " + std::to_string(first));
      const MotionSettings settings = settings_of(tree.step_size, first);
      expect_same(simulate_motions(make_batch({&tree.problem, 1}), settings, Backend::cpu),
                  sampled(impact, settings, 1000), 0.0);
    }
  }
}

TEST(FirstImpact, OfAFunctionIsTheImpactModels) {
  const std::vector<double> q{0.5, 0.5, 0.5, 0.0, 0.0, 0.0};
  const std::vector<double> v{-1.0, -1.0, -1.0, 0.0, 0.0, 0.0};
  for (const std::int64_t first : {std::int64_t{0}, kWide - 100}) {
    const MotionSettings settings = settings_of(1.0, first);
    expect_same(simulate_motions(test::ball_in_corner(), q, v, settings),
                sampled(models::build("ball_in_corner"), settings, 1000), 0.0);
  }
}

/// After a flight the state is known from outside just before the impact alone.
TEST(FirstImpact, AfterAFlightIsTheImpactProblems) {
  for (const char* name : {"rocking_block_zeno", "block_toss", "box_along_wall", "compass_walk"}) {
    SCOPED_TRACE(name);
    const models::MotionModel& model = models::find_motion(name);
    const MotionProblem problem = models::build_motion(name);
    MotionSettings settings = settings_of(model.step_size, 0);
    settings.duration = model.duration;
    settings.keep_samples = 1;
    settings.keep_events = 20;
    settings.coefficient = 0.0;
    settings.max_events = 20;
    const MotionResult motions =
        simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
    std::size_t row = 0;
    while (motions.event_kind.host()[row] != MotionEventKind::impact) ++row;
    MotionSettings before = settings;
    before.samples = 1;
    before.duration = motions.event_time.host()[row] - 1e-8;
    const MotionResult ended = simulate_motions(make_batch({&problem, 1}), before, Backend::cpu);
    const std::vector<double> q = ended.position.to_vector();
    const std::vector<double> v = ended.velocity.to_vector();
    const ImpactProblem impact = impact_problem(motion_terms(problem, q, v), v, 1e-7);
    EXPECT_GT(impact.contacts, 0);
    expect_same(motions, sampled(impact, settings, 1000), 1e-6);
  }
}

TEST(FirstImpact, ShardsAgreeAndTheTableCanBeLeftOut) {
  const MotionProblem problem = models::build_motion("disk_stack_drop");
  const MotionBatch batch = make_batch({&problem, 1});
  MotionSettings settings = settings_of(1.0, kWide - 100);
  settings.threads = 2;
  const auto first_impacts = [&] {
    return simulate_motions(batch, settings, Backend::cpu).first_impact.to_vector();
  };
  const std::vector<double> whole = first_impacts();
  settings.threads = 1;
  settings.samples = 30;
  settings.first_sample += 85;
  const std::vector<double> part = first_impacts();
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + std::ptrdiff_t{85 * 9}));
  settings.mode_table = false;
  EXPECT_NE(first_impacts(), part);
}

}  // namespace
}  // namespace carom
