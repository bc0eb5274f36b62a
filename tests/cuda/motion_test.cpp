#include <carom/motion.hpp>

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <carom/models/motions.hpp>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/own_mechanisms.hpp"

namespace carom {
namespace {

class CudaMotion : public test::CudaTest {};

MotionSettings settings_of(const models::MotionModel& model) {
  MotionSettings settings;
  settings.samples = test::some(200, 2);
  settings.duration = model.duration;
  settings.step_size = model.step_size;
  settings.coefficient = model.coefficient;
  settings.max_events = 300;
  settings.keep_samples = 1;
  settings.keep_events = 20;
  settings.grid = 0.25 * model.duration;
  return settings;
}

void expect_same(const MotionBatch& batch, const MotionSettings& settings) {
  const MotionResult cpu = simulate_motions(batch, settings, Backend::cpu);
  const MotionResult cuda = simulate_motions(batch, settings, Backend::cuda);
  test::expect_identical(cpu, cuda);
  EXPECT_EQ(summarise(cpu, 0).ended_failed, 0);
}

TEST_F(CudaMotion, SameBitsAsCpuForEveryMechanism) {
  for (const models::MotionModel& model : models::motions()) {
    SCOPED_TRACE(model.name);
    const MotionProblem problem = models::build_motion(model.name);
    expect_same(make_batch({&problem, 1}), settings_of(model));
  }
}

TEST_F(CudaMotion, RefusedProblemsOfEveryMechanismHarmNoNeighbour) {
  for (const models::MotionModel& model : models::motions()) {
    SCOPED_TRACE(model.name);
    const MotionProblem one = models::build_motion(model.name);
    MotionProblem refused = one;
    refused.velocity[0] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<MotionProblem> problems{one, refused, one};
    const MotionBatch batch = make_batch(problems);
    MotionSettings settings = settings_of(model);
    settings.duration = 0.25 * model.duration;
    settings.max_events = 10000;
    settings.samples = 3;
    settings.keep_samples = 2;
    settings.grid = 0.1 * settings.duration;
    const MotionResult cpu = simulate_motions(batch, settings, Backend::cpu);
    const MotionResult device =
        simulate_motions(batch.to(MemorySpace::device), settings, Backend::cuda);
    EXPECT_EQ(device.end.space(), MemorySpace::device);
    test::expect_identical(cpu, copy_to(device, MemorySpace::host));
    EXPECT_EQ(cpu.end.host()[static_cast<std::size_t>(settings.samples)], MotionEnd::invalid_input);
  }
}

/// Where the first impact's table is the narrow and the wide one.
TEST_F(CudaMotion, SameFirstImpactsAsCpu) {
  for (const char* name : {"disk_stack_drop", "bar_on_steps_drop", "compass_walk"}) {
    SCOPED_TRACE(name);
    const models::MotionModel& model = models::find_motion(name);
    const MotionProblem problem = models::build_motion(name);
    const std::vector<MotionProblem> problems{problem, problem};
    MotionSettings settings = settings_of(model);
    settings.samples = test::some(400, 20);
    settings.first_sample = 8192 - settings.samples / 2;
    settings.max_events = 2;
    expect_same(make_batch(problems), settings);
  }
}

TEST_F(CudaMotion, SameBitsForOwnMechanisms) {
  MotionSettings settings;
  settings.duration = 0.8;
  settings.samples = test::some(200, 2);
  settings.keep_samples = 1;
  settings.keep_events = 20;
  const MotionProblem hammer = test::hammer_problem();
  expect_same(make_batch({&hammer, 1}), settings);
  SpatialTree balls = test::hammer_tree();
  balls.links[1].ball = true;
  balls.links[1].stiffness = 0.0;
  std::vector<double> at = hammer.position;
  at.erase(at.begin() + 7);
  at.insert(at.begin() + 7, {0.8, 0.0, 0.6, 0.0});
  std::vector<double> rates = hammer.velocity;
  rates.insert(rates.begin() + 6, {1.0, 2.0});
  const MotionProblem turning = motion_problem(balls, at, rates);
  expect_same(make_batch({&turning, 1}), settings);
  MechanismTree tree;
  TreeLink body;
  body.inertia = 0.3;
  TreeLink leg;
  leg.parent = 0;
  leg.slides = true;
  leg.axis = -1.5;
  leg.inertia = 0.1;
  leg.stiffness = 200.0;
  leg.damping = 1.0;
  tree.links = {body, leg};
  for (const double x : {-0.2, 0.2}) {
    TreeContact toe;
    toe.link = 1;
    toe.point = {x, 0.4};
    toe.friction = 0.6;
    tree.contacts.push_back(toe);
  }
  const std::vector<double> q{0.0, 0.3, 0.1, 0.0};
  const std::vector<double> v{0.5, 0.0, 0.3, 0.0};
  const MotionProblem hopper = motion_problem(tree, q, v);
  expect_same(make_batch({&hopper, 1}), settings);
}

TEST_F(CudaMotion, RefusedProblemsAndShardsAndDrives) {
  std::vector<MotionProblem> problems;
  for (int i = 0; i < 4; ++i) problems.push_back(models::build_motion("rocking_block_drop"));
  for (MotionProblem& problem : problems) {
    problem.drive_interval = 0.1;
    problem.drive = {1.0, 0.0, 0.2, -1.0, 0.0, 0.0};
    problem.velocity_spread = {0.1, 0.0, 0.1};
  }
  problems[1].velocity[0] = std::numeric_limits<double>::quiet_NaN();
  MotionSettings settings;
  settings.duration = 0.3;
  settings.samples = 3;
  settings.first_problem = 7;
  settings.first_sample = 5;
  const MotionBatch batch = make_batch(problems);
  const MotionResult cpu = simulate_motions(batch, settings, Backend::cpu);
  test::expect_identical(cpu, simulate_motions(batch, settings, Backend::cuda));
  EXPECT_EQ(cpu.end.host()[3], MotionEnd::invalid_input);
  EXPECT_NE(cpu.s.host()[0], cpu.s.host()[6]);
}

}  // namespace
}  // namespace carom
