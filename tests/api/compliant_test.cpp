#include <carom/compliant.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/constants.hpp"
#include "support/bits.hpp"
#include "support/compliant_problems.hpp"
#include "support/message.hpp"

/// Refusals by name, and what a batch promises: isolation, splits, threads, cancelling.
namespace carom {
namespace {

using test::expect_names;
using test::first_difference;
using test::random_compliant;
using test::refusal;

CompliantProblem good() {
  CompliantProblem problem = random_compliant({}, 0);
  problem.name = "cart";
  return problem;
}

std::string refused(const std::function<void(CompliantProblem&)>& spoil) {
  CompliantProblem problem = good();
  spoil(problem);
  return refusal([&] { validate(problem, 3); });
}

TEST(CompliantRefusals, NameTheFieldTheIndexAndTheValue) {
  // constraints: 0, 1 bilateral, 2, 3 unilateral, 4.. contacts
  expect_names(refused([](auto& p) { p.constraints[4].stiffness[0] = -2.0; }),
               {"constraints[4].stiffness[0]", "problem 3", "cart", "-2", ">= 0"});
  expect_names(refused([](auto& p) { p.constraints[1].damping[0] = -0.5; }),
               {"constraints[1].damping[0]", "-0.5", ">= 0"});
  expect_names(refused([](auto& p) { p.constraints[5].friction = -0.1; }),
               {"constraints[5].friction", "-0.1", ">= 0"});
  expect_names(refused([](auto& p) { p.constraints[5].friction = kNan; }),
               {"constraints[5].friction", "nan"});
  expect_names(refused([](auto& p) { p.step_size = 0.0; }), {"step_size", "is 0", "positive"});
  expect_names(refused([](auto& p) { p.step_size = -1e-3; }), {"step_size", "-0.001"});
  expect_names(refused([](auto& p) { p.velocity[2] = kNan; }), {"velocity[2]", "nan", "finite"});
  expect_names(refused([](auto& p) { p.force.pop_back(); }), {"force", "7 values", "8"});
  expect_names(refused([](auto& p) { p.mass_matrix[1] += 1.0; }), {"mass_matrix[1][0]", "mirror"});
  expect_names(refused([](auto& p) {
                 for (std::size_t j = 0; j < 8; ++j) p.mass_matrix[9 * j] = -1.0;
               }),
               {"mass_matrix", "positive definite"});
  expect_names(refused([](auto& p) { p.constraints[4].jacobian.pop_back(); }),
               {"constraints[4].jacobian", "23 values", "24"});
  expect_names(refused([](auto& p) {
                 p.constraints[4].phi = {1.0, 2.0};
               }),
               {"constraints[4].phi", "2 values", "3"});
  expect_names(refused([](auto& p) { p.constraints[0].jacobian[3] = kNan; }),
               {"constraints[0].jacobian[3]", "nan"});
  expect_names(refused([](auto& p) { p.dimension = 4; }), {"dimension", "4", "2 or 3"});
  EXPECT_NO_THROW(validate(good()));
}

TEST(CompliantRefusals, BatchesOfUnequalShape) {
  CompliantProblem other = random_compliant({.velocities = 7}, 1);
  expect_names(refusal([&] {
                 make_batch(std::vector{good(), other});
               }),
               {"velocities", "problem 1", "7", "8"});
  CompliantBatch batch = make_batch(std::vector{good()});
  batch.phi = Buffer<double>(3);
  expect_names(refusal([&] { solve_compliant(batch, {}, Backend::cpu); }), {"phi", "3 values"});
}

TEST(CompliantRefusals, Settings) {
  CompliantSettings settings;
  settings.tolerance = 0.0;
  expect_names(refusal([&] { settings.validate(); }), {"tolerance", "0"});
  settings = {};
  settings.max_iterations = -1;
  expect_names(refusal([&] { settings.validate(); }), {"max_iterations", "-1"});
  settings = {};
  settings.threads = -2;
  expect_names(refusal([&] { settings.validate(); }), {"threads", "-2"});
  settings = {};
  settings.normal_weight = kNan;
  expect_names(refusal([&] { settings.validate(); }), {"normal_weight", "nan"});
}

TEST(CompliantRefusals, Scenarios) {
  expect_names(refusal([] { models::find_scenario("swing"); }), {"swing", "inclined_block"});
  const models::Scenario& block = models::find_scenario("inclined_block");
  expect_names(refusal([&] {
                 models::scenario_parameters(block, {{"mu", 1.0}});
               }),
               {"mu", "inclined_block", "friction"});
  expect_names(refusal([&] {
                 models::scenario_parameters(block, {{"friction", -1.0}});
               }),
               {"friction", "-1", ">= 0"});
  const models::Scenario& stack = models::find_scenario("sphere_stack");
  expect_names(refusal([&] {
                 models::scenario_parameters(stack, {{"spheres", 2.5}});
               }),
               {"spheres", "2.5", "whole number"});
  WorldRun run;
  run.worlds = 2;
  run.parameters = models::scenario_parameters(stack, {{"spheres", 2}});
  const std::vector<double> three = models::scenario_parameters(stack, {{"spheres", 3}});
  run.parameters.insert(run.parameters.end(), three.begin(), three.end());
  expect_names(refusal([&] { step_worlds(stack, run, {}, Backend::cpu); }),
               {"spheres", "world 1", "3", "2"});
  run = {};
  run.step_size = -1.0;
  expect_names(refusal([&] { step_worlds(block, run, {}, Backend::cpu); }), {"step_size", "-1"});
  run = {};
  run.worlds = 0;
  expect_names(refusal([&] { step_worlds(block, run, {}, Backend::cpu); }), {"worlds", "0"});
  run = {};
  run.parameters = {1.0};
  expect_names(refusal([&] { step_worlds(block, run, {}, Backend::cpu); }),
               {"parameters", "1 values"});
  run = {};
  run.parameters = models::scenario_parameters(block);
  run.parameters[5] = kNan;
  expect_names(refusal([&] { step_worlds(block, run, {}, Backend::cpu); }),
               {"friction", "world 0", "nan"});
}

std::vector<CompliantProblem> mixed(std::uint32_t count) {
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < count; ++i) {
    problems.push_back(random_compliant({.contacts = static_cast<int>(i % 4)}, i, 3));
  }
  return problems;
}

void expect_same(const CompliantResult& a, std::size_t from_a, const CompliantResult& b,
                 std::size_t from_b, std::size_t count, std::size_t nv, std::size_t rows) {
  EXPECT_EQ(first_difference(a.velocity, from_a * nv, b.velocity, from_b * nv, count * nv), -1);
  EXPECT_EQ(first_difference(a.increment, from_a * nv, b.increment, from_b * nv, count * nv), -1);
  EXPECT_EQ(first_difference(a.force, from_a * rows, b.force, from_b * rows, count * rows), -1);
  EXPECT_EQ(first_difference(a.status, from_a, b.status, from_b, count), -1);
  EXPECT_EQ(first_difference(a.residual, from_a, b.residual, from_b, count), -1);
  EXPECT_EQ(first_difference(a.iterations, from_a, b.iterations, from_b, count), -1);
}

TEST(CompliantBatches, DifferInTheirNumbersOfConstraints) {
  const std::vector<CompliantProblem> problems = mixed(9);
  const CompliantBatch batch = make_batch(problems);
  const CompliantResult together = solve_compliant(batch, {}, Backend::cpu);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    ASSERT_EQ(together.status.data()[p], Status::solved);
    const CompliantResult alone =
        solve_compliant(make_batch(std::span(&problems[p], 1)), {}, Backend::cpu);
    EXPECT_EQ(first_difference(together.velocity, p * 8, alone.velocity, 0, 8), -1);
  }
}

TEST(CompliantBatches, ABadProblemLeavesItsNeighboursBitIdentical) {
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const std::uint32_t count = backend == Backend::cpu ? 33 : 5;
    CompliantBatch batch = make_batch(mixed(count));
    const CompliantResult clean = solve_compliant(batch, {}, backend);
    const auto rows = static_cast<std::size_t>(batch.rows);
    const std::size_t bad = 2;
    const auto spoilt = [&](double& value, double with) {
      const double held = value;
      value = with;
      const CompliantResult result = solve_compliant(batch, {}, backend);
      const std::optional<Refusal> why = step_refusal(batch, bad);
      EXPECT_FALSE(step_refusal(batch, bad + 1));
      value = held;
      EXPECT_FALSE(step_refusal(batch, bad));
      EXPECT_EQ(result.status.data()[bad], Status::invalid_input);
      ASSERT_TRUE(why);
      EXPECT_NE(why->text().find("of problem 2 is"), std::string::npos) << why->text();
      EXPECT_TRUE(std::isnan(result.velocity.data()[bad * 8]));
      EXPECT_TRUE(std::isnan(result.residual.data()[bad]));
      expect_same(result, 0, clean, 0, bad, 8, rows);
      expect_same(result, bad + 1, clean, bad + 1, count - bad - 1, 8, rows);
    };
    spoilt(batch.velocity.data()[bad * 8 + 3], kNan);
    spoilt(batch.stiffness.data()[bad * rows], -1.0);
    spoilt(batch.damping.data()[bad * rows + 1], kNan);
    spoilt(batch.step_size.data()[bad], 0.0);
    spoilt(batch.mass_matrix.data()[bad * 64], -1.0);
    spoilt(batch.jacobian.data()[bad * rows * 8 + 5], std::numeric_limits<double>::infinity());
  }
}

TEST(CompliantBatches, TakeWhatRoundingLeavesOfZerosForSymmetric) {
  CompliantBatch batch = make_batch(mixed(3));
  double* const mass = batch.mass_matrix.data() + 64;
  for (const double mirrored : {-3e-17, -3e-6}) {
    SCOPED_TRACE(mirrored);
    mass[7] = 1e-17;
    mass[7 * 8] = mirrored;
    const bool taken = mirrored > -1e-9;
    EXPECT_EQ(step_refusal(batch, 1).has_value(), !taken);
    for (const Backend backend : {Backend::cpu, Backend::reference}) {
      const CompliantResult result = solve_compliant(batch, {}, backend);
      EXPECT_EQ(result.status.data()[1] == Status::solved, taken);
    }
  }
}

TEST(CompliantBatches, ThreadsChangeNothing) {
  const CompliantBatch batch = make_batch(mixed(50));
  CompliantSettings one;
  one.threads = 1;
  CompliantSettings three;
  three.threads = 3;
  expect_same(solve_compliant(batch, one, Backend::cpu), 0,
              solve_compliant(batch, three, Backend::cpu), 0, 50, 8,
              static_cast<std::size_t>(batch.rows));
}

TEST(CompliantBatches, PositionMapGivesTheIncrements) {
  CompliantProblem problem = good();
  problem.positions = 2;
  problem.position_map.assign(16, 0.0);
  problem.position_map[1] = 2.0;
  problem.position_map[8 + 5] = -1.0;
  const CompliantResult r = solve_compliant(make_batch(std::vector{problem}), {}, Backend::cpu);
  EXPECT_DOUBLE_EQ(r.increment.data()[0], problem.step_size * 2.0 * r.velocity.data()[1]);
  EXPECT_DOUBLE_EQ(r.increment.data()[1], -problem.step_size * r.velocity.data()[5]);
}

WorldRun blocks(std::int64_t worlds) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run;
  run.worlds = worlds;
  for (std::int64_t w = 0; w < worlds; ++w) {
    const std::vector<double> p = models::scenario_parameters(
        scenario, {{"friction", 0.4 * static_cast<double>(w) / static_cast<double>(worlds)}});
    run.parameters.insert(run.parameters.end(), p.begin(), p.end());
  }
  run.steps = 30;
  return run;
}

TEST(Worlds, AreTheSameInAnySplitAndForAnyThreads) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  const WorldRun all = blocks(37);
  CompliantSettings one;
  one.threads = 1;
  const WorldsResult together = step_worlds(scenario, all, {}, Backend::cpu);
  const WorldsResult single = step_worlds(scenario, all, one, Backend::cpu);
  EXPECT_EQ(first_difference(together.position, single.position), -1);
  EXPECT_EQ(first_difference(together.velocity, single.velocity), -1);
  EXPECT_EQ(first_difference(together.force, single.force), -1);
  const std::size_t count = scenario.parameters.size();
  for (const std::size_t w : {std::size_t{0}, std::size_t{17}, std::size_t{36}}) {
    WorldRun alone;
    alone.steps = all.steps;
    alone.stride = 7;  // chunks do not matter either
    alone.parameters.assign(all.parameters.begin() + static_cast<std::ptrdiff_t>(w * count),
                            all.parameters.begin() + static_cast<std::ptrdiff_t>((w + 1) * count));
    const WorldsResult r = step_worlds(scenario, alone, {}, Backend::cpu);
    const std::vector<double> position(
        together.position.begin() + static_cast<std::ptrdiff_t>(7 * w),
        together.position.begin() + static_cast<std::ptrdiff_t>(7 * (w + 1)));
    EXPECT_EQ(first_difference(r.position, position), -1);
    EXPECT_EQ(r.frame_time.size(), 6U);  // 0, 7, 14, 21, 28, 30
  }
}

TEST(CompliantBatches, ReasonsNameTheFieldTheIndexAndTheValue) {
  CompliantBatch batch = make_batch(mixed(3));
  const auto spoilt = [&](double& value, double with) {
    const double held = std::exchange(value, with);
    const std::optional<Refusal> why = step_refusal(batch, 1);
    value = held;
    return why ? why->text() : std::string();
  };
  const auto rows = static_cast<std::size_t>(batch.rows);
  EXPECT_EQ(spoilt(batch.step_size.data()[1], -0.5),
            "step_size of problem 1 is -0.5: must be positive and finite");
  EXPECT_EQ(spoilt(batch.stiffness.data()[rows + 1], -2.0),
            "stiffness[1] of problem 1 is -2: must be finite and >= 0");
  EXPECT_EQ(spoilt(batch.jacobian.data()[(rows + 2) * 8 + 3], kNan),
            "jacobian[2][3] of problem 1 is nan: must be finite");
  expect_names(spoilt(batch.mass_matrix.data()[64 + 1], 3.0), {"mass_matrix[1][0]", "mirror", "3"});
  EXPECT_THROW(static_cast<void>(step_refusal(batch, 3)), InvalidInput);
}

TEST(Worlds, ABadWorldIsIsolatedBitForBit) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run = blocks(9);
  run.isolate = true;
  const WorldsResult clean = step_worlds(scenario, run, {}, Backend::cpu);
  const std::size_t count = scenario.parameters.size();
  for (const std::size_t bad : {std::size_t{0}, std::size_t{4}}) {
    WorldRun spoilt = run;
    spoilt.parameters[bad * count + models::parameter_index(scenario, "mass")] = kNan;
    const WorldsResult r = step_worlds(scenario, spoilt, {}, Backend::cpu);
    EXPECT_EQ(r.status[bad], Status::invalid_input);
    for (std::size_t w = 0; w < 9; ++w) {
      for (std::size_t j = 0; j < 7; ++j) {
        if (w == bad) {
          EXPECT_TRUE(std::isnan(r.position[7 * w + j]));
        } else {
          EXPECT_EQ(r.position[7 * w + j], clean.position[7 * w + j]);
        }
      }
    }
    EXPECT_TRUE(std::isnan(r.displacement[bad]));
    EXPECT_TRUE(std::isnan(r.energy[bad]));
  }
}

TEST(Worlds, AWorldThatOverflowsIsBrokenAlone) {
  // Explicit Euler far beyond its limit: infinities, which no step can be certified with.
  const models::Scenario& scenario = models::find_scenario("spring_mass_damper");
  WorldRun run;
  run.worlds = 2;
  run.parameters = models::scenario_parameters(scenario, {{"velocity", 0.25}});
  const std::vector<double> wild =
      models::scenario_parameters(scenario, {{"integrator", 0}, {"stiffness", 1e15}});
  run.parameters.insert(run.parameters.end(), wild.begin(), wild.end());
  run.step_size = 1.0;
  run.steps = 100;
  const WorldsResult r = step_worlds(scenario, run, {}, Backend::cpu);
  EXPECT_EQ(r.status[0], Status::solved);
  EXPECT_EQ(r.status[1], Status::numerical_error);
  EXPECT_TRUE(std::isfinite(r.position[0]));
  EXPECT_TRUE(std::isnan(r.position[1]));
}

TEST(Worlds, CanBeCancelled) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run = blocks(3);
  run.steps = 1000;
  int calls = 0;
  run.progress = [&](const WorldProgress& progress) {
    EXPECT_EQ(progress.steps_total, 1000);
    return ++calls < 3;
  };
  const WorldsResult r = step_worlds(scenario, run, {}, Backend::cpu);
  EXPECT_TRUE(r.cancelled);
  EXPECT_EQ(calls, 3);
  EXPECT_LT(r.steps, 1000);
  for (const Status status : r.status) EXPECT_EQ(status, Status::cancelled);
  for (const double x : r.position) EXPECT_TRUE(std::isfinite(x));
}

TEST(Worlds, FramesHoldTheStatesAtEveryStride) {
  const models::Scenario& scenario = models::find_scenario("pendulum_joint");
  WorldRun run;
  run.worlds = 2;
  run.step_size = 1e-3;
  run.steps = 10;
  run.stride = 4;
  const WorldsResult r = step_worlds(scenario, run, {}, Backend::cpu);
  ASSERT_EQ(r.frame_time, (std::vector<double>{0.0, 0.004, 0.008, 0.01}));
  ASSERT_EQ(r.frame_state.size(), 4U * 2U * 6U);
  ASSERT_EQ(r.frame_energy.size(), 4U * 2U);
  EXPECT_EQ(r.frame_state[0], 1.0);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(r.frame_state[36 + j], r.position[j]);
}

}  // namespace
}  // namespace carom
