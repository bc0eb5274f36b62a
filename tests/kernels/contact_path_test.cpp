#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/device/lanes.hpp>

#include "cpu/impact/step_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "support/bits.hpp"
#include "support/enumerated.hpp"
#include "support/path_run.hpp"
#include "support/random_problems.hpp"

// The body of src/impact/kernels/contact_path.hpp by itself, in double and in float.
namespace carom {
namespace {

using kernels::EmulatedLanes;
using kernels::SingleLane;
using test::Flavour;
using test::Generator;
using test::PathRun;
using test::StepProblem;
using test::Vector;

using Forwards = EmulatedLanes<32, false>;
using Backwards = EmulatedLanes<32, true>;

void expect_same_path(const PathRun& a, const PathRun& b) {
  EXPECT_EQ(a.found, b.found);
  EXPECT_EQ(a.pivots, b.pivots);
  EXPECT_EQ(a.corrections, b.corrections);
  EXPECT_EQ(test::first_difference(test::flat(a.impulse), test::flat(b.impulse)), -1);
}

StepProblem random_step(Generator& random, Flavour flavour, int dimension, int m, int directions) {
  const ImpactProblem problem = test::random_problem(random, flavour, dimension, m);
  return test::step_problem(problem, test::random_limits(random, flavour, m), directions);
}

class PathBody : public ::testing::TestWithParam<Flavour> {};

TEST_P(PathBody, SameOnEveryKindOfLanes) {
  Generator random(200 + static_cast<std::uint64_t>(GetParam()));
  for (int trial = 0; trial < 120; ++trial) {
    SCOPED_TRACE(trial);
    const int dimension = 2 + trial % 2;
    // Of many contacts the corner is guessed.
    const int m = trial % 10 < 8 ? random.integer(1, 8) : random.integer(16, 18);
    const StepProblem step = random_step(random, GetParam(), dimension, m, random.integer(4, 16));
    expect_same_path(test::follow_path<double>(step, SingleLane{}),
                     test::follow_path<double>(step, Forwards{}));
    expect_same_path(test::follow_path<double>(step, SingleLane{}),
                     test::follow_path<double>(step, Backwards{}));
    expect_same_path(test::follow_path<float>(step, SingleLane{}),
                     test::follow_path<float>(step, Forwards{}));
    expect_same_path(test::follow_path<float>(step, SingleLane{}),
                     test::follow_path<float>(step, Backwards{}));
    // Narrower warps split the work differently.
    expect_same_path(test::follow_path<double>(step, SingleLane{}),
                     test::follow_path<double>(step, EmulatedLanes<4, true>{}));
  }
}

// The path ends with an answer in double; in float it ends with one that a few corrections in
// double bring to the same accuracy.
TEST_P(PathBody, FloatMeetsTheSameCertificate) {
  Generator random(300 + static_cast<std::uint64_t>(GetParam()));
  int lost = 0;
  int certified = 0;
  int compared = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    SCOPED_TRACE(trial);
    const int dimension = 2 + trial % 2;
    const int m = random.integer(1, 6);
    const StepProblem step = random_step(random, GetParam(), dimension, m, random.integer(4, 16));
    const PathRun wide = test::follow_path<double>(step, SingleLane{});
    if (!wide.found) {
      ++lost;
      continue;
    }
    ASSERT_LE(test::full_residual(step, wide.impulse), 1e-9);
    const PathRun narrow = test::follow_path<float>(step, SingleLane{});
    const double residual = test::full_residual(step, narrow.impulse);
    if (!narrow.found || !(residual <= 1e-9)) continue;
    ++certified;
    if (m > (dimension == 2 ? 3 : 1) || test::enumerated(step).size() != 1) continue;
    ++compared;
    const Vector difference = step.response() * (wide.impulse - narrow.impulse);
    EXPECT_LE(difference.cwiseAbs().maxCoeff(),
              (1e-9 + 10.0 * residual) * step.velocity.cwiseAbs().maxCoeff());
  }
  // Bounded impulses leave the path no way to infinity; unbounded ones may, and Lemke takes over.
  const bool bounded =
      GetParam() != Flavour::infinite_limits && GetParam() != Flavour::mixed_limits;
  EXPECT_LE(lost, bounded ? 0 : 6);
  // The rest is followed again in double; mu = 1e5 leaves a float few digits.
  EXPECT_GE(certified, GetParam() == Flavour::jamming ? 45 : 250);
  EXPECT_GE(compared, GetParam() == Flavour::jamming ? 25 : 75);
}

// Tableaus by columns, whose events are looked for in registers, and by rows.
TEST_P(PathBody, InstructionSetsGiveTheSameBits) {
  const auto wide = cpu::simd::instruction_sets().subspan(1);
  if (wide.empty()) GTEST_SKIP() << "SKIP_ONE_INSTRUCTION_SET: this machine has no other";
  Generator random(600 + static_cast<std::uint64_t>(GetParam()));
  constexpr int kMany[] = {21, 31, 32, 64};  // around what a mask has room for
  for (int shape = 0; shape < 56; ++shape) {
    const int dimension = 2 + shape % 2;
    const int contacts = shape / 2 < 16   ? 1 + shape / 2
                         : shape / 2 < 24 ? random.integer(1, 6)
                                          : kMany[shape / 2 - 24];
    // What the path gives up there, Lemke's method takes seconds for.
    if (GetParam() == Flavour::jamming && contacts > 21) continue;
    const int directions = random.integer(3, 16);
    SCOPED_TRACE(std::to_string(dimension) + "-dimensional, contacts: " + std::to_string(contacts));
    std::vector<StepProblem> steps;
    for (int p = 0; p < (contacts > 16 ? 2 : 8); ++p) {
      steps.push_back(random_step(random, GetParam(), dimension, contacts, directions));
    }
    const StepBatch batch = test::step_batch(steps);
    const StepSettings settings{.friction_directions = directions, .threads = 1};
    const StepResult plain =
        cpu::drive_steps(batch, settings, cpu::simd::instruction_sets().front()->solve_steps);
    for (const cpu::simd::InstructionSet* set : wide) {
      test::expect_identical(plain, cpu::drive_steps(batch, settings, set->solve_steps));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Flavours, PathBody, ::testing::ValuesIn(test::kFlavours),
                         [](const auto& flavour) {
                           return std::string(test::to_string(flavour.param));
                         });

// A contact that hits a wall of known answer: one planar contact with unit masses.
TEST(PathBody, SingleContactByHand) {
  StepProblem step;
  step.dimension = 2;
  step.contacts = 1;
  step.mass = test::Matrix::Identity(2, 2);
  step.jacobian = (test::Matrix(2, 2) << 0, 1, 1, 0).finished();
  step.friction = Vector::Constant(1, 0.5);
  step.velocity = (Vector(2) << 2.0, -1.0).finished();
  const auto impulse_under = [&](double limit) {
    step.limit = Vector::Constant(1, limit);
    return test::follow_path<double>(step, SingleLane{}).impulse;
  };
  const Vector free = impulse_under(5.0);  // slides: lambda_n = 1, lambda_t = -0.5
  EXPECT_NEAR(free[0], 1.0, 1e-14);
  EXPECT_NEAR(free[1], -0.5, 1e-14);
  const Vector clipped = impulse_under(0.25);
  EXPECT_NEAR(clipped[0], 0.25, 1e-14);
  EXPECT_NEAR(clipped[1], -0.125, 1e-14);
  step.velocity[0] = 0.3;  // sticks: lambda_t = -0.3 < 0.5
  const Vector stuck = impulse_under(5.0);
  EXPECT_NEAR(stuck[0], 1.0, 1e-14);
  EXPECT_NEAR(stuck[1], -0.3, 1e-14);
  step.velocity[1] = 1.0;  // separates already
  EXPECT_EQ(impulse_under(5.0).cwiseAbs().maxCoeff(), 0.0);
}

// NaN and infinity in, no endless loop and no answer that certifies.
TEST(PathBody, EndsOnBrokenNumbers) {
  Generator random(41);
  for (int trial = 0; trial < 200; ++trial) {
    StepProblem step = random_step(random, Flavour::generic, 2 + trial % 2, 3, 6);
    const double poison = trial % 4 < 2 ? std::numeric_limits<double>::quiet_NaN() : 1e300;
    if (trial % 8 < 4)
      step.velocity[1] = poison;
    else
      step.jacobian(1, 1) = poison;
    const PathRun run = test::follow_path<double>(step, SingleLane{});
    EXPECT_LE(run.pivots, 12 * step.rows() + 21);
    if (trial % 4 >= 2) continue;
    EXPECT_FALSE(test::full_residual(step, run.impulse) <= 1e-9);
  }
}

}  // namespace
}  // namespace carom
