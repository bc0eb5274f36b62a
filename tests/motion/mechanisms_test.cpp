// Mechanisms of the design beyond the closed forms: they run, are certified, and do what is known.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/motion_runs.hpp"

namespace carom {
namespace {

TEST(Walking, CompassGaitKeepsItsPassiveGait) {
  // Goswami, Thuilot and Espiau: at 3 degrees a step takes 0.734 s and starts with rates -1.092 and
  // -0.377 of the legs.
  MotionSettings settings = test::motion_settings("compass_walk");
  settings.duration = 12.0;
  const MotionResult result =
      simulate_motions(test::motion_batch("compass_walk"), settings, Backend::cpu);
  std::vector<double> times;
  std::vector<const double*> states;
  for (std::size_t k = 0; k < static_cast<std::size_t>(result.event_count.host()[0]); ++k) {
    if (result.event_kind.host()[k] != MotionEventKind::impact) continue;
    times.push_back(result.event_time.host()[k]);
    states.push_back(result.event_state.data() + 8 * k);
  }
  ASSERT_GE(times.size(), 15U);
  for (std::size_t k = 8; k + 1 < times.size(); ++k) {
    EXPECT_NEAR(times[k + 1] - times[k], 0.734, 3e-3);
    const std::size_t stance = k % 2 == 0 ? 7 : 6;  // feet take turns
    EXPECT_NEAR(states[k][stance], -1.092, 5e-3);
    EXPECT_GT(states[k + 1][0], states[k][0] + 0.5);
  }
  EXPECT_LT(result.gap_drift.host()[0], 1e-10);
}

TEST(Walking, TenStepsOfManyWalksEndOrAreNamed) {
  const MotionResult result = test::simulate_model("compass_walk", {}, 200);
  const MotionSummary sum = summarise(result, 0);
  EXPECT_EQ(sum.ended_failed, 0);
  EXPECT_EQ(sum.ended_duration + sum.ended_rest + sum.ended_event_limit, 200);
  EXPECT_GE(sum.impacts, 200 * 9);
}

TEST(Mechanisms, AllRunAndAreCertified) {
  for (const models::MotionModel& model : models::motions()) {
    SCOPED_TRACE(model.name);
    const MotionResult result = test::simulate_model(model.name, {}, 50);
    const MotionSummary sum = summarise(result, 0);
    EXPECT_EQ(sum.ended_failed, 0);
    EXPECT_EQ(sum.ended_event_limit, 0);
    EXPECT_LT(sum.max_residual, 1e-8);
    EXPECT_LT(sum.max_gap_drift, 1e-10);
    EXPECT_LT(sum.max_energy_error, 1e-7);  // of up to 200 J
    EXPECT_LT(sum.max_energy_gain, 1e-9);
  }
}

TEST(Mechanisms, BlocksThatRestAlmostAtOnceDoNotHopForEver) {
  // Each of these is left with some 1e-6 rad/s, hops lower than 1e-12 m.
  for (const std::int64_t sample : {7911, 10872, 17030}) {
    MotionSettings settings = test::motion_settings("rocking_block_drop");
    settings.first_sample = sample;
    const MotionResult result =
        simulate_motions(test::motion_batch("rocking_block_drop"), settings, Backend::cpu);
    EXPECT_EQ(result.end.host()[0], MotionEnd::rest);
    EXPECT_LT(result.events.host()[0], 200);
    EXPECT_LT(result.energy_gain.host()[0], 1e-12);
  }
}

TEST(Mechanisms, LimitsOfImpactsEndWhereAnotherContactCloses) {
  // With restitution one corner's impacts accumulate while the other comes down.
  for (const Restitution law : {Restitution::newton, Restitution::poisson, Restitution::stronge}) {
    MotionSettings settings = test::motion_settings("rocking_block_drop", 300);
    settings.restitution = law;
    settings.coefficient = 0.5;
    const MotionResult result =
        simulate_motions(test::motion_batch("rocking_block_drop"), settings, Backend::cpu);
    const MotionSummary sum = summarise(result, 0);
    EXPECT_EQ(sum.ended_rest, 300);
    EXPECT_LT(sum.max_gap_drift, 1e-11);
  }
}

TEST(Mechanisms, CubeOnItsFaceSlidesByCoulombsLaw) {
  // Released on the floor with 0.5 m/s: stops after v^2 / (2 mu g).
  const MotionResult result =
      test::simulate_model("cube_toss", {{"drop", 0.0}, {"spin_y", 0.0}, {"spin_z", 0.0}}, 1);
  EXPECT_EQ(result.end.host()[0], MotionEnd::rest);
  EXPECT_NEAR(result.time.host()[0], 0.5 / (0.3 * 9.81), 1e-8);
  EXPECT_NEAR(result.position.host()[0], 0.25 / (2.0 * 0.3 * 9.81), 1e-8);
  double load = 0.0;
  for (std::size_t i = 0; i < 8; ++i) load += result.load.host()[i];
  EXPECT_NEAR(load, 9.81, 1e-8);
}

TEST(Mechanisms, BoxStopsAtTheWall) {
  const MotionResult result = test::simulate_model("box_along_wall", {}, 50);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_LE(result.position.host()[3 * i], -0.5 + 1e-9);
    EXPECT_GT(result.impacts.host()[i], 0);
  }
}

}  // namespace
}  // namespace carom
