#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <carom/compliant.hpp>

#include "compliant/programme.hpp"
#include "support/compliant_problems.hpp"

/// The paper's convex programme (StepLaw::programme).
namespace carom {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

CompliantSettings programme() {
  CompliantSettings settings;
  settings.law = StepLaw::programme;
  return settings;
}

/// A particle of unit mass on a floor: x along it, z up; presses with 9 N.
CompliantProblem particle(double mu, double tangent_damping, double speed) {
  CompliantProblem problem;
  problem.dimension = 2;
  problem.velocities = 2;
  problem.step_size = 0.01;
  problem.mass_matrix = {1, 0, 0, 1};
  problem.force = {0.0, -9.0};
  problem.velocity = {speed, 0.0};
  CompliantConstraint floor;
  floor.type = CompliantConstraint::Type::contact;
  floor.jacobian = {0, 1, 1, 0};
  floor.stiffness = {1e10, 0.0};
  floor.damping = {1.0, tangent_damping};
  floor.friction = mu;
  problem.constraints.push_back(floor);
  return problem;
}

TEST(CompliantProgramme, IsTheLawWhereNothingSlides) {
  const CompliantBatch batch = make_batch(std::vector{particle(0.5, 1e4, 1e-3)});
  const CompliantResult law = solve_compliant(batch, {}, Backend::cpu);
  const CompliantResult convex = solve_compliant(batch, programme(), Backend::cpu);
  ASSERT_EQ(convex.status.data()[0], Status::solved) << convex.residual.data()[0];
  EXPECT_NEAR(convex.force.data()[0], law.force.data()[0], 1e-6);
  EXPECT_NEAR(convex.force.data()[1], law.force.data()[1], 1e-2 * std::abs(law.force.data()[1]));
}

/// The documented reason why it is not the default: with the paper's own damping 1e6/h a sliding
/// contact presses as hard as stopping it takes.
TEST(CompliantProgramme, InflatesTheNormalForce) {
  const double mu = 0.25;
  const CompliantBatch batch = make_batch(std::vector{particle(mu, 1e8, 1.0)});
  const CompliantResult law = solve_compliant(batch, {}, Backend::cpu);
  EXPECT_NEAR(law.force.data()[0], 9.0, 1e-4);
  EXPECT_NEAR(law.force.data()[1], -mu * 9.0, 1e-4);
  const CompliantResult convex = solve_compliant(batch, programme(), Backend::cpu);
  ASSERT_EQ(convex.status.data()[0], Status::solved) << convex.residual.data()[0];
  const double stopping = 1.0 / 0.01;
  EXPECT_NEAR(convex.force.data()[0], stopping / mu, 1e-2 * stopping / mu);
  EXPECT_NEAR(convex.velocity.data()[0], 0.0, 1e-3);
  EXPECT_GT(convex.velocity.data()[1], 1.0) << "it hops";
}

/// Two equal stiff springs beside each other under a beam, the load nearer to the outer one. The
/// law gives them the forces of statics, 2.5 N and 7.5 N. The programme spares the outer spring by
/// pressing the inner one, which does not even touch.
TEST(CompliantProgramme, TradesUnilateralForces) {
  CompliantProblem beam;  // height and tilt
  beam.velocities = 2;
  beam.step_size = 0.01;
  beam.mass_matrix = {1, 0, 0, 1};
  beam.force = {-10.0, -8.0};
  beam.velocity = {0.0, 0.0};
  const double stiffness = 1e7;
  for (const double x : {0.2, 1.0}) {
    CompliantConstraint spring;
    spring.type = CompliantConstraint::Type::unilateral;
    spring.jacobian = {1.0, x};
    spring.stiffness = {stiffness};
    spring.damping = {0.0};
    beam.constraints.push_back(spring);
  }
  const CompliantBatch batch = make_batch(std::vector{beam});
  const CompliantResult law = solve_compliant(batch, {}, Backend::cpu);
  const CompliantResult convex = solve_compliant(batch, programme(), Backend::cpu);
  ASSERT_EQ(law.status.data()[0], Status::solved);
  ASSERT_EQ(convex.status.data()[0], Status::solved);
  const auto springs = [&](const CompliantResult& r, double x) {
    const double rate = r.velocity.data()[0] + x * r.velocity.data()[1];
    return std::max(0.0, -stiffness * beam.step_size * rate);
  };
  EXPECT_NEAR(law.force.data()[0], 2.5, 0.05);
  EXPECT_NEAR(law.force.data()[1], 7.5, 0.05);
  EXPECT_NEAR(law.force.data()[0], springs(law, 0.2), 1e-5);
  EXPECT_NEAR(law.force.data()[1], springs(law, 1.0), 1e-5);
  EXPECT_NEAR(convex.force.data()[0], 1.2 * 18.0 / 5.44, 0.05);
  EXPECT_NEAR(convex.force.data()[1], 2.0 * 18.0 / 5.44, 0.05);
  EXPECT_NEAR(springs(convex, 0.2), 0.0, 1e-9);
}

/// Rows many to a velocity go to a method of their own: its forces are those of the active set on
/// the full programme, for soft and stiff springs, loads that tilt and rows without a load.
TEST(CompliantProgramme, FoundationsAgreeWithTheFullProgramme) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(-1.0, 1.0);
  int tilted = 0;
  for (const double stiffness : {1e3, 1e6, 1e9}) {
    for (int trial = 0; trial < 6; ++trial) {
      CompliantProblem block;  // height and two tilts
      block.velocities = 3;
      block.step_size = 0.01;
      block.mass_matrix = {8, 0.2, 0, 0.2, 1.3, 0.1, 0, 0.1, 1.5};
      block.force = {-80.0, 40.0 * draw(random), 40.0 * draw(random)};
      block.velocity = {0.01 * draw(random), 0.01 * draw(random), 0.01 * draw(random)};
      for (int row = 0; row < 36; ++row) {
        CompliantConstraint spring;
        spring.type = CompliantConstraint::Type::unilateral;
        spring.jacobian = {1.0, draw(random), draw(random)};
        spring.phi = {1e-6 * draw(random)};
        spring.stiffness = {stiffness};
        spring.damping = {1.0};
        block.constraints.push_back(spring);
      }
      const CompliantBatch batch = make_batch(std::vector{block});
      CompliantSettings full = programme();
      full.method = QpMethod::active_set;
      const CompliantResult quick = solve_compliant(batch, programme(), Backend::cpu);
      const CompliantResult exact = solve_compliant(batch, full, Backend::cpu);
      ASSERT_EQ(quick.status.data()[0], Status::solved);
      ASSERT_EQ(exact.status.data()[0], Status::solved);
      double size = 0.0;
      for (int i = 0; i < 36; ++i) size = std::max(size, exact.force.data()[i]);
      for (int i = 0; i < 36; ++i) {
        EXPECT_NEAR(quick.force.data()[i], exact.force.data()[i], 1e-6 * size) << stiffness;
        tilted += exact.force.data()[i] < 1e-3 * size ? 1 : 0;
      }
    }
  }
  EXPECT_GT(tilted, 10);
}

/// H, g, A and q against the un-eliminated equations, at random p: v' and the bilateral impulses
/// from one linear system, then beta, the excess over the spring-dampers and the objective as
/// defined.
TEST(CompliantProgramme, EliminatedTermsAreThoseOfTheFullProblem) {
  for (std::uint32_t index = 0; index < 20; ++index) {
    const test::CompliantMix mix{.bilateral = 3, .unilateral = 2, .contacts = 2, .stiffest = 1e9};
    const CompliantProblem problem = test::random_compliant(mix, index, 33);
    const CompliantBatch batch = make_batch(std::vector{problem});
    const ConvexProgramme eliminated = convex_programme(batch, 0, false, 0.0);
    const Eigen::Index nv = mix.velocities;
    const Eigen::Index m = batch.rows;
    const double h = problem.step_size;
    const Eigen::Map<const Eigen::MatrixXd> mass(problem.mass_matrix.data(), nv, nv);
    const Eigen::Map<const Eigen::VectorXd> v(problem.velocity.data(), nv);
    const Eigen::Map<const Eigen::VectorXd> f(problem.force.data(), nv);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> g(batch.jacobian.data(), m, nv);
    // Excess h (lambda - s) of every row for impulses p of the rows that are not bilateral.
    const auto excess_of = [&](const Eigen::VectorXd& p, Eigen::VectorXd& all) {
      const Eigen::Index nb = mix.bilateral;
      Eigen::MatrixXd system = Eigen::MatrixXd::Zero(nv + nb, nv + nb);
      Eigen::VectorXd right(nv + nb);
      all = Eigen::VectorXd::Zero(m);
      for (std::size_t i = 0; i < eliminated.row.size(); ++i) {
        all(eliminated.row[i]) = p(static_cast<Eigen::Index>(i));
      }
      system.topLeftCorner(nv, nv) = mass;
      system.topRightCorner(nv, nb) = -g.topRows(nb).transpose();
      right.head(nv) = mass * v + h * f + g.transpose() * all;
      const auto eta = [&](Eigen::Index i) {
        return h * (h * batch.stiffness.data()[i] + batch.damping.data()[i]);
      };
      const auto constant = [&](Eigen::Index i) {
        return eta(i) * h * batch.jacobian_dot_v.data()[i] +
               h * batch.stiffness.data()[i] * batch.phi.data()[i];
      };
      for (Eigen::Index i = 0; i < nb; ++i) {
        system.row(nv + i).head(nv) = g.row(i);
        system(nv + i, nv + i) = 1.0 / eta(i);
        right(nv + i) = -constant(i) / eta(i);
      }
      const Eigen::VectorXd x = system.fullPivLu().solve(right);
      all.head(nb) = x.tail(nb);
      Eigen::VectorXd excess(m);
      for (Eigen::Index i = 0; i < m; ++i) {
        excess(i) = all(i) + eta(i) * g.row(i).dot(x.head(nv)) + constant(i);
      }
      return excess;
    };
    const auto objective = [&](const Eigen::VectorXd& p) {
      Eigen::VectorXd all;
      const Eigen::VectorXd excess = excess_of(p, all);
      double sum = 0.0;
      for (const int i : eliminated.row) {
        const double square = all(i) * all(i);
        const bool tangent = batch.type.data()[i] == RowType::tangent;
        sum += tangent ? square + excess(i) * excess(i) : square / h;
      }
      return 0.5 * sum;
    };
    test::Draws draw(99, index);
    Eigen::VectorXd p(static_cast<Eigen::Index>(eliminated.row.size()));
    const double start = objective(Eigen::VectorXd::Zero(p.size()));
    for (int trial = 0; trial < 5; ++trial) {
      for (double& x : p) x = draw.uniform(-1.0, 1.0);
      const double quadratic =
          eliminated.scale * (0.5 * p.dot(eliminated.hessian * p) + eliminated.gradient.dot(p));
      const double full = objective(p);
      EXPECT_NEAR(quadratic, full - start, 1e-9 * std::max(full, start));
      Eigen::VectorXd all;
      const Eigen::VectorXd excess = excess_of(p, all);
      const Eigen::VectorXd slack = eliminated.matrix * p - eliminated.bound;
      Eigen::Index signed_row = 0;
      for (std::size_t i = 0; i < eliminated.row.size(); ++i) {
        if (eliminated.type[i] == RowType::tangent) continue;
        const double ratio = excess(eliminated.row[i]) / slack(signed_row++);
        const int row = eliminated.row[i];
        const double eta = h * (h * batch.stiffness.data()[row] + batch.damping.data()[row]);
        EXPECT_GE(ratio, 1.0);  // the row was divided by 1 + eta D_ii
        EXPECT_LE(ratio, 1.0 + eta * 1e3);
        // The same factor at another p.
        const Eigen::VectorXd other = -0.5 * p;
        Eigen::VectorXd unused;
        const double again = excess_of(other, unused)(row);
        const double expected =
            ratio * ((eliminated.matrix * other - eliminated.bound)(signed_row - 1));
        EXPECT_NEAR(again, expected, 1e-9 * (std::abs(again) + ratio));
      }
    }
  }
}

/// The eliminated programme against one with v', p of the bilateral rows and beta as variables.
TEST(CompliantProgramme, EliminatedAgreesWithFull) {
  for (std::uint32_t index = 0; index < 12; ++index) {
    const test::CompliantMix mix{.dimension = index % 2 == 0 ? 3 : 2,
                                 .bilateral = 2,
                                 .unilateral = 1,
                                 .contacts = 2,
                                 .softest = 1e3,
                                 .stiffest = 1e6};
    CompliantProblem problem = test::random_compliant(mix, index, 21);
    for (CompliantConstraint& c : problem.constraints) {
      if (c.type != CompliantConstraint::Type::contact) continue;
      for (std::size_t k = 1; k < c.damping.size(); ++k) c.damping[k] = 1e4;
    }
    CompliantSettings settings = programme();
    settings.centripetal = false;
    const CompliantResult eliminated =
        solve_compliant(make_batch(std::vector{problem}), settings, Backend::cpu);
    ASSERT_EQ(eliminated.status.data()[0], Status::solved) << index;

    // Variables x = (v', h lambda of all rows, h beta of the tangents).
    const Eigen::Index nv = mix.velocities;
    const double h = problem.step_size;
    Eigen::Index rows = 0;
    for (const auto& c : problem.constraints) rows += static_cast<Eigen::Index>(c.phi.size());
    const Eigen::Index tangents = mix.contacts * (mix.dimension - 1);
    const Eigen::Index n = nv + rows + tangents;
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(n, n);
    std::vector<Eigen::RowVectorXd> lines;
    std::vector<double> low;
    std::vector<double> high;
    const Eigen::Map<const Eigen::MatrixXd> mass(problem.mass_matrix.data(), nv, nv);
    const Eigen::Map<const Eigen::VectorXd> v(problem.velocity.data(), nv);
    const Eigen::Map<const Eigen::VectorXd> f(problem.force.data(), nv);
    Eigen::MatrixXd momentum = Eigen::MatrixXd::Zero(nv, n);
    momentum.leftCols(nv) = mass;
    QpBatch qp;
    std::vector<Eigen::RowVectorXd> cones;
    Eigen::Index row = 0;
    Eigen::Index beta = nv + rows;
    for (const CompliantConstraint& c : problem.constraints) {
      const bool contact = c.type == CompliantConstraint::Type::contact;
      for (std::size_t k = 0; k < c.phi.size(); ++k, ++row) {
        const Eigen::RowVectorXd g = Eigen::Map<const Eigen::RowVectorXd>(
            c.jacobian.data() + k * static_cast<std::size_t>(nv), nv);
        momentum.col(nv + row) = -g.transpose();
        // lambda + (h K + B) (G v' + h dG v) + K phi = 0, >= 0 or beta.
        const double rate = h * (h * c.stiffness[k] + c.damping[k]);
        Eigen::RowVectorXd line = Eigen::RowVectorXd::Zero(n);
        line.head(nv) = rate * g;
        line(nv + row) = 1.0;
        const double constant = rate * h * c.jacobian_dot_v[k] + h * c.stiffness[k] * c.phi[k];
        const bool signed_row =
            c.type == CompliantConstraint::Type::unilateral || (contact && k == 0);
        if (contact && k > 0) {
          line(beta) = -1.0;
          hessian(beta, beta) = 1.0;
          hessian(nv + row, nv + row) = 1.0;
          ++beta;
        }
        const double scale = line.cwiseAbs().maxCoeff();
        lines.push_back(line / scale);
        low.push_back(-constant / scale);
        high.push_back(signed_row ? kInfinite : -constant / scale);
        if (signed_row) {
          hessian(nv + row, nv + row) = 1.0 / h;
          lines.push_back(Eigen::RowVectorXd::Unit(n, nv + row));
          low.push_back(0.0);
          high.push_back(kInfinite);
        }
      }
      if (!contact) continue;
      qp.cones.push_back({ConeKind::second_order, mix.dimension});
      const Eigen::Index first = nv + row - mix.dimension;
      cones.push_back(-c.friction * Eigen::RowVectorXd::Unit(n, first));
      for (Eigen::Index k = 1; k < mix.dimension; ++k) {
        cones.push_back(-Eigen::RowVectorXd::Unit(n, first + k));
      }
    }
    const Eigen::VectorXd right = mass * v + h * f;
    for (Eigen::Index j = 0; j < nv; ++j) {
      lines.push_back(momentum.row(j));
      low.push_back(right(j));
      high.push_back(right(j));
    }
    const auto pour = [](const std::vector<Eigen::RowVectorXd>& from) {
      std::vector<double> values;
      for (const auto& line : from) values.insert(values.end(), line.begin(), line.end());
      return Buffer<double>::from(values);
    };
    qp.problems = 1;
    qp.variables = static_cast<int>(n);
    qp.rows = static_cast<int>(lines.size());
    qp.hessian = Buffer<double>::from(std::vector<double>(hessian.data(), hessian.data() + n * n));
    qp.vector = Buffer<double>::from(std::vector<double>(static_cast<std::size_t>(n), 0.0));
    qp.matrix = pour(lines);
    qp.lower = Buffer<double>::from(low);
    qp.upper = Buffer<double>::from(high);
    qp.cone_matrix = pour(cones);
    qp.cone_vector = Buffer<double>::from(std::vector<double>(cones.size(), 0.0));
    const QpResult full = solve_qp(qp, {}, Backend::cpu);
    ASSERT_EQ(full.status.data()[0], Status::solved) << index << " " << full.residual.data()[0];
    // A residual of 1e-9 leaves the flat directions of the objective free to about its root.
    double size = 1.0;
    for (Eigen::Index j = 0; j < nv; ++j) {
      size = std::max(size, std::abs(full.solution.data()[j]));
    }
    for (Eigen::Index j = 0; j < nv; ++j) {
      EXPECT_NEAR(eliminated.velocity.data()[j], full.solution.data()[j], 1e-6 * size) << index;
    }
  }
}

}  // namespace
}  // namespace carom
