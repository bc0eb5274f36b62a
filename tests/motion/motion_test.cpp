// Motions against closed forms and the numbers of sections 4.3 and 5 of Halm and Posa.

#include <carom/motion.hpp>

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/models/motions.hpp>

#include "core/arrays.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/motion/motions.hpp"
#include "motion/prepare.hpp"
#include "support/motion_runs.hpp"

namespace carom {
namespace {

using test::kGravity;

using test::Set;

/// Rows of the first kept motion's events of a kind.
std::vector<std::size_t> events_of(const MotionResult& result, MotionEventKind kind) {
  std::vector<std::size_t> rows;
  for (std::int32_t i = 0; i < result.event_count.host()[0]; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (result.event_kind.host()[row] == kind) rows.push_back(row);
  }
  return rows;
}

bool same_bits(const Buffer<double>& a, const Buffer<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void expect_certified(const MotionSummary& sum) {
  EXPECT_LT(sum.max_residual, 1e-8);
  EXPECT_LT(sum.max_gap_drift, 1e-10);
  EXPECT_LT(sum.max_energy_gain, 1e-9);
  EXPECT_LT(sum.max_energy_error, 1e-9);
}

TEST(Motion, InstructionSetsGiveTheSameBits) {
  for (const char* name : {"rocking_block_zeno", "compass_walk", "cube_toss"}) {
    SCOPED_TRACE(name);
    const MotionBatch batch = test::motion_batch(name);
    MotionSettings settings = test::motion_settings(name, 4);
    settings.duration = 1.0;
    settings.mode_table = false;  // what calls these functions has the table
    const std::uint8_t accepted = 1;
    const MotionResult expected = simulate_motions(batch, settings, Backend::cpu);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      SCOPED_TRACE(set->name);
      MotionResult result = motion::empty_result(batch, settings);
      kernels::motion::MotionView view = motion::view_of(batch, settings, result);
      arrays::bind(view.batch, batch);
      arrays::bind(view.result, result);
      set->simulate_motions({&view, batch.mechanism, &accepted, 0, 4});
      EXPECT_TRUE(same_bits(result.position, expected.position));
      EXPECT_TRUE(same_bits(result.velocity, expected.velocity));
      EXPECT_TRUE(same_bits(result.s, expected.s));
      EXPECT_TRUE(same_bits(result.event_state, expected.event_state));
    }
  }
}

TEST(Motion, RockingBlockReachesItsZenoPoint) {
  const MotionResult result = test::simulate_model("rocking_block_zeno", {}, 8);
  expect_certified(summarise(result, 0));
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(result.end.host()[i], MotionEnd::rest);
    EXPECT_EQ(result.zeno.host()[i], 1);
    EXPECT_NEAR(result.zeno_time.host()[i], 2.671421, 1e-6);
    EXPECT_NEAR(result.zeno_s.host()[i], 28.37807, 1e-5);
    EXPECT_NEAR(result.load.host()[2 * i], 0.5 * kGravity, 1e-9);
    EXPECT_NEAR(result.load.host()[2 * i + 1], 0.5 * kGravity, 1e-9);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(result.velocity.host()[3 * i + j], 0.0, 1e-9);
  }
  const auto impacts = events_of(result, MotionEventKind::impact);
  ASSERT_GT(impacts.size(), 6U);
  EXPECT_NEAR(result.event_time.host()[impacts[0]], 0.98733, 5e-6);
  double rate = 1.0;
  for (const std::size_t row : impacts) {
    rate *= -0.7;  // conservation of angular momentum about the corner that is struck
    EXPECT_NEAR(result.event_state.host()[6 * row + 5], rate, 1e-9);
  }
}

TEST(Motion, RockingBlockTurnsBackAtItsApex) {
  MotionSettings settings = test::motion_settings("rocking_block_zeno");
  settings.grid = 1e-3;
  settings.duration = 1.0;
  const MotionResult result =
      simulate_motions(test::motion_batch("rocking_block_zeno"), settings, Backend::cpu);
  double highest = 0.0;
  for (std::int64_t k = 0; k < result.grid_points; ++k) {
    highest = std::max(highest, result.state.host()[static_cast<std::size_t>(7 * k + 2)]);
  }
  // (57) with the energy of the pendulum: sin(theta + alpha) - sin(alpha) = I_A / (2 m g r).
  const double alpha = std::atan(2.0);
  const double inertia = 5.0 / 12.0 + 1.25;
  const double apex =
      std::asin(std::sin(alpha) + inertia / (2.0 * kGravity * std::sqrt(1.25))) - alpha;
  EXPECT_NEAR(highest, apex, 1e-6);
  EXPECT_NEAR(apex, 0.2198, 5e-5);
}

TEST(Motion, BallComesToRestWhereItsSeriesDoes) {
  for (const double e : {0.1, 0.5, 0.8, 0.95}) {
    for (const Restitution kind :
         {Restitution::newton, Restitution::poisson, Restitution::stronge}) {
      MotionSettings settings = test::motion_settings("bouncing_ball");
      settings.coefficient = e;
      settings.restitution = kind;
      settings.duration = 10.0;
      const MotionResult result =
          simulate_motions(test::motion_batch("bouncing_ball"), settings, Backend::cpu);
      EXPECT_EQ(result.end.host()[0], MotionEnd::rest);
      // Thrown up with 1 m/s, it lands with 1 m/s and flies e, e^2, ... as long afterwards.
      EXPECT_NEAR(result.zeno_time.host()[0], 2.0 / kGravity / (1.0 - e), 1e-9);
      const double impulse = (1.0 + e) / (1.0 - e);
      EXPECT_NEAR(result.zeno_s.host()[0], 2.0 / kGravity / (1.0 - e) + impulse, 1e-8);
      expect_certified(summarise(result, 0));
      const auto impacts = events_of(result, MotionEventKind::impact);
      for (std::size_t k = 1; k < impacts.size(); ++k) {
        const double before = result.event_state.host()[6 * impacts[k - 1] + 4];
        const double after = result.event_state.host()[6 * impacts[k] + 4];
        EXPECT_NEAR(after * after, e * e * before * before, 1e-9);  // apexes e^2 apart
      }
    }
  }
}

TEST(Motion, ElasticBallNeverRestsAndKeepsItsEnergy) {
  MotionSettings settings = test::motion_settings("bouncing_ball");
  settings.coefficient = 1.0;
  settings.duration = 10.0;
  const MotionResult result =
      simulate_motions(test::motion_batch("bouncing_ball"), settings, Backend::cpu);
  EXPECT_EQ(result.end.host()[0], MotionEnd::duration);
  EXPECT_EQ(result.zeno.host()[0], 0);
  EXPECT_EQ(result.impacts.host()[0], static_cast<int>(10.0 * kGravity / 2.0));
  const double height = result.position.host()[1] - 0.1;
  const double speed = result.velocity.host()[1];
  EXPECT_NEAR(0.5 * speed * speed + kGravity * height, 0.5, 1e-9);
}

TEST(Motion, BallWithSpinSlidesAndThenRolls) {
  // Without bounce: rolling when omega r = -v, after (v + omega r) / (3 mu g) of friction.
  const Set set{{"upward_velocity", 0.0}, {"friction", 0.3}, {"horizontal_velocity", 1.0}};
  MotionSettings settings = test::motion_settings("bouncing_ball");
  settings.coefficient = 0.0;
  const MotionResult result =
      simulate_motions(test::motion_batch("bouncing_ball", set), settings, Backend::cpu);
  const auto sticks = events_of(result, MotionEventKind::stick);
  ASSERT_EQ(sticks.size(), 1U);
  EXPECT_NEAR(result.event_time.host()[sticks[0]], 1.0 / (3.0 * 0.3 * kGravity), 1e-9);
  EXPECT_NEAR(result.velocity.host()[0], 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(result.velocity.host()[2], -2.0 / 3.0 / 0.1, 1e-8);
  expect_certified(summarise(result, 0));
}

/// k = J_n M^-1 (J_n' - sigma mu J_t') of a rod of length 1 and mass 1 that slides to -x.
double painleve_number(double angle, double friction) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  return 1.0 + 3.0 * c * c - 3.0 * friction * s * c;
}

TEST(Motion, RodWithoutConsistentForcesIsStruckWithoutCollision) {
  const double angle = std::numbers::pi / 4.0;
  ASSERT_LT(painleve_number(angle, 2.0), 0.0);
  const MotionResult result = test::simulate_model("painleve_rod", {}, 200);
  expect_certified(summarise(result, 0));
  for (std::size_t i = 0; i < 200; ++i) {
    ASSERT_NE(result.end.host()[i], MotionEnd::failed);
    EXPECT_EQ(result.pushes.host()[i], 1);
    // The end that slid is at rest afterwards: v+ = v - M^-1 J' (J M^-1 J')^-1 J v.
    const double a = 0.5 * std::cos(angle);
    const double b = 0.5 * std::sin(angle);
    const double nn = 1.0 + 12.0 * a * a;
    const double tt = 1.0 + 12.0 * b * b;
    const double nt = -12.0 * a * b;
    const double det = nn * tt - nt * nt;
    const double normal = -nt / det;  // J v = (0, -1)
    const double tangent = nn / det;
    const double* v = result.first_impact.data() + 3 * i;
    EXPECT_NEAR(v[0], -1.0 + tangent, 1e-9);
    EXPECT_NEAR(v[1], normal, 1e-9);
    EXPECT_NEAR(v[2], 12.0 * (-a * normal + b * tangent), 1e-9);
  }
}

TEST(Motion, RodOutsidePainlevesRegionSlides) {
  // mu = 1 < 4/3: the force exists and is unique, N = g m / k at rest in rotation.
  ASSERT_GT(painleve_number(std::numbers::pi / 4.0, 1.0), 0.0);
  MotionSettings settings = test::motion_settings("painleve_rod");
  settings.duration = 1e-3;
  const MotionResult result = simulate_motions(
      test::motion_batch("painleve_rod", {{"friction", 1.0}}), settings, Backend::cpu);
  EXPECT_EQ(result.pushes.host()[0], 0);
  EXPECT_EQ(result.ambiguous.host()[0], 0);
  const double force = kGravity / painleve_number(std::numbers::pi / 4.0, 1.0);
  EXPECT_NEAR(result.s.host()[0] / 1e-3, 1.0 + force, 1e-2 * force);
}

TEST(Motion, RodThatSpinsHasTwoFuturesInPainlevesRegion) {
  // k < 0 and the free end rises: it may leave the floor or go on sliding; the samples draw.
  const Set set{{"angular_velocity", 6.0}};
  MotionSettings settings = test::motion_settings("painleve_rod", 400);
  settings.duration = 1e-3;
  const MotionResult result =
      simulate_motions(test::motion_batch("painleve_rod", set), settings, Backend::cpu);
  int lifted = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_GE(result.ambiguous.host()[i], 1);
    lifted += result.s.host()[i] < 1.0001e-3 ? 1 : 0;
  }
  EXPECT_GT(lifted, 120);
  EXPECT_LT(lifted, 280);
}

TEST(Motion, SequentialOutcomesAppear) {
  // A first or B first: the extremes of the rotation just after the drop.
  const MotionResult result = test::simulate_model("rocking_block_drop", {}, 4000);
  double least = 0.0;
  double most = 0.0;
  for (std::size_t i = 0; i < 4000; ++i) {
    least = std::min(least, result.first_impact.host()[3 * i + 2]);
    most = std::max(most, result.first_impact.host()[3 * i + 2]);
  }
  // Pivot about A, then about B: omega = v w/2 / I_A, times the factor 0.7 of a second impact.
  const double once = 0.4429 * 0.5 / (5.0 / 12.0 + 1.25);
  EXPECT_LE(most, 0.7 * once);
  EXPECT_GE(most, 0.6 * once);
  EXPECT_GE(least, -0.7 * once);
  EXPECT_LE(least, -0.6 * once);
  EXPECT_EQ(summarise(result, 0).ended_rest, 4000);
  expect_certified(summarise(result, 0));
}

TEST(Motion, SameForThreadsAndSplits) {
  const MotionBatch batch = test::motion_batch("rocking_block_drop");
  MotionSettings settings = test::motion_settings("rocking_block_drop", 64);
  settings.grid = 0.01;
  settings.threads = 1;
  const MotionResult one = simulate_motions(batch, settings, Backend::cpu);
  settings.threads = 3;
  const MotionResult three = simulate_motions(batch, settings, Backend::cpu);
  EXPECT_TRUE(same_bits(one.position, three.position));
  EXPECT_TRUE(same_bits(one.s, three.s));
  EXPECT_TRUE(same_bits(one.state, three.state));
  settings.samples = settings.keep_samples = 20;
  settings.first_sample = 30;
  const MotionResult part = simulate_motions(batch, settings, Backend::cpu);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(part.s.host()[i], one.s.host()[30 + i]);
    EXPECT_EQ(part.time.host()[i], one.time.host()[30 + i]);
    EXPECT_EQ(part.position.host()[3 * i], one.position.host()[3 * (30 + i)]);
  }
  settings.seed = 1;
  const MotionResult other = simulate_motions(batch, settings, Backend::cpu);
  EXPECT_FALSE(same_bits(other.s, part.s));
}

TEST(Motion, ShardsByProblemsMakeTheWhole) {
  std::vector<MotionProblem> problems;
  for (const double width : {0.8, 1.0, 1.2, 1.4}) {
    problems.push_back(models::build_motion("rocking_block_drop", {{"width", width}}));
  }
  MotionSettings settings = test::motion_settings("rocking_block_drop", 12);
  settings.duration = 0.5;
  const MotionResult whole = simulate_motions(make_batch(problems), settings, Backend::cpu);
  settings.first_problem = 2;
  const MotionResult part =
      simulate_motions(make_batch({problems.data() + 2, 2}), settings, Backend::cpu);
  for (std::size_t row = 0; row < 24; ++row) {
    EXPECT_EQ(part.s.host()[row], whole.s.host()[24 + row]);
    EXPECT_EQ(part.position.host()[3 * row], whole.position.host()[3 * (24 + row)]);
  }
  settings.first_problem = 0;
  const MotionResult other =
      simulate_motions(make_batch({problems.data() + 2, 2}), settings, Backend::cpu);
  EXPECT_FALSE(same_bits(other.s, part.s));
  settings.first_problem = (std::int64_t{1} << 32) - 1;
  EXPECT_THROW(simulate_motions(make_batch(problems), settings, Backend::cpu), InvalidInput);
}

TEST(Motion, RestitutionNeverAddsEnergy) {
  for (const Restitution kind : {Restitution::newton, Restitution::poisson, Restitution::stronge}) {
    for (const double e : {0.3, 0.9}) {
      MotionSettings settings = test::motion_settings("rocking_block_drop", 40);
      settings.coefficient = e;
      settings.restitution = kind;
      settings.duration = 1.0;
      const MotionResult result = simulate_motions(
          test::motion_batch("rocking_block_drop", {{"angle", 5.0}, {"drop", 0.1}}), settings,
          Backend::cpu);
      const MotionSummary sum = summarise(result, 0);
      EXPECT_EQ(sum.ended_failed, 0) << to_string(kind) << e;
      EXPECT_LT(sum.max_energy_gain, 1e-9) << to_string(kind) << e;
      EXPECT_LT(sum.max_gap_drift, 1e-10) << to_string(kind) << e;
    }
  }
}

TEST(Motion, EventLimitIsSaid) {
  MotionSettings settings = test::motion_settings("rocking_block_zeno");
  settings.max_events = 10;
  const MotionResult result =
      simulate_motions(test::motion_batch("rocking_block_zeno"), settings, Backend::cpu);
  EXPECT_EQ(result.end.host()[0], MotionEnd::event_limit);
  EXPECT_EQ(summarise(result, 0).ended_event_limit, 1);
}

TEST(Motion, DrivePushesTheBlock) {
  // 1 kg without friction, 2 N for 0.5 s and nothing after.
  MotionProblem problem = models::build_motion(
      "rocking_block_drop", {{"friction", 0.0}, {"downward_velocity", 0.0}, {"height", 0.5}});
  problem.drive_interval = 0.5;
  problem.drive = {2.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  MotionSettings settings = test::motion_settings("rocking_block_drop");
  settings.duration = 1.0;
  const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
  EXPECT_NEAR(result.velocity.host()[0], 1.0, 1e-9);
  EXPECT_NEAR(result.position.host()[0], 0.25 + 0.5, 1e-9);
  expect_certified(summarise(result, 0));
}

TEST(Motion, StartsAreDrawnAboveTheFloor) {
  MotionProblem problem = models::build_motion("bouncing_ball", {{"height", 0.01}});
  problem.position_spread = {0.5, 0.05, 0.0};
  problem.velocity_spread = {0.0, 1.0, 0.0};
  MotionSettings settings = test::motion_settings("bouncing_ball", 200);
  settings.grid = 0.5;
  const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
  double least = 1.0;
  double right = 0.0;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto points = static_cast<std::size_t>(result.grid_points);
    const double* state = result.state.data() + i * points * 7;
    least = std::min(least, state[1] - 0.1);
    right = std::max(right, state[0]);
    EXPECT_LE(state[1] - 0.1, 0.06);
  }
  EXPECT_GE(least, 0.0);
  EXPECT_GT(right, 0.4);
  EXPECT_EQ(summarise(result, 0).ended_failed, 0);
}

TEST(Motion, RefusesByName) {
  MotionProblem problem = models::build_motion("bouncing_ball");
  problem.position[1] = 0.05;
  const auto refusal = [](auto&& call) {
    try {
      call();
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(refusal([&] { validate(make_batch({&problem, 1})); }).find("gap"), std::string::npos);
  problem.position[1] = std::nan("");
  EXPECT_NE(refusal([&] {
              validate(make_batch({&problem, 1}));
            }).find("position[1]"),
            std::string::npos);
  MotionSettings settings;
  settings.duration = std::nan("");
  EXPECT_NE(refusal([&] { settings.validate(); }).find("duration"), std::string::npos);
  // In a batch the refused one harms no neighbour.
  const std::vector<MotionProblem> pair{problem, models::build_motion("bouncing_ball")};
  const MotionResult result =
      simulate_motions(make_batch(pair), test::motion_settings("bouncing_ball"), Backend::cpu);
  EXPECT_EQ(result.end.host()[0], MotionEnd::invalid_input);
  EXPECT_EQ(result.end.host()[1], MotionEnd::rest);
}

}  // namespace
}  // namespace carom
