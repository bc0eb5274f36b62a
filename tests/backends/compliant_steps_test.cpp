#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <carom/compliant.hpp>

#include "support/compliant_problems.hpp"

namespace carom {
namespace {

using test::CompliantMix;
using test::random_compliant;

/// Largest |v'| of the problem, the measure of agreement.
double size_of(const CompliantResult& result, std::size_t problem, std::size_t nv) {
  double size = 1e-12;
  for (std::size_t j = 0; j < nv; ++j) {
    size = std::max(size, std::abs(test::at(result.velocity, problem, nv, j)));
  }
  return size;
}

/// The elimination on the cpu against the reference's whole system.
void expect_agreement(const CompliantMix& mix, std::uint32_t count) {
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < count; ++i) problems.push_back(random_compliant(mix, i));
  const CompliantBatch batch = make_batch(problems);
  const CompliantResult fast = solve_compliant(batch, {}, Backend::cpu);
  const CompliantResult full = solve_compliant(batch, {}, Backend::reference);
  const auto nv = static_cast<std::size_t>(mix.velocities);
  for (std::size_t p = 0; p < count; ++p) {
    ASSERT_EQ(fast.status.data()[p], Status::solved) << p << " " << fast.residual.data()[p];
    ASSERT_EQ(full.status.data()[p], Status::solved) << p << " " << full.residual.data()[p];
    EXPECT_LE(fast.residual.data()[p], 1e-9);
    const double size = size_of(full, p, nv);
    for (std::size_t j = 0; j < nv; ++j) {
      EXPECT_NEAR(test::at(fast.velocity, p, nv, j), test::at(full.velocity, p, nv, j), 1e-9 * size)
          << "problem " << p << " velocity " << j;
    }
  }
}

TEST(CompliantSteps, EliminatedAgreesWithFullBilateral) {
  expect_agreement({.bilateral = 5, .unilateral = 0, .contacts = 0}, 40);
}

TEST(CompliantSteps, EliminatedAgreesWithFullUnilateral) {
  expect_agreement({.bilateral = 2, .unilateral = 5, .contacts = 0}, 40);
}

TEST(CompliantSteps, EliminatedAgreesWithFullPlanar) {
  expect_agreement({.dimension = 2, .bilateral = 2, .unilateral = 1, .contacts = 2}, 40);
}

TEST(CompliantSteps, EliminatedAgreesWithFullSpatial) { expect_agreement({}, 40); }

/// Only bilateral rows: v' = v + h M^-1 (f + G'lambda) with (61) and (53), by plain matrices.
TEST(CompliantSteps, BilateralStepIsEquation61) {
  const CompliantMix mix{.bilateral = 4, .unilateral = 0, .contacts = 0, .stiffest = 1e6};
  const CompliantProblem problem = random_compliant(mix, 3);
  const Eigen::Index nv = mix.velocities;
  const Eigen::Map<const Eigen::MatrixXd> mass(problem.mass_matrix.data(), nv, nv);
  Eigen::MatrixXd g(4, nv);
  Eigen::VectorXd k(4), b(4), phi(4), jdv(4);
  for (Eigen::Index i = 0; i < 4; ++i) {
    const CompliantConstraint& c = problem.constraints[static_cast<std::size_t>(i)];
    g.row(i) = Eigen::Map<const Eigen::RowVectorXd>(c.jacobian.data(), nv);
    k(i) = c.stiffness[0];
    b(i) = c.damping[0];
    phi(i) = c.phi[0];
    jdv(i) = c.jacobian_dot_v[0];
  }
  const double h = problem.step_size;
  const Eigen::Map<const Eigen::VectorXd> f(problem.force.data(), nv);
  const Eigen::Map<const Eigen::VectorXd> v(problem.velocity.data(), nv);
  const Eigen::MatrixXd inverse = mass.inverse();
  const Eigen::MatrixXd mobility = g * inverse * g.transpose();
  const Eigen::MatrixXd y = (Eigen::MatrixXd::Identity(4, 4) +
                             mobility * (h * h * k + h * b).asDiagonal().toDenseMatrix())
                                .inverse();
  const Eigen::VectorXd rate =
      y * (g * v - h * mobility * k.cwiseProduct(phi) + h * g * inverse * f);
  const Eigen::VectorXd end = phi + h * rate;
  const Eigen::VectorXd lambda =
      -k.cwiseProduct(end) - b.cwiseProduct(rate) - mobility.inverse() * jdv;
  const Eigen::VectorXd expected = v + h * inverse * (g.transpose() * lambda + f);
  const CompliantResult result =
      solve_compliant(make_batch(std::vector{problem}), {}, Backend::cpu);
  for (Eigen::Index j = 0; j < nv; ++j) {
    EXPECT_NEAR(result.velocity.data()[j], expected(j), 1e-9 * expected.cwiseAbs().maxCoeff());
  }
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(result.force.data()[i], lambda(i), 1e-8 * lambda.cwiseAbs().maxCoeff());
  }
}

/// The definition itself, recomputed here: every force is its spring-damper's at the end of the
/// step, cut off at zero and at the friction cone.
TEST(CompliantSteps, ForcesAreCutSpringDampers) {
  const CompliantMix mix{.softest = 1e2, .stiffest = 1e5};
  CompliantSettings settings;
  settings.centripetal = false;
  for (std::uint32_t p = 0; p < 30; ++p) {
    const CompliantProblem problem = random_compliant(mix, p, 11);
    const CompliantResult r =
        solve_compliant(make_batch(std::vector{problem}), settings, Backend::cpu);
    ASSERT_EQ(r.status.data()[0], Status::solved);
    const Eigen::Index nv = mix.velocities;
    const Eigen::Map<const Eigen::VectorXd> v(problem.velocity.data(), nv);
    const Eigen::Map<const Eigen::VectorXd> next(r.velocity.data(), nv);
    const double h = problem.step_size;
    std::size_t row = 0;
    double largest = 1.0;
    for (std::size_t i = 0; i < r.force.size(); ++i) {
      largest = std::max(largest, std::abs(r.force.data()[i]));
    }
    for (const CompliantConstraint& c : problem.constraints) {
      std::vector<double> spring;
      for (std::size_t k = 0; k < c.phi.size(); ++k) {
        const Eigen::Map<const Eigen::RowVectorXd> g(
            c.jacobian.data() + k * static_cast<std::size_t>(nv), nv);
        const double rate = g.dot(next) + h * c.jacobian_dot_v[k];
        spring.push_back(-c.stiffness[k] * (c.phi[k] + h * rate) - c.damping[k] * rate);
      }
      const double* force = r.force.data() + row;
      if (c.type == CompliantConstraint::Type::bilateral) {
        EXPECT_NEAR(force[0], spring[0], 1e-6 * largest);
      } else {
        EXPECT_NEAR(force[0], std::max(0.0, spring[0]), 1e-6 * largest);
      }
      if (c.type == CompliantConstraint::Type::contact) {
        const double limit = c.friction * force[0];
        const double size = std::hypot(spring[1], spring[2]);
        const double factor = size > limit ? limit / size : 1.0;
        // Stiff dampers magnify the rounding of v': there the cone and the direction are compared.
        const double slack = 1e-6 * largest + (size > limit ? 0.0 : 1e-12 * c.damping[1]);
        for (std::size_t k = 1; k < 3; ++k) EXPECT_NEAR(force[k], factor * spring[k], slack);
      }
      row += c.phi.size();
    }
  }
}

TEST(CompliantSteps, PlanarAndSpatialAgreeWhereTheMotionIsPlanar) {
  // A block of the x-z plane with two feet, and the same block in space with its feet doubled in y.
  for (const double mu : {0.0, 0.2, 0.8}) {
    const double h = 0.01;
    const double inertia = 0.02;
    CompliantProblem planar;
    planar.dimension = 2;
    planar.velocities = 3;
    planar.step_size = h;
    planar.mass_matrix = {1, 0, 0, 0, 1, 0, 0, 0, inertia};
    planar.force = {3.0, -9.0, 0.0};
    planar.velocity = {0.3, -0.2, 0.5};
    CompliantProblem spatial;
    spatial.dimension = 3;
    spatial.velocities = 6;
    spatial.step_size = h;
    spatial.mass_matrix.assign(36, 0.0);
    for (std::size_t j = 0; j < 6; ++j) spatial.mass_matrix[7 * j] = j < 3 ? 1.0 : inertia;
    spatial.force = {3.0, 0.0, -9.0, 0.0, 0.0, 0.0};
    spatial.velocity = {0.3, 0.0, -0.2, 0.0, 0.5, 0.0};  // rotation about +y
    for (const double x : {-0.1, 0.1}) {
      const double z = -0.05;
      CompliantConstraint c;
      c.type = CompliantConstraint::Type::contact;
      c.friction = mu;
      c.phi = {-1e-5, 0.0};
      c.stiffness = {2e8, 0.0};
      c.damping = {2.0, 2e7};
      // w about y: x' = w z, z' = -w x.
      c.jacobian = {0, 1, -x, 1, 0, z};
      planar.constraints.push_back(c);
      for (const double y : {-0.2, 0.2}) {
        CompliantConstraint s;
        s.type = CompliantConstraint::Type::contact;
        s.friction = mu;
        s.phi = {-1e-5, 0.0, 0.0};
        s.stiffness = {1e8, 0.0, 0.0};
        s.damping = {1.0, 1e7, 1e7};
        s.jacobian = {0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x};
        spatial.constraints.push_back(s);
      }
    }
    const CompliantResult a = solve_compliant(make_batch(std::vector{planar}), {}, Backend::cpu);
    const CompliantResult b = solve_compliant(make_batch(std::vector{spatial}), {}, Backend::cpu);
    ASSERT_EQ(a.status.data()[0], Status::solved);
    ASSERT_EQ(b.status.data()[0], Status::solved);
    EXPECT_NEAR(a.velocity.data()[0], b.velocity.data()[0], 1e-9);
    EXPECT_NEAR(a.velocity.data()[1], b.velocity.data()[2], 1e-9);
    EXPECT_NEAR(a.velocity.data()[2], b.velocity.data()[4], 1e-9);
    EXPECT_NEAR(b.velocity.data()[1], 0.0, 1e-9);
    EXPECT_NEAR(b.velocity.data()[3], 0.0, 1e-9);
    EXPECT_NEAR(b.velocity.data()[5], 0.0, 1e-9);
    EXPECT_NEAR(a.force.data()[0], b.force.data()[0] + b.force.data()[3], 1e-7);
    EXPECT_NEAR(a.force.data()[1], b.force.data()[1] + b.force.data()[4], 1e-7);
  }
}

/// Stiffness and damping to their ends: certified, finite, and without growth of the velocity.
TEST(CompliantSteps, AnyStiffnessIsCertified) {
  for (const double stiffest : {1e6, 1e11, 1e15}) {
    for (const double h : {1e-6, 1e-2, 1.0}) {
      const CompliantMix mix{.softest = 0.1 * stiffest, .stiffest = stiffest, .step_size = h};
      std::vector<CompliantProblem> problems;
      for (std::uint32_t i = 0; i < 20; ++i) problems.push_back(random_compliant(mix, i, 5));
      const CompliantResult r = solve_compliant(make_batch(problems), {}, Backend::cpu);
      for (std::size_t p = 0; p < problems.size(); ++p) {
        EXPECT_EQ(r.status.data()[p], Status::solved)
            << stiffest << " " << h << " " << p << " residual " << r.residual.data()[p];
      }
    }
  }
}

/// Rigid contacts that outnumber the velocities, at large friction and steps: Newton's method alone
/// leaves one in seven of the last family without an answer.
TEST(CompliantSteps, RedundantContactsAreSolved) {
  CompliantMix mix{.velocities = 6, .bilateral = 0, .unilateral = 0, .contacts = 4};
  mix.softest = 1e3;
  mix.stiffest = 1e13;
  mix.step_size = 0.1;
  mix.roughest = 1.5;
  for (const int dimension : {2, 3}) {
    for (const int contacts : {4, 8}) {
      for (const bool duplicates : {false, true}) {
        mix.dimension = dimension;
        mix.contacts = contacts;
        mix.duplicates = duplicates;
        std::vector<CompliantProblem> problems;
        for (std::uint32_t i = 0; i < 200; ++i) problems.push_back(random_compliant(mix, i, 3));
        const CompliantResult r = solve_compliant(make_batch(problems), {}, Backend::cpu);
        for (std::size_t p = 0; p < problems.size(); ++p) {
          EXPECT_EQ(r.status.data()[p], Status::solved)
              << contacts << " contacts, " << duplicates << " problem " << p << " residual "
              << r.residual.data()[p];
        }
      }
    }
  }
}

TEST(CompliantSteps, MissingRowsAndMissingSpringsExertNothing) {
  CompliantProblem problem = random_compliant({}, 1);
  CompliantProblem without = problem;
  without.constraints.pop_back();
  for (double& k : problem.constraints.back().stiffness) k = 0.0;
  for (double& b : problem.constraints.back().damping) b = 0.0;
  for (double& a : problem.constraints.back().jacobian_dot_v) a = 0.0;
  CompliantSettings settings;
  settings.centripetal = false;
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const CompliantResult r =
        solve_compliant(make_batch(std::vector{problem, without}), settings, backend);
    for (std::size_t j = 0; j < 8; ++j) {
      EXPECT_NEAR(test::at(r.velocity, 0, 8, j), test::at(r.velocity, 1, 8, j), 1e-10);
    }
    for (std::size_t i = 10; i < 13; ++i) EXPECT_EQ(test::at(r.force, 0, 13, i), 0.0);
    for (std::size_t i = 10; i < 13; ++i) EXPECT_EQ(test::at(r.force, 1, 13, i), 0.0);
  }
}

}  // namespace
}  // namespace carom
