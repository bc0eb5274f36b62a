#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_compliant.hpp>

#include "support/message.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

/// A block on the ground, in the plane, that moves at `speed`.
CompliantBatch block(double speed, double friction) {
  CompliantConstraint contact;
  contact.type = CompliantConstraint::Type::contact;
  contact.jacobian = {0.0, 1.0, 1.0, 0.0};
  contact.phi = {-1e-4, 0.0};
  contact.stiffness = {1e4, 0.0};
  contact.damping = {1e3, 1e6};
  contact.friction = friction;
  CompliantProblem problem;
  problem.dimension = 2;
  problem.velocities = 2;
  problem.step_size = 0.01;
  problem.mass_matrix = {1.0, 0.0, 0.0, 1.0};
  problem.force = {0.0, -9.81};
  problem.velocity = {speed, 0.0};
  problem.constraints = {contact};
  return make_batch(std::vector<CompliantProblem>{problem});
}

CompliantCotangent of_velocity(double x, double z) {
  CompliantCotangent cotangent;
  cotangent.velocity = Buffer<double>::from(std::vector<double>{x, z});
  return cotangent;
}

TEST(DifferentiateCompliant, ASlidingBlockHasTheClosedForm) {
  const CompliantBatch batch = block(1.0, 0.5);
  const CompliantResult answer = solve_compliant(batch);
  ASSERT_EQ(answer.status.host()[0], Status::solved);
  const double impulse = 0.01 * answer.force.host()[0];
  const CompliantGradient gradient = differentiate_compliant(batch, answer, of_velocity(1.0, 0.0));
  EXPECT_EQ(gradient.status.host()[0], Smoothness::smooth);
  EXPECT_NEAR(gradient.friction.host()[0], -impulse, 1e-15);
  EXPECT_NEAR(gradient.velocity.host()[0], 1.0, 1e-14);
  // dp_n / dphi = -(K/s) / (1 + 1/eta), and v_x' = v_x - mu p_n.
  const double s = 0.01 * 1e4 + 1e3, eta = 0.01 * s;
  EXPECT_NEAR(gradient.phi.host()[0], 0.5 * (1e4 / s) / (1.0 + 1.0 / eta), 1e-12);
  CompliantDirection direction;
  direction.friction = Buffer<double>::from(std::vector<double>{1.0, 0.0});
  const CompliantTangent tangent = propagate_compliant(batch, answer, direction);
  EXPECT_NEAR(tangent.velocity.host()[0], -impulse, 1e-15);
  EXPECT_NEAR(tangent.velocity.host()[1], 0.0, 1e-15);
}

TEST(DifferentiateCompliant, OnlyWhatIsWantedIsThere) {
  const CompliantBatch batch = block(0.0, 0.5);
  const CompliantResult answer = solve_compliant(batch);
  const CompliantGradient gradient =
      differentiate_compliant(batch, answer, of_velocity(1.0, 1.0), {}, {}, {"friction"});
  EXPECT_TRUE(gradient.mass_matrix.empty());
  EXPECT_EQ(gradient.friction.host()[0], 0.0);  // it sticks
  EXPECT_EQ(gradient.status.host()[0], Smoothness::smooth);
  expect_names(refusal([&] {
                 static_cast<void>(
                     differentiate_compliant(batch, answer, of_velocity(1.0, 1.0), {}, {}, {"mu"}));
               }),
               {"wanted", "mu"});
  CompliantSettings programme;
  programme.law = StepLaw::programme;
  expect_names(
      refusal([&] {
        static_cast<void>(differentiate_compliant(batch, answer, of_velocity(1.0, 1.0), programme));
      }),
      {"law", "programme"});
}

}  // namespace
}  // namespace carom
