// Motions replayed by small time steps of the reference; mechanisms' terms at any state.

#include <carom/motion_replay.hpp>

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <carom/error.hpp>

#include "support/motion_runs.hpp"

namespace carom {
namespace {

struct Simulated {
  MotionProblem problem;
  MotionResult result;
};

Simulated simulated(const std::string& name, std::int64_t samples) {
  Simulated out{models::build_motion(name), {}};
  out.result = test::simulate_model(name, {}, samples);
  return out;
}

TEST(Replay, TimeStepsFollowEveryModel) {
  for (const models::MotionModel& model : models::motions()) {
    SCOPED_TRACE(model.name);
    const Simulated run = simulated(model.name, 4);
    std::int64_t pieces = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      ReplaySettings settings;
      settings.longest = 0.5;
      const MotionReplay replay = replay_motion(run.problem, run.result, i, settings);
      pieces += replay.pieces;
      if (run.result.ambiguous.host()[static_cast<std::size_t>(i)] > 0) continue;
      EXPECT_EQ(replay.differing, 0) << i;
      EXPECT_EQ(replay.differing_jumps, 0) << i;
      EXPECT_LT(replay.step_error, 0.01);
    }
    EXPECT_GT(pieces, 0);
  }
}

TEST(Replay, SeesAWrongState) {
  Simulated run = simulated("block_toss", 1);
  const double kept = run.result.event_state.host()[1];
  run.result.event_state.host()[1] += 1e-4;  // height at the first event
  MotionReplay replay = replay_motion(run.problem, run.result, 0);
  EXPECT_GT(replay.differing, 0);
  EXPECT_GT(replay.worst, 5e-5);
  run.result.event_state.host()[1] = kept;
  ASSERT_EQ(run.result.event_kind.host()[0], MotionEventKind::impact);
  run.result.event_state.host()[4] += 0.1;  // vy after the first impact: more than its energy
  replay = replay_motion(run.problem, run.result, 0);
  EXPECT_GT(replay.differing + replay.differing_jumps, 0);
}

TEST(Replay, RefusesByName) {
  const Simulated run = simulated("bouncing_ball", 1);
  EXPECT_THROW(replay_motion(run.problem, run.result, 1), InvalidInput);
  ReplaySettings settings;
  settings.step = 0.0;
  EXPECT_THROW(replay_motion(run.problem, run.result, 0, settings), InvalidInput);
}

TEST(MotionTerms, OfABlockThatLeans) {
  MotionProblem problem = models::build_motion("rocking_block_zeno");  // w = 1, h = 2
  const double turn = 0.1;
  const double q[] = {0.3, 1.2, turn};
  const double v[] = {0.1, -0.2, 0.5};
  const MotionTerms terms = motion_terms(problem, q, v);
  ASSERT_EQ(terms.gap.size(), 2U);
  EXPECT_NEAR(terms.mass[8], 5.0 / 12.0, 1e-15);
  EXPECT_NEAR(terms.force[1], -9.81, 1e-15);
  // Corner A is at (-1/2, -1), B at (1/2, -1) of the body.
  EXPECT_NEAR(terms.gap[0], 1.2 - 0.5 * std::sin(turn) - std::cos(turn), 1e-15);
  EXPECT_NEAR(terms.gap[1], 1.2 + 0.5 * std::sin(turn) - std::cos(turn), 1e-15);
  EXPECT_NEAR(terms.energy, 0.5 * (0.01 + 0.04 + 0.25 * 5.0 / 12.0) + 9.81 * 1.2, 1e-13);
  EXPECT_THROW(motion_terms(problem, {q, 2}, v), InvalidInput);
}

/// A block that leans: its impact has the corner that touches; a compliant step of one that rests
/// on stiff corners keeps it there, each with half of its weight, one in the air falls.
TEST(MotionTerms, ImpactAndCompliantStepAtAnyState) {
  MotionProblem problem = models::build_motion("rocking_block_zeno");
  const double turn = 0.1;
  const std::vector<double> leaning{0.0, 0.5 * std::sin(turn) + std::cos(turn), turn};
  const std::vector<double> v{0.1, -0.2, 0.5};
  const ImpactProblem impact = impact_problem(motion_terms(problem, leaning, v), v);
  EXPECT_EQ(impact.contacts, 1);
  EXPECT_NEAR(impact.normal_jacobian[2], -0.5 * std::cos(turn) + std::sin(turn), 1e-15);
  EXPECT_EQ(impact.velocity, v);

  const std::vector<double> still(3, 0.0);
  const auto step_of = [&](double height) {
    const MotionTerms terms = motion_terms(problem, std::vector<double>{0.0, height, 0.0}, still);
    const CompliantProblem step = compliant_problem(terms, still, 0.01, {1e12, 0.0});
    return solve_compliant(make_batch({&step, 1}));
  };
  const CompliantResult rests = step_of(1.0);
  ASSERT_EQ(rests.status.host()[0], Status::solved);
  EXPECT_NEAR(rests.velocity.host()[1], 0.0, 1e-6);
  EXPECT_NEAR(rests.force.host()[0], 9.81 / 2, 1e-6);  // rows: normal, tangent of each corner
  EXPECT_NEAR(rests.force.host()[2], 9.81 / 2, 1e-6);
  const CompliantResult falls = step_of(2.0);
  EXPECT_NEAR(falls.velocity.host()[1], -0.0981, 1e-12);
  EXPECT_THROW(impact_problem(motion_terms(problem, leaning, v), std::vector<double>{1.0}),
               InvalidInput);
}

}  // namespace
}  // namespace carom
