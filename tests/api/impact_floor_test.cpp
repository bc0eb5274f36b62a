#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include <Eigen/Dense>

#include <carom/error.hpp>
#include <carom/impact_judge.hpp>

namespace carom {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

std::vector<double> values_of(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

struct Drawn {
  ImpactProblem problem;
  Matrix mass, jacobian;  // rows normal, tangents of contact 0, then of 1, ...
  Vector before, after;
};

Drawn draw(std::mt19937& numbers, int dimension, int contacts, int velocities) {
  std::normal_distribution<double> normal;
  const auto filled = [&](int rows, int columns) {
    return Matrix(Matrix::NullaryExpr(rows, columns, [&] { return normal(numbers); }));
  };
  Drawn drawn;
  const Matrix root = filled(velocities, velocities);
  drawn.mass = root * root.transpose() + Matrix::Identity(velocities, velocities);
  drawn.jacobian = filled(dimension * contacts, velocities);
  drawn.before = filled(velocities, 1);
  drawn.after = filled(velocities, 1);
  ImpactProblem& problem = drawn.problem;
  problem.dimension = dimension;
  problem.velocities = velocities;
  problem.contacts = contacts;
  problem.mass_matrix = values_of(drawn.mass);
  problem.velocity = values_of(drawn.before);
  for (int i = 0; i < contacts; ++i) {
    problem.friction.push_back(std::abs(normal(numbers)));
    for (int r = 0; r < dimension; ++r) {
      const Matrix row = drawn.jacobian.row(dimension * i + r);
      auto& to = r == 0 ? problem.normal_jacobian : problem.tangent_jacobian;
      to.insert(to.end(), row.data(), row.data() + velocities);
    }
  }
  return drawn;
}

MeasuredImpacts measured_of(const Vector& after, const Matrix& covariance = {}) {
  MeasuredImpacts measured;
  measured.measured_velocity = Buffer<double>::from(values_of(after));
  measured.measured_covariance = Buffer<double>::from(values_of(covariance));
  return measured;
}

// Textbook: projected gradient steps of length 1/L on |b - G x|, with Coulomb's cones, very many.
double least_distance(const Drawn& drawn, const Matrix& root) {
  const ImpactProblem& problem = drawn.problem;
  const Matrix g = root * drawn.mass.inverse() * drawn.jacobian.transpose();
  const Vector b = root * (drawn.after - drawn.before);
  const int d = problem.dimension;
  const double length = (g.transpose() * g).eval().norm();
  Vector x = Vector::Zero(g.cols()), y = x;
  double t = 1.0;
  for (int k = 0; k < 200'000; ++k) {
    Vector next = y + g.transpose() * (b - g * y) / length;
    for (int i = 0; i < problem.contacts; ++i) {
      const double mu = problem.friction[static_cast<std::size_t>(i)];
      auto lambda = next.segment(d * i, d);
      const double slip = lambda.tail(d - 1).norm(), n = lambda[0];
      if (slip <= mu * n) continue;
      if (mu * slip <= -n) {
        lambda.setZero();
        continue;
      }
      const double on = (n + mu * slip) / (1.0 + mu * mu);
      lambda[0] = on;
      lambda.tail(d - 1) *= mu * on / slip;
    }
    const double t_next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
    const bool restart = (y - next).dot(next - x) > 0.0;
    y = restart ? next : Vector(next + (t - 1.0) / t_next * (next - x));
    t = restart ? 1.0 : t_next;
    x = next;
  }
  return (b - g * x).norm();
}

TEST(ImpactFloor, IsTheLeastDistanceOverAllImpulsesInTheCones) {
  std::mt19937 numbers(7);
  for (int trial = 0; trial < 24; ++trial) {
    const Drawn drawn = draw(numbers, 2 + trial % 2, 1 + trial % 3, 3 + trial % 4);
    const Matrix upper = drawn.mass.llt().matrixU();
    const double speed = (upper * drawn.before).norm();
    const ImpactFloor found =
        impact_floor(make_batch({&drawn.problem, 1}), measured_of(drawn.after), 1);
    ASSERT_EQ(found.floor_status.data()[0], Status::solved) << trial;
    EXPECT_NEAR(found.floor.data()[0], least_distance(drawn, upper) / speed, 1e-7) << trial;

    const Matrix covariance = drawn.mass.inverse();  // then distances are |.|_M itself
    const ImpactFloor whitened =
        impact_floor(make_batch({&drawn.problem, 1}), measured_of(drawn.after, covariance), 1);
    EXPECT_NEAR(whitened.floor.data()[0], found.floor.data()[0] * speed, 1e-7 * speed) << trial;
  }
}

TEST(ImpactFloor, OneFrictionlessContactLeavesWhatIsAcross) {
  // a unit mass in the plane: an impulse along the normal leaves the change along the tangent
  ImpactProblem problem;
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {1, 0, 0, 1};
  problem.normal_jacobian = {0, 1};
  problem.tangent_jacobian = {1, 0};
  problem.friction = {0};
  problem.velocity = {3, -4};
  Vector after(2);
  after << 2.0, 1.5;
  const ImpactFloor found = impact_floor(make_batch({&problem, 1}), measured_of(after));
  EXPECT_NEAR(found.floor.data()[0], 1.0 / 5.0, 1e-9);
  EXPECT_NEAR(found.floor_impulse.data()[0], 5.5, 1e-7);
  EXPECT_EQ(found.floor_impulse.data()[1], 0.0);
  problem.friction = {0.1};  // now at most 0.1 times the normal impulse n: |n - 5.5|, |1 - n / 10|
  const ImpactFloor rough = impact_floor(make_batch({&problem, 1}), measured_of(after));
  const double n = (5.5 + 0.1) / 1.01;
  EXPECT_NEAR(rough.floor.data()[0], std::hypot(n - 5.5, 1.0 - 0.1 * n) / 5.0, 1e-9);
  EXPECT_NEAR(rough.floor_impulse.data()[1], -0.1 * n, 1e-7);
}

TEST(ImpactFloor, VanishesWhereAnImpulseExplainsTheMeasurement) {
  std::mt19937 numbers(11);
  std::vector<ImpactProblem> problems;
  std::vector<double> after;
  std::vector<double> impulses;
  for (int trial = 0; trial < 50; ++trial) {
    Drawn drawn = draw(numbers, 3, 2, 6);
    Vector lambda(6);
    lambda << 1.0, 0.5 * drawn.problem.friction[0], 0.0, 2.0, 0.0, -drawn.problem.friction[1];
    drawn.after = drawn.before + drawn.mass.inverse() * drawn.jacobian.transpose() * lambda;
    problems.push_back(drawn.problem);
    for (const double v : drawn.after) after.push_back(v);
  }
  MeasuredImpacts measured;
  measured.measured_velocity = Buffer<double>::from(after);
  const ImpactFloor found = impact_floor(make_batch(problems), measured);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    EXPECT_LT(found.floor.data()[p], 1e-6) << p;
    EXPECT_NEAR(found.floor_impulse.data()[6 * p], 1.0, 1e-4) << p;
    EXPECT_NEAR(found.floor_impulse.data()[6 * p + 1], 2.0, 1e-4) << p;
  }
}

TEST(ImpactFloor, RefusesWhatIsNoMeasurement) {
  std::mt19937 numbers(3);
  const Drawn drawn = draw(numbers, 2, 1, 3);
  const ImpactBatch batch = make_batch({&drawn.problem, 1});
  const auto message = [&](const MeasuredImpacts& measured) -> std::string {
    try {
      impact_floor(batch, measured);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(measured_of(Vector::Zero(2))), "measured_velocity has 2 values: must have 3");
  Vector odd = drawn.after;
  odd[1] = std::nan("");
  EXPECT_EQ(message(measured_of(odd)), "measured_velocity[1] of problem 0 is nan: must be finite");
  Matrix covariance = Matrix::Identity(3, 3);
  covariance(2, 0) = 0.5;
  EXPECT_EQ(message(measured_of(drawn.after, covariance)),
            "measured_covariance[2][0] of problem 0 is 0.5: must be symmetric");
  covariance(0, 2) = 0.5;
  covariance(1, 1) = -1.0;
  EXPECT_NE(message(measured_of(drawn.after, covariance)).find("must be positive definite"),
            std::string::npos);
  ImpactProblem still = drawn.problem;
  still.velocity = {0, 0, 0};
  EXPECT_THROW(impact_floor(make_batch({&still, 1}), measured_of(drawn.after)), InvalidInput);
}

}  // namespace
}  // namespace carom
