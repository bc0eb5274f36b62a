#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "impact/kernels/enumerate.hpp"
#include "support/enumerated.hpp"
#include "support/random_problems.hpp"
#include "support/scaled_step.hpp"
#include "support/step_problem.hpp"

// The body of src/impact/kernels/enumerate.hpp beside the reference's own enumeration.
namespace carom {
namespace {

using test::Flavour;
using test::Generator;
using test::Matrix;
using test::StepProblem;
using test::Vector;

struct Outcome {
  Vector impulse;
  Vector velocity;  // J v'
};

template <int Dim>
std::vector<Outcome> enumerate(const StepProblem& step) {
  const int m = step.contacts;
  const int rows = Dim * m;
  const test::ScaledStep<Dim> scaled(step);
  std::vector<double> memory(static_cast<std::size_t>(kernels::enumeration_workspace(rows)));
  kernels::StepEnumerator<Dim> enumerator(m, scaled.polygon, scaled.delassus.data(),
                                          step.friction.data(), scaled.u.data(),
                                          scaled.limit.data(), memory.data());
  std::vector<Outcome> outcomes;
  const int count = enumerator.run();
  for (int o = 0; o < count; ++o) {
    const Eigen::Map<const Vector> impulse(enumerator.impulse(o), rows);
    const Eigen::Map<const Vector> velocity(enumerator.impulse(o) + rows, rows);
    outcomes.push_back({scaled.scale.cwiseProduct(impulse), velocity.cwiseQuotient(scaled.scale)});
  }
  return outcomes;
}

class Enumeration : public ::testing::TestWithParam<Flavour> {};

TEST_P(Enumeration, FindsTheOutcomesOfTheReference) {
  Generator random(400 + static_cast<std::uint64_t>(GetParam()));
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const int dimension = 2 + trial % 2;
    const int m = dimension == 2 ? random.integer(1, 4) : random.integer(1, 2);
    const ImpactProblem problem = test::random_problem(random, GetParam(), dimension, m);
    const StepProblem step = test::step_problem(problem, test::random_limits(random, GetParam(), m),
                                                random.integer(4, 8));
    const std::vector<Outcome> found = dimension == 2 ? enumerate<2>(step) : enumerate<3>(step);
    const std::vector<Vector> expected = test::enumerated(step);
    ASSERT_EQ(found.size(), expected.size());
    const double speed = step.contact_velocity().cwiseAbs().maxCoeff();
    for (const Outcome& outcome : found) {
      EXPECT_LE(test::full_residual(step, outcome.impulse), 1e-8);
      double nearest = HUGE_VAL;
      for (const Vector& known : expected) {
        nearest = std::min(nearest, (outcome.velocity - known).cwiseAbs().maxCoeff());
      }
      EXPECT_LE(nearest, 1e-6 * speed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Flavours, Enumeration,
                         ::testing::Values(Flavour::generic, Flavour::rank_deficient,
                                           Flavour::duplicated, Flavour::frictionless,
                                           Flavour::mixed_scales, Flavour::vertical,
                                           Flavour::zero_limits),
                         [](const auto& flavour) {
                           return std::string(test::to_string(flavour.param));
                         });

}  // namespace
}  // namespace carom
