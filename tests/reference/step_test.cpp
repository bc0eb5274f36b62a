#include "reference/impact/step.hpp"
#include "core/constants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <carom/certificate.hpp>

#include "impact/backends.hpp"
#include "impact/step_solutions.hpp"
#include "reference/impact/mechanism.hpp"
#include "reference/problems.hpp"

namespace carom::reference {
namespace {

TEST(Step, AssemblesTheBlocksOfThePaper) {
  Matrix delassus(2, 2);
  delassus << 2.0, 0.5, 0.5, 3.0;
  const StepModel model(2, delassus, Vector::Constant(1, 0.7), 4);
  const StepLcp lcp = model.assemble(Eigen::Vector2d(-1.0, 0.25), Vector::Constant(1, 0.9));
  Matrix expected(5, 5);
  expected << 0.0, -1.0, 0.0, 0.0, 0.0,  //
      1.0, 2.0, 0.5, -0.5, 0.0,          //
      0.0, 0.5, 3.0, -3.0, 1.0,          //
      0.0, -0.5, -3.0, 3.0, 1.0,         //
      0.0, 0.7, -1.0, -1.0, 0.0;
  Vector vector(5);
  vector << 0.9, -1.0, 0.25, -0.25, 0.0;
  EXPECT_EQ(lcp.matrix, expected);
  EXPECT_EQ(lcp.vector, vector);

  const StepLcp unlimited =
      model.assemble(Eigen::Vector2d(-1.0, 0.25), Vector::Constant(1, kInfinity));
  EXPECT_EQ(unlimited.matrix, Matrix(expected.bottomRightCorner(4, 4)));
  EXPECT_EQ(unlimited.vector, Vector(vector.tail(4)));
}

TEST(Step, SpatialDirectionsAreEvenlySpaced) {
  const StepModel model(3, Matrix::Identity(3, 3), Vector::Ones(1), 6);
  ASSERT_EQ(model.polygon().cols(), 6);
  for (int j = 0; j < 6; ++j) {
    EXPECT_NEAR(model.polygon().col(j).norm(), 1.0, 1e-15);
    EXPECT_NEAR(model.polygon().col(j).dot(model.polygon().col((j + 1) % 6)), 0.5, 1e-15);
  }
  EXPECT_EQ(model.polygon()(0, 0), 1.0);
}

// A point of unit mass: v' = v + lambda, friction at its bound where it cannot stop the slip.
TEST(Step, PointMassInClosedForm) {
  const StepModel model(2, Matrix::Identity(2, 2), Vector::Constant(1, 0.5), 4);
  const Vector before = Eigen::Vector2d(-1.0, 0.8);
  const StepSolution limited = model.solve(before, Vector::Constant(1, 0.6), 1e-9);
  ASSERT_EQ(limited.status, Status::solved);
  EXPECT_NEAR(limited.impulse[0], 0.6, 1e-15);
  EXPECT_NEAR(limited.impulse[1], -0.3, 1e-15);
  EXPECT_NEAR(limited.contact_velocity[0], -0.4, 1e-15);
  EXPECT_NEAR(limited.contact_velocity[1], 0.5, 1e-15);
  const StepSolution full = model.solve(before, Vector::Constant(1, 3.0), 1e-9);
  ASSERT_EQ(full.status, Status::solved);
  EXPECT_NEAR(full.impulse[0], 1.0, 1e-15);
  EXPECT_NEAR(full.impulse[1], -0.5, 1e-15);
}

// In any unit of mass a wrong impulse is as wrong, by the reference's judge and by the solvers'.
TEST(Step, ResidualSeesAWrongImpulse) {
  const Vector before = Eigen::Vector2d(-1.0, 0.8);
  for (const double mass : {0x1p-20, 1.0, 0x1p20}) {
    const Matrix delassus = Matrix::Identity(2, 2) / mass;
    const StepModel model(2, delassus, Vector::Constant(1, 0.5), 4);
    const Vector limit = Vector::Constant(1, 3.0 * mass);
    const auto residual = [&](double normal, double tangent) {
      const Vector impulse = mass * Eigen::Vector2d(normal, tangent);
      const double own = model.residual(before, limit, impulse);
      const double scale = kernels::contact_scale<2>(delassus.data(), 1, 0);
      const double friction = 0.5;
      Vector next(2);
      EXPECT_NEAR(
          certificate::step_residual<2>({}, 1, delassus.data(), &scale, before.data(), &friction,
                                        limit.data(), impulse.data(), next.data()),
          own, 1e-15);
      return own;
    };
    EXPECT_LE(residual(1.0, -0.5), 1e-15);
    EXPECT_NEAR(residual(1.003, -0.5), 0.003, 1e-12);  // separates
    EXPECT_NEAR(residual(1.0, -0.501), 0.001, 1e-12);  // rubs more than mu lambda_n
    EXPECT_NEAR(residual(1.0, 0.5), 0.5, 1e-12);       // drives
    EXPECT_NEAR(residual(0.0, 0.0), 1.0, 1e-12);       // beta = 1 below its limit
    EXPECT_NEAR(residual(0.0, -1e-3), 1.0, 1e-12);
  }
}

struct Shape {
  int dimension, contacts, velocities;
};

class RandomSteps : public testing::TestWithParam<Shape> {};

TEST_P(RandomSteps, LemkeIsAmongTheEnumeratedAndKeepsTheTheorems) {
  const Shape shape = GetParam();
  std::mt19937_64 generator(100 * shape.dimension + 10 * shape.contacts + shape.velocities);
  std::uniform_real_distribution<double> unit;
  int several = 0;
  for (const double friction : {0.0, 0.3, 1.0, 5.0, 1e5}) {
    for (int trial = 0; trial < 20; ++trial) {
      const Mechanism mechanism = make_mechanism(
          random_problem(generator, shape.dimension, shape.contacts, shape.velocities, friction));
      const StepModel model(shape.dimension, mechanism.delassus, mechanism.friction, 4);
      const Vector& v = mechanism.velocity;
      const Vector before = mechanism.jacobian * v;
      Vector limit(shape.contacts);
      for (double& value : limit) value = trial % 4 == 0 ? kInfinity : 2.0 * unit(generator);

      const StepSolution lemke = model.solve(before, limit, 1e-9);
      ASSERT_EQ(lemke.status, Status::solved) << friction << " " << trial;
      EXPECT_LE(lemke.residual, 1e-9);
      const Vector after = v + mechanism.response * lemke.impulse;
      // Theorem 7.
      EXPECT_LE(mechanism.kinetic_energy(after), mechanism.kinetic_energy(v) * (1.0 + 1e-9));
      // Lemma 13: some contact is at its limit or none approaches.
      const double nearest = (limit - lemke.impulse.head(shape.contacts)).minCoeff();
      EXPECT_TRUE(nearest < 1e-9 || !mechanism.approaches(lemke.contact_velocity, 1e-9));

      const auto velocity_of = [&](const Vector& impulse) -> Vector {
        return v + mechanism.response * impulse;
      };
      const std::vector<dense::StepSolution> all =
          dense::enumerate_step({shape.dimension, mechanism.delassus, mechanism.friction, 4},
                                before, limit, 1e-9, velocity_of, 1e-7);
      ASSERT_FALSE(all.empty());
      double distance = kInfinity;
      for (const dense::StepSolution& solution : all) {
        EXPECT_LE(model.residual(before, limit, solution.impulse), 1e-9);
        distance =
            std::min(distance, (velocity_of(solution.impulse) - after).cwiseAbs().maxCoeff());
      }
      EXPECT_LE(distance, 1e-7) << friction << " " << trial << " of " << all.size();
      if (friction == 0.0) {
        EXPECT_EQ(all.size(), 1U);  // v' is then a projection
      }
      several += all.size() > 1 ? 1 : 0;
    }
  }
  RecordProperty("steps_with_several_outcomes", several);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RandomSteps,
                         testing::Values(Shape{2, 1, 2}, Shape{2, 1, 4}, Shape{2, 2, 3},
                                         Shape{2, 2, 5}, Shape{2, 3, 3}, Shape{2, 3, 7},
                                         Shape{3, 1, 3}, Shape{3, 1, 6}, Shape{3, 2, 4},
                                         Shape{3, 2, 6}));

TEST(Step, DuplicatedContactActsAsOne) {
  std::mt19937_64 generator(3);
  const ImpactProblem single = random_problem(generator, 2, 1, 3, 0.4);
  ImpactProblem twice = single;
  twice.contacts = 2;
  for (auto* rows : {&twice.normal_jacobian, &twice.tangent_jacobian, &twice.friction}) {
    const std::vector<double> copy = *rows;
    rows->insert(rows->end(), copy.begin(), copy.end());
  }
  const auto after = [](const ImpactProblem& problem, double limit) -> Vector {
    const Mechanism mechanism = make_mechanism(problem);
    const StepModel model(2, mechanism.delassus, mechanism.friction, 4);
    const StepSolution solution = model.solve(mechanism.jacobian * mechanism.velocity,
                                              Vector::Constant(mechanism.contacts(), limit), 1e-9);
    EXPECT_EQ(solution.status, Status::solved);
    return mechanism.velocity + mechanism.response * solution.impulse;
  };
  EXPECT_LE((after(single, kInfinity) - after(twice, kInfinity)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE((after(single, 0.2) - after(twice, 0.1)).cwiseAbs().maxCoeff(), 1e-12);
}

// Whole numbers make exact ties, a repeated contact a singular matrix, and slow contacts beside
// large limits a badly scaled vector.
TEST(Step, SolvesTiedSingularAndBadlyScaledProblems) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> unit;
  for (const auto& [dimension, contacts, velocities] :
       {Shape{2, 2, 3}, Shape{2, 4, 3}, Shape{2, 5, 9}, Shape{2, 8, 6}, Shape{3, 2, 6},
        Shape{3, 4, 3}, Shape{3, 4, 6}}) {
    for (const double friction : {0.0, 0.5, 1.0, 1e5}) {
      for (int trial = 0; trial < 45; ++trial) {
        ImpactProblem problem =
            random_problem(generator, dimension, contacts, velocities, friction);
        if (trial % 3 == 0) {
          for (auto* values :
               {&problem.normal_jacobian, &problem.tangent_jacobian, &problem.velocity}) {
            for (double& value : *values) value = std::round(value);
          }
        } else if (trial % 3 == 1) {
          std::copy_n(problem.normal_jacobian.begin(), velocities,
                      problem.normal_jacobian.begin() + velocities);
          std::copy_n(problem.tangent_jacobian.begin(), (dimension - 1) * velocities,
                      problem.tangent_jacobian.begin() + (dimension - 1) * velocities);
        } else {
          for (double& value : problem.velocity) value *= 1e-6;
        }
        const Mechanism mechanism = make_mechanism(problem);
        const StepModel model(dimension, mechanism.delassus, mechanism.friction, 4);
        Vector limit(contacts);
        for (double& value : limit) value = trial % 5 == 0 ? kInfinity : 2.0 * unit(generator);
        const StepSolution solution =
            model.solve(mechanism.jacobian * mechanism.velocity, limit, 1e-9);
        ASSERT_EQ(solution.status, Status::solved)
            << dimension << " " << contacts << " " << velocities << " " << friction << " " << trial;
        EXPECT_LE(
            mechanism.kinetic_energy(mechanism.velocity + mechanism.response * solution.impulse),
            mechanism.kinetic_energy(mechanism.velocity) * (1.0 + 1e-9));
      }
    }
  }
}

TEST(Step, CombinationsCountTheModes) {
  const auto count = [](int dimension, double friction, double limit) {
    const int rows = 2 * dimension;
    const dense::StepModel model(dimension, Matrix::Identity(rows, rows),
                                 Vector::Constant(2, friction), 4);
    return dense::combinations(model, Vector::Constant(2, limit));
  };
  EXPECT_EQ(count(2, 1.0, kInfinity), 16);  // open, stick, two slides
  EXPECT_EQ(count(2, 1.0, 1.0), 49);
  EXPECT_EQ(count(2, 0.0, kInfinity), 4);
  EXPECT_EQ(count(3, 1.0, kInfinity), 100);  // open, stick, four corners, four edges
}

TEST(Step, BatchIsolatesAPoisonedNeighbour) {
  StepBatch batch;
  batch.problems = 3;
  batch.dimension = 2;
  batch.contacts = 1;
  std::vector<double> velocity = {-1, 0.8, -1, 0.8, -1, 0.8};
  const std::vector<double> delassus = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1};
  batch.delassus = Buffer<double>::from(delassus);
  batch.friction = Buffer<double>::from(std::vector<double>{0.5, 0.5, 0.5});
  batch.max_impulse = Buffer<double>::from(std::vector<double>{0.6, 0.6, kInfinity});
  velocity[2] = std::numeric_limits<double>::quiet_NaN();
  batch.contact_velocity = Buffer<double>::from(velocity);
  const StepResult result = reference::solve_steps(batch, {});
  EXPECT_EQ(result.status.host()[0], Status::solved);
  EXPECT_EQ(result.status.host()[1], Status::invalid_input);
  EXPECT_EQ(result.status.host()[2], Status::solved);
  EXPECT_NEAR(result.impulse.host()[0], 0.6, 1e-15);
  EXPECT_TRUE(std::isnan(result.impulse.host()[2]));
  EXPECT_NEAR(result.impulse.host()[4], 1.0, 1e-15);
  EXPECT_NEAR(result.contact_velocity.host()[4], 0.0, 1e-15);
}

}  // namespace
}  // namespace carom::reference
