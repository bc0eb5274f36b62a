#include <carom/compliant.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/compliant_problems.hpp"

namespace carom {
namespace {

class CudaCompliant : public test::CudaTest {};

CompliantBatch mixed_batch(int dimension) {
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < 101; ++i) {
    problems.push_back(test::random_compliant(
        {.dimension = dimension, .contacts = static_cast<int>(i % 4)}, i, 13));
  }
  return make_batch(problems);
}

/// A thread of the device runs the text that the host runs.
TEST_F(CudaCompliant, StepsHaveTheHostsBits) {
  for (const int dimension : {2, 3}) {
    const CompliantBatch batch = mixed_batch(dimension);
    const CompliantResult host = solve_compliant(batch, {}, Backend::cpu);
    const CompliantResult device = solve_compliant(batch, {}, Backend::cuda);
    test::expect_identical(host, device);
  }
}

/// The same where Newton's method gives up and a path is followed.
TEST_F(CudaCompliant, PathsHaveTheHostsBits) {
  test::CompliantMix mix{.velocities = 6, .bilateral = 0, .unilateral = 0, .contacts = 8};
  mix.stiffest = 1e13;
  mix.step_size = 0.1;
  mix.roughest = 1.5;
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < 200; ++i) problems.push_back(test::random_compliant(mix, i, 3));
  const CompliantBatch batch = make_batch(problems);
  const CompliantResult host = solve_compliant(batch, {}, Backend::cpu);
  const CompliantResult device = solve_compliant(batch, {}, Backend::cuda);
  EXPECT_GT(*std::max_element(host.iterations.data(), host.iterations.data() + 200), 40);
  test::expect_identical(host, device);
}

/// Four spatial contacts of a body, a lane each, beside problems that groups of lanes leave:
/// contacts without friction or springs, refused numbers, residuals above the tolerance.
TEST_F(CudaCompliant, FourContactsHaveTheHostsBits) {
  for (const double stiffest : {1e6, 1e12}) {
    for (const int positions : {0, 7}) {
      test::CompliantMix mix{.velocities = 6, .bilateral = 0, .unilateral = 0, .contacts = 4};
      mix.stiffest = stiffest;
      std::vector<CompliantProblem> problems;
      for (std::uint32_t i = 0; i < 75; ++i) {
        CompliantProblem problem = test::random_compliant(mix, i, 17);
        if (positions > 0) {
          problem.positions = positions;
          problem.position_map.resize(42);
          for (std::size_t e = 0; e < 42; ++e)
            problem.position_map[e] = 0.1 * static_cast<double>(e);
        }
        CompliantConstraint& contact = problem.constraints[i % 4];
        if (i % 5 == 0) contact.friction = 0.0;
        if (i % 7 == 0) contact.damping = {0.0, 0.0, 0.0};
        if (i % 3 == 0) {
          for (CompliantConstraint& each : problem.constraints) each.jacobian_dot_v = {0, 0, 0};
        }
        problems.push_back(std::move(problem));
      }
      CompliantBatch batch = make_batch(problems);
      batch.force.data()[6 * 11 + 2] = std::numeric_limits<double>::quiet_NaN();
      batch.mass_matrix.data()[36 * 12 + 1] += 0.5;
      for (const double tolerance : {1e-9, 1e-15}) {
        CompliantSettings settings;
        settings.tolerance = tolerance;
        const CompliantResult host = solve_compliant(batch, settings, Backend::cpu);
        EXPECT_EQ(host.status.data()[11], Status::invalid_input);
        EXPECT_EQ(host.status.data()[12], Status::invalid_input);
        test::expect_identical(host, solve_compliant(batch, settings, Backend::cuda));
      }
    }
  }
}

/// More of them than all warps hold at once: groups go on with those that wait.
TEST_F(CudaCompliant, WarpsTakeProblemsInTurn) {
  test::CompliantMix mix{.velocities = 6, .bilateral = 0, .unilateral = 0, .contacts = 4};
  std::vector<CompliantProblem> problems;
  const auto count = static_cast<std::uint32_t>(test::some(901, 501));
  for (std::uint32_t i = 0; i < count; ++i) {
    problems.push_back(test::random_compliant(mix, i % 61, 19));
    if (i % 43 == 0) problems.back().constraints[1].friction = 0.0;
  }
  CompliantBatch batch = make_batch(problems);
  for (std::size_t p = 5; p < count; p += 47) {
    batch.force.data()[6 * p] = std::numeric_limits<double>::infinity();
  }
  for (const double tolerance : {1e-9, 1e-15}) {
    CompliantSettings settings;
    settings.tolerance = tolerance;
    test::expect_identical(solve_compliant(batch, settings, Backend::cpu),
                           solve_compliant(batch, settings, Backend::cuda));
  }
}

TEST_F(CudaCompliant, StaysOnTheDevice) {
  const CompliantBatch batch = mixed_batch(3);
  const CompliantResult there = solve_compliant(batch.to(MemorySpace::device), {}, Backend::cuda);
  ASSERT_EQ(there.velocity.space(), MemorySpace::device);
  const CompliantResult here = solve_compliant(batch, {}, Backend::cuda);
  test::expect_identical(there, here);
}

/// Worlds follow the host's up to the device's own sin, cos and pow.
TEST_F(CudaCompliant, WorldsFollowTheHosts) {
  const std::vector<std::pair<std::string, std::map<std::string, double>>> cases{
      {"spring_mass_damper", {}},
      {"pendulum_joint", {}},
      {"pendulum_limit", {{"angle", 20.0}}},
      {"inclined_block", {{"friction", 0.2}}},
      {"sphere_stack", {{"spheres", 7}}},
      {"elastic_foundation", {{"load", 50.0}}},
      {"compliant_block_impact", {{"stiffness_ratio", 10.0}}}};
  for (const auto& [name, overrides] : cases) {
    SCOPED_TRACE(name);
    const models::Scenario& scenario = models::find_scenario(name);
    WorldRun run;
    run.worlds = 70;
    run.parameters = models::scenario_parameters(scenario, overrides);
    run.steps = 60;
    run.stride = 25;
    const WorldsResult host = step_worlds(scenario, run, {}, Backend::cpu);
    const WorldsResult device = step_worlds(scenario, run, {}, Backend::cuda);
    ASSERT_EQ(host.frame_state.size(), device.frame_state.size());
    for (std::size_t i = 0; i < host.frame_state.size(); ++i) {
      EXPECT_NEAR(host.frame_state[i], device.frame_state[i],
                  1e-9 * std::max(1.0, std::abs(host.frame_state[i])));
    }
    for (std::size_t w = 0; w < 70; ++w) {
      EXPECT_EQ(device.status[w], Status::solved);
      EXPECT_LE(device.max_residual[w], 1e-9);
    }
  }
}

/// By the paper's programme, whose QPs the device solves: the block sticks, or is lifted off.
TEST_F(CudaCompliant, WorldsByTheProgrammeFollowTheHosts) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run;
  for (const double friction : {0.0, 0.125, 0.25, 0.375}) {
    const auto one = models::scenario_parameters(scenario, {{"friction", friction}});
    run.parameters.insert(run.parameters.end(), one.begin(), one.end());
  }
  run.worlds = 4;
  run.steps = 100;
  run.stride = 1;
  CompliantSettings settings;
  settings.law = StepLaw::programme;
  const WorldsResult host = step_worlds(scenario, run, settings, Backend::cpu);
  const WorldsResult device = step_worlds(scenario, run, settings, Backend::cuda);
  ASSERT_EQ(host.frame_state.size(), device.frame_state.size());
  for (std::size_t i = 0; i < host.frame_state.size(); ++i)
    EXPECT_NEAR(host.frame_state[i], device.frame_state[i], 1e-6);
  double highest = 0.0;
  for (std::size_t f = 0; f < device.frame_time.size(); ++f) {
    const double* const state = device.frame_state.data() + (4 * f + 1) * 13;
    highest = std::max(highest, state[2] - device.frame_state[13 + 2]);
  }
  EXPECT_NEAR(highest, 1.27824, 1e-3);  // at 0.125
  EXPECT_NEAR(device.displacement[3], 0.0, 1e-6);
}

}  // namespace
}  // namespace carom
