#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "api/models_support.hpp"
#include "models/mechanism_problem.hpp"
#include "models/mechanisms/walkers.hpp"

namespace {

using carom::models::build;
using carom::models::detail::Values;
using carom::test::expect_near;
using carom::test::kDegree;
using carom::test::message_of;
using carom::test::Parts;

/// A foot in the world: the disc's centre and its lowest point.
struct Foot {
  Eigen::Vector2d centre;
  Eigen::Vector2d lowest;
};

/// A model's mechanism at its configuration.
struct Walker {
  std::vector<double> parameters;
  Eigen::VectorXd configuration;
  Foot (*foot_of)(const std::vector<double>& parameters, const Eigen::VectorXd& q, int foot);
  double radius = 0.0;                        ///< of the feet
  std::vector<std::vector<int>> coordinates;  ///< of each foot, the angles that turn its leg

  [[nodiscard]] Foot foot(int which, const Eigen::VectorXd& q) const {
    return foot_of(parameters, q, which);
  }
};

template <class Mechanism>
Walker walker_of(const std::string& name) {
  Walker walker;
  walker.parameters =
      carom::models::detail::mechanism_parameters<Mechanism>(Values(carom::models::find(name)));
  walker.configuration.resize(Mechanism::kSizes.positions);
  Eigen::VectorXd velocity(Mechanism::kSizes.velocities);
  Mechanism::start(walker.parameters.data(), walker.configuration.data(), velocity.data());
  walker.foot_of = [](const std::vector<double>& parameters, const Eigen::VectorXd& q, int foot) {
    const auto contact = Mechanism(parameters.data(), 0.0, q.data()).constraint(foot);
    return Foot{q.head<2>() + Eigen::Vector2d(contact.centre),
                q.head<2>() + Eigen::Vector2d(contact.place)};
  };
  return walker;
}

Walker make_walker(const std::string& name) {
  if (name == "ramone") {
    Walker walker = walker_of<carom::kernels::Ramone>(name);
    walker.radius = 0.02815;
    walker.coordinates = {{2, 3, 4}, {2, 5, 6}};
    return walker;
  }
  Walker walker = walker_of<carom::kernels::CompassGait>(name);
  walker.coordinates = {{2}, {3}};
  return walker;
}

class Walkers : public testing::TestWithParam<std::string> {};

// The touching point is the leg's: it moves as the disc's centre and turns about it with the leg.
TEST_P(Walkers, JacobiansAreVelocitiesOfTheTouchingPoints) {
  const Parts parts(build(GetParam()));
  const Walker walker = make_walker(GetParam());
  const double step = 1e-6;
  for (int foot = 0; foot < 2; ++foot) {
    const Foot at = walker.foot(foot, walker.configuration);
    EXPECT_NEAR((at.lowest - at.centre - Eigen::Vector2d(0.0, -walker.radius)).norm(), 0.0, 1e-15);
    const std::vector<int>& turning = walker.coordinates[static_cast<std::size_t>(foot)];
    for (int j = 0; j < parts.velocity.size(); ++j) {
      const Eigen::VectorXd move = step * Eigen::VectorXd::Unit(parts.velocity.size(), j);
      Eigen::Vector2d slope = (walker.foot(foot, walker.configuration + move).centre -
                               walker.foot(foot, walker.configuration - move).centre) /
                              (2.0 * step);
      if (std::find(turning.begin(), turning.end(), j) != turning.end()) slope.x() += walker.radius;
      EXPECT_NEAR(parts.tangent(foot, j), slope.x(), 1e-9) << "foot " << foot << " column " << j;
      EXPECT_NEAR(parts.normal(foot, j), slope.y(), 1e-9) << "foot " << foot << " column " << j;
    }
  }
}

TEST_P(Walkers, TrailingFootRests) {
  for (const double rate : {0.25, 0.7}) {
    const std::string name =
        GetParam() == "ramone" ? "trailing_knee_velocity" : "trailing_angular_velocity";
    const Parts parts(build(GetParam(), {{name, rate}}));
    EXPECT_NEAR((parts.normal * parts.velocity)(1), 0.0, 1e-15);
    EXPECT_NEAR((parts.tangent * parts.velocity)(1), 0.0, 1e-15);
    EXPECT_GT(parts.velocity.head<2>().norm(), 0.01);
  }
}

TEST_P(Walkers, FeetStandLevelWithTheLeadingOneToTheLeft) {
  const Walker walker = make_walker(GetParam());
  const Eigen::Vector2d leading = walker.foot(0, walker.configuration).lowest;
  const Eigen::Vector2d trailing = walker.foot(1, walker.configuration).lowest;
  EXPECT_NEAR(trailing.y(), 0.0, 1e-15);
  EXPECT_NEAR(leading.y(), trailing.y(), 1e-5);  // the tables round angles to 0.01 degrees
  EXPECT_LT(leading.x(), -0.3);
  EXPECT_GT(trailing.x(), 0.2);
}

INSTANTIATE_TEST_SUITE_P(Models, Walkers, testing::Values("compass_gait", "ramone"),
                         [](const auto& test) { return test.param; });

TEST(CompassGait, MatchesTheClosedForm) {
  const Parts parts(build("compass_gait", {{"mass", 2.0},
                                           {"leg_length", 1.5},
                                           {"mass_to_foot", 0.6},
                                           {"leading_angle", -60.0},
                                           {"trailing_angle", 40.0}}));
  const double m = 2.0;
  const double d = 0.9;
  const double l = 1.5;
  const double a = -60.0 * kDegree;
  const double b = 40.0 * kDegree;
  Eigen::Matrix4d mass;
  mass << 2 * m, 0, m * d * std::cos(a), m * d * std::cos(b),  //
      0, 2 * m, m * d * std::sin(a), m * d * std::sin(b),      //
      m * d * std::cos(a), m * d * std::sin(a), m * d * d, 0,  //
      m * d * std::cos(b), m * d * std::sin(b), 0, m * d * d;
  expect_near(parts.mass, mass, 1e-14);
  expect_near(
      parts.normal,
      (Eigen::MatrixXd(2, 4) << 0, 1, l * std::sin(a), 0, 0, 1, 0, l * std::sin(b)).finished(),
      1e-14);
  expect_near(
      parts.tangent,
      (Eigen::MatrixXd(2, 4) << 1, 0, l * std::cos(a), 0, 1, 0, 0, l * std::cos(b)).finished(),
      1e-14);
  expect_near(parts.velocity.head<2>(), -0.25 * l * Eigen::Vector2d(std::cos(b), std::sin(b)),
              1e-14);
}

TEST(CompassGait, RefusesAMassBeyondTheHip) {
  const std::string message = message_of("compass_gait", {{"leg_length", 0.4}});
  EXPECT_EQ(message, "mass_to_foot of model \"compass_gait\" is 0.5: must be < leg_length (0.4 m)");
}

/// Mass centres of RAMone's five links, and their angles, written out.
std::vector<Eigen::Vector3d> ramone_centres(const Eigen::VectorXd& q) {
  const auto below = [](double distance, double angle) {
    return Eigen::Vector3d(distance * std::sin(angle), -distance * std::cos(angle), 0.0);
  };
  const Eigen::Vector3d pelvis(q(0), q(1), q(2));
  std::vector<Eigen::Vector3d> centres = {pelvis};
  for (const int leg : {3, 5}) {
    const double thigh = q(2) + q(leg);
    const double shank = thigh + q(leg + 1);
    Eigen::Vector3d hip = pelvis + below(0.137675, q(2));
    hip.z() = thigh;
    centres.push_back(hip + below(0.019399, thigh));
    Eigen::Vector3d knee = hip + below(0.2, thigh);
    knee.z() = shank;
    centres.push_back(knee + below(0.165235, shank));
  }
  return centres;
}

TEST(Ramone, MassMatrixGivesTheLinksKineticEnergy) {
  const Parts parts(build("ramone"));
  const Walker walker = make_walker("ramone");
  const std::vector<double> masses = {7.9026, 0.7887, 0.510, 0.7887, 0.510};
  const std::vector<double> inertias = {0.08, 0.00221, 0.00652, 0.00221, 0.00652};
  const double step = 1e-6;
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(7, 7);
  for (std::size_t link = 0; link < masses.size(); ++link) {
    Eigen::MatrixXd jacobian(3, 7);
    for (int j = 0; j < 7; ++j) {
      const Eigen::VectorXd move = step * Eigen::VectorXd::Unit(7, j);
      jacobian.col(j) = (ramone_centres(walker.configuration + move)[link] -
                         ramone_centres(walker.configuration - move)[link]) /
                        (2.0 * step);
    }
    const Eigen::Vector3d weight(masses[link], masses[link], inertias[link]);
    expected += jacobian.transpose() * weight.asDiagonal() * jacobian;
  }
  expect_near(parts.mass, expected, 1e-8);
}

TEST(Ramone, TotalMassStandsInTheTranslationBlock) {
  const double total = 7.9026 + 2 * 0.7887 + 2 * 0.510;
  const Parts parts(build("ramone"));
  expect_near(parts.mass.topLeftCorner<2, 2>(), total * Eigen::Matrix2d::Identity(), 1e-13);
}

TEST(Ramone, RestingFootGivesTheTabulatedTrunkVelocity) {
  const Parts parts(build("ramone"));
  EXPECT_NEAR(parts.velocity(0), -0.4114, 5e-5);
  EXPECT_NEAR(parts.velocity(1), -0.2105, 5e-5);
  EXPECT_EQ(parts.velocity(2), 1.0);
}

}  // namespace
