#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <carom/impact.hpp>

#include "cuda/cuda_test.hpp"
#include "support/random_problems.hpp"
#include "support/step_problem.hpp"

namespace carom {
namespace {

using test::Flavour;
using test::Generator;

StepBatch random_steps(Generator& random, Flavour flavour, int dimension, int contacts,
                       int directions, int count) {
  std::vector<test::StepProblem> steps;
  // A batch has one shape; the number of velocities may differ within it.
  for (int i = 0; i < count; ++i) {
    const ImpactProblem problem = test::random_problem(random, flavour, dimension, contacts);
    const test::Vector limit = test::random_limits(random, flavour, contacts);
    steps.push_back(test::step_problem(problem, limit, directions));
  }
  return test::step_batch(steps);
}

class CudaSteps : public test::CudaTest {
 protected:
  static void compare(Generator& random, int dimension, int contacts, int directions) {
    for (const Flavour flavour : test::kFlavours) {
      const StepBatch batch = random_steps(random, flavour, dimension, contacts, directions,
                                           contacts < 5 ? test::some(37, 9) : test::some(9, 2));
      for (const Selection selection : {Selection::any, Selection::lemke}) {
        SCOPED_TRACE(std::string(test::to_string(flavour)) + ", m " + std::to_string(contacts) +
                     ", k " + std::to_string(directions) + ", selection " +
                     std::to_string(static_cast<int>(selection)));
        StepSettings settings;
        settings.friction_directions = directions;
        settings.selection = selection;
        test::expect_identical(solve_steps(batch, settings, Backend::cuda),
                               solve_steps(batch, settings, Backend::cpu));
      }
    }
  }
};

TEST_F(CudaSteps, PlanarAgreesWithCpuBitForBit) {
  Generator random(81);
  for (int m = 1; m <= 8; ++m) compare(random, 2, m, 4);
}

TEST_F(CudaSteps, SpatialAgreesWithCpuBitForBit) {
  Generator random(82);
  for (int m = 1; m <= 8; ++m) compare(random, 3, m, 4);
  for (const int k : {5, 8, 16}) compare(random, 3, 2, k);
}

// Lemke's tableau of 16 contacts with 16 directions lies in global memory.
TEST_F(CudaSteps, LargestStepAgreesWithCpu) {
  Generator random(83);
  const StepBatch batch = random_steps(random, Flavour::generic, 3, 16, 16, 3);
  StepSettings settings;
  settings.friction_directions = 16;
  settings.selection = Selection::lemke;
  test::expect_identical(solve_steps(batch, settings, Backend::cuda),
                         solve_steps(batch, settings, Backend::cpu));
}

// What groups of lanes leave goes to warps: a tolerance that not every first answer meets.
TEST_F(CudaSteps, WhatGroupsLeaveIsSolved) {
  Generator random(86);
  for (const int dimension : {2, 3}) {
    for (const int contacts : {2, 4}) {
      const StepBatch batch = random_steps(random, Flavour::generic, dimension, contacts, 6, 75);
      StepSettings settings;
      settings.friction_directions = 6;
      const StepResult usual = solve_steps(batch, settings, Backend::cpu);
      std::vector<double> residuals = usual.residual.to_vector();
      std::nth_element(residuals.begin(), residuals.begin() + 37, residuals.end());
      settings.tolerance = residuals[37];
      const StepResult cpu = solve_steps(batch, settings, Backend::cpu);
      test::expect_identical(solve_steps(batch, settings, Backend::cuda), cpu);
      EXPECT_GT(std::count_if(usual.residual.data(), usual.residual.data() + 75,
                              [&](double residual) { return residual > settings.tolerance; }),
                10);
    }
  }
}

// More problems than all warps hold at once: groups go on with those that wait, some end where they
// begin (nothing approaches), are refused or left.
TEST_F(CudaSteps, WarpsTakeProblemsInTurn) {
  Generator random(87);
  for (const int dimension : {2, 3}) {
    const int contacts = dimension == 2 ? 2 : 4;
    const StepBatch few = random_steps(random, Flavour::generic, dimension, contacts, 4, 61);
    const int count = test::some(dimension == 2 ? 3001 : 1501, 701);
    StepBatch batch;
    static_cast<StepSizes&>(batch) = few;
    batch.problems = count;
    StepBatch::each_array(
        batch,
        [&](const char*, const Extents& extents, auto& to, const auto& from) {
          to = std::remove_cvref_t<decltype(to)>(static_cast<std::size_t>(extents.count()));
          for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] = from.data()[i % from.size()];
        },
        batch, few);
    const int rows = dimension * contacts;
    for (int p = 0; p < count; p += 7) {
      for (int i = 0; i < rows; ++i) {
        double& u = batch.contact_velocity.data()[p * rows + i];
        u = std::abs(u);
      }
    }
    for (int p = 3; p < count; p += 41) batch.friction.data()[p * contacts] = -1.0;
    for (const double tolerance : {1e-9, 1e-15}) {
      StepSettings settings;
      settings.tolerance = tolerance;
      test::expect_identical(solve_steps(batch, settings, Backend::cuda),
                             solve_steps(batch, settings, Backend::cpu));
    }
  }
}

TEST_F(CudaSteps, DeviceBatchGivesDeviceResult) {
  Generator random(84);
  const StepBatch host = random_steps(random, Flavour::generic, 3, 3, 4, 65);
  const auto device = copy_to(host, MemorySpace::device);
  const StepResult result = solve_steps(device, {}, Backend::cuda);
  EXPECT_EQ(result.impulse.space(), MemorySpace::device);
  const StepResult cpu = solve_steps(host, {}, Backend::cpu);
  test::expect_identical(result, cpu);
}

TEST_F(CudaSteps, PoisonedNeighbourChangesNothing) {
  Generator random(85);
  StepBatch batch = random_steps(random, Flavour::generic, 2, 2, 4, 33);
  const StepResult clean = solve_steps(batch, {}, Backend::cuda);
  batch.delassus.data()[5 * 16 + 3] = std::numeric_limits<double>::quiet_NaN();
  batch.friction.data()[7 * 2] = -0.5;
  const StepResult poisoned = solve_steps(batch, {}, Backend::cuda);
  for (std::size_t p = 0; p < 33; ++p) {
    if (p == 5 || p == 7) {
      EXPECT_EQ(poisoned.status.data()[p], Status::invalid_input);
      EXPECT_TRUE(std::isnan(poisoned.impulse.data()[p * 4]));
    } else {
      EXPECT_EQ(test::first_difference(poisoned.impulse, p * 4, clean.impulse, p * 4, 4), -1);
      EXPECT_EQ(poisoned.status.data()[p], clean.status.data()[p]);
    }
  }
}

}  // namespace
}  // namespace carom
