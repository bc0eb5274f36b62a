#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <carom/error.hpp>
#include <carom/models/models.hpp>

#include "api/models_support.hpp"

namespace {

using carom::ImpactProblem;
using carom::models::build;
using carom::models::Model;
using carom::test::expect_near;
using carom::test::kDegree;
using carom::test::Matrix;
using carom::test::message_of;
using carom::test::Parts;

class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  const Model& model() const { return carom::models::find(GetParam()); }
};

TEST_P(EveryModel, HasFittingShapes) {
  const ImpactProblem p = build(GetParam());
  const auto nv = static_cast<std::size_t>(p.velocities);
  const auto m = static_cast<std::size_t>(p.contacts);
  const auto tangents = static_cast<std::size_t>(p.dimension - 1);
  EXPECT_EQ(p.name, GetParam());
  EXPECT_EQ(p.dimension, model().dimension);
  EXPECT_EQ(m, model().contact_names.size());
  EXPECT_EQ(p.mass_matrix.size(), nv * nv);
  EXPECT_EQ(p.normal_jacobian.size(), m * nv);
  EXPECT_EQ(p.tangent_jacobian.size(), tangents * m * nv);
  EXPECT_EQ(p.friction.size(), m);
  EXPECT_EQ(p.velocity.size(), nv);
  EXPECT_GT(model().step_size, 0.0);
  EXPECT_GE(model().max_steps, 1);
}

TEST_P(EveryModel, HasSymmetricPositiveDefiniteMassMatrix) {
  const Parts parts(build(GetParam()));
  EXPECT_EQ(parts.mass, Matrix(parts.mass.transpose()));
  EXPECT_EQ(Eigen::LLT<Eigen::MatrixXd>(parts.mass).info(), Eigen::Success);
}

TEST_P(EveryModel, ApproachesSomewhereAndSeparatesNowhere) {
  const Parts parts(build(GetParam()));
  EXPECT_LT((parts.normal * parts.velocity).minCoeff(), -0.1);
  EXPECT_LT((parts.normal * parts.velocity).maxCoeff(), 1e-12);
}

TEST_P(EveryModel, HasDocumentedParametersWithAcceptedDefaults) {
  std::set<std::string> names;
  for (const auto& parameter : model().parameters) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name << " twice";
    EXPECT_FALSE(parameter.unit.empty());
    EXPECT_FALSE(parameter.meaning.empty());
    EXPECT_LT(parameter.minimum, parameter.maximum);
    EXPECT_EQ(message_of(GetParam(), {{parameter.name, parameter.value}}), "accepted");
  }
  EXPECT_TRUE(names.contains("friction"));
}

// A parameter that changes nothing, or a builder that ignores an override.
TEST_P(EveryModel, EveryParameterChangesTheProblem) {
  const ImpactProblem before = build(GetParam());
  for (const auto& parameter : model().parameters) {
    double other = parameter.value == 0.0 ? 0.01 : 0.9 * parameter.value;
    if (parameter.name == "balls") other = parameter.value + 1.0;  // whole numbers alone
    const ImpactProblem after = build(GetParam(), {{parameter.name, other}});
    EXPECT_TRUE(after.mass_matrix != before.mass_matrix ||
                after.normal_jacobian != before.normal_jacobian ||
                after.tangent_jacobian != before.tangent_jacobian ||
                after.friction != before.friction || after.velocity != before.velocity ||
                after.restitution_high != before.restitution_high)
        << parameter.name;
  }
}

TEST_P(EveryModel, FrictionSetsEveryContactAndNothingElse) {
  const ImpactProblem before = build(GetParam());
  const ImpactProblem after = build(GetParam(), {{"friction", 0.125}});
  EXPECT_EQ(after.friction, std::vector<double>(before.friction.size(), 0.125));
  EXPECT_EQ(after.mass_matrix, before.mass_matrix);
  EXPECT_EQ(after.normal_jacobian, before.normal_jacobian);
  EXPECT_EQ(after.tangent_jacobian, before.tangent_jacobian);
  EXPECT_EQ(after.velocity, before.velocity);
}

TEST_P(EveryModel, RefusesValuesOutOfRangeByName) {
  for (const auto& parameter : model().parameters) {
    const std::string start = parameter.name + " of model \"" + GetParam() + "\" is ";
    const double below = parameter.minimum_open ? parameter.minimum : parameter.minimum - 0.5;
    for (const double bad :
         {below, parameter.maximum + 0.5, std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::infinity()}) {
      const std::string message = message_of(GetParam(), {{parameter.name, bad}});
      EXPECT_TRUE(message.starts_with(start)) << message;
      EXPECT_NE(message.find(": must be "), std::string::npos) << message;
    }
  }
}

TEST_P(EveryModel, RefusesUnknownParameterWithTheKnownOnes) {
  const std::string message = message_of(GetParam(), {{"frction", 1.0}});
  EXPECT_NE(message.find("\"frction\""), std::string::npos) << message;
  for (const auto& parameter : model().parameters) {
    EXPECT_NE(message.find(parameter.name), std::string::npos) << message;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Model& model : carom::models::all()) list.push_back(model.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Models, AreListedWithThePapersFirst) {
  EXPECT_EQ(names(),
            (std::vector<std::string>{"rocking_block", "compass_gait", "box_wall", "ramone",
                                      "disk_stack", "cube_drop", "tripod", "bar_on_steps",
                                      "ball_in_corner", "newtons_cradle", "cube_two_corners"}));
}

TEST(Models, RefuseAnUnknownModelWithTheKnownOnes) {
  for (const auto& call :
       {+[] { carom::models::find("rocking_blok"); }, +[] { build("rocking_blok"); }}) {
    try {
      call();
      ADD_FAILURE() << "accepted";
    } catch (const carom::InvalidInput& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("\"rocking_blok\""), std::string::npos) << message;
      for (const Model& model : carom::models::all()) {
        EXPECT_NE(message.find(model.name), std::string::npos) << message;
      }
    }
  }
}

TEST(Models, UseOneUnitForOneWord) {
  std::map<std::string, std::string> units;
  for (const Model& model : carom::models::all()) {
    for (const auto& parameter : model.parameters) {
      const auto [known, is_new] = units.emplace(parameter.name, parameter.unit);
      EXPECT_TRUE(is_new || known->second == parameter.unit) << model.name << parameter.name;
    }
  }
}

TEST(RockingBlock, MatchesTheHandCalculation) {
  const Parts parts(build("rocking_block"));
  expect_near(parts.mass, Eigen::Vector3d(1.0, 1.0, 5.0 / 12.0).asDiagonal().toDenseMatrix(),
              1e-15);
  expect_near(parts.normal, (Eigen::MatrixXd(2, 3) << 0, 1, -0.5, 0, 1, 0.5).finished(), 0.0);
  expect_near(parts.tangent, (Eigen::MatrixXd(2, 3) << 1, 0, 1, 1, 0, 1).finished(), 0.0);
  expect_near(parts.velocity, Eigen::Vector3d(0.0, -0.4429, 0.0), 0.0);

  const Parts other(
      build("rocking_block",
            {{"width", 3.0}, {"height", 1.0}, {"mass", 6.0}, {"downward_velocity", 2.0}}));
  expect_near(other.mass, Eigen::Vector3d(6.0, 6.0, 5.0).asDiagonal().toDenseMatrix(), 1e-14);
  expect_near(other.normal, (Eigen::MatrixXd(2, 3) << 0, 1, -1.5, 0, 1, 1.5).finished(), 0.0);
  expect_near(other.tangent, (Eigen::MatrixXd(2, 3) << 1, 0, 0.5, 1, 0, 0.5).finished(), 0.0);
  expect_near(other.velocity, Eigen::Vector3d(0.0, -2.0, 0.0), 0.0);
}

// A blow at either contact turns the box counter-clockwise (section 3.1), and the wall's drives the
// lowest corner into the floor when the wall's corner sticks.
TEST(BoxWall, TurnsAsThePaperDescribes) {
  const Parts parts(build("box_wall"));
  const double c = std::cos(10.0 * kDegree);
  const double s = std::sin(10.0 * kDegree);
  // lowest corner: (0.5, -0.5) turned by -10 degrees; rightmost: (0.5, 0.5)
  const Eigen::Vector2d lowest(0.5 * c - 0.5 * s, -0.5 * s - 0.5 * c);
  const Eigen::Vector2d rightmost(0.5 * c + 0.5 * s, -0.5 * s + 0.5 * c);
  expect_near(parts.normal,
              (Eigen::MatrixXd(2, 3) << 0, 1, lowest.x(), -1, 0, rightmost.y()).finished(), 1e-15);
  expect_near(parts.tangent,
              (Eigen::MatrixXd(2, 3) << 1, 0, -lowest.y(), 0, 1, rightmost.x()).finished(), 1e-15);
  const Eigen::MatrixXd response = parts.mass.inverse() * parts.normal.transpose();
  EXPECT_GT(response(2, 0), 0.0);
  EXPECT_GT(response(2, 1), 0.0);

  Eigen::MatrixXd wall(2, 3);
  wall << parts.normal.row(1), parts.tangent.row(1);
  const Eigen::MatrixXd inverse = parts.mass.inverse();
  const Eigen::VectorXd after = parts.velocity - inverse * wall.transpose() *
                                                     (wall * inverse * wall.transpose()).inverse() *
                                                     wall * parts.velocity;
  EXPECT_LT((parts.normal * after)(0), -0.01);
}

TEST(DiskStack, ContactsPushTheRightDisksApart) {
  const Parts parts(build("disk_stack"));
  const double rise = std::sqrt(3.0) / 2.0;
  expect_near(parts.normal * parts.velocity,
              (Eigen::VectorXd(5) << 0, 0, 0, -rise, -rise).finished(), 1e-15);
  // A translation of the whole stack shows at the floor only; gears turning oppositely roll on one
  // another and slip on all else.
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(9);
  for (int disk = 0; disk < 3; ++disk) shift.segment<2>(3 * disk) << 0.3, 0.7;
  expect_near(parts.normal * shift, (Eigen::VectorXd(5) << 0.7, 0.7, 0, 0, 0).finished(), 1e-15);
  expect_near(parts.tangent * shift, (Eigen::VectorXd(5) << 0.3, 0.3, 0, 0, 0).finished(), 1e-15);
  Eigen::VectorXd spin = Eigen::VectorXd::Zero(9);
  spin(2) = 1.0;
  spin(5) = -1.0;
  expect_near(parts.tangent * spin, (Eigen::VectorXd(5) << 1, -1, 0, 1, -1).finished(), 1e-15);
  expect_near(parts.normal * spin, Eigen::VectorXd::Zero(5), 1e-15);
  // Moving the top disk along the line of centres opens that contact at full speed.
  Eigen::VectorXd away = Eigen::VectorXd::Zero(9);
  away.segment<2>(6) << 0.5, rise;
  EXPECT_NEAR((parts.normal * away)(3), 1.0, 1e-15);
}

TEST(NewtonsCradle, HasAsManyBallsAsAskedAndPushesNeighboursApart) {
  for (int balls = 2; balls <= 6; ++balls) {
    const ImpactProblem problem =
        build("newtons_cradle", {{"balls", static_cast<double>(balls)}, {"restitution", 0.5}});
    EXPECT_EQ(problem.velocities, balls);
    EXPECT_EQ(problem.contacts, balls - 1);
    EXPECT_EQ(problem.restitution_low, std::vector<double>(problem.friction.size(), 0.5));
    const Parts parts(problem);
    const Eigen::VectorXd gaps = parts.normal * Eigen::VectorXd::LinSpaced(balls, 1.0, balls);
    expect_near(gaps, Eigen::VectorXd::Ones(balls - 1), 0.0);
    expect_near(parts.normal * parts.velocity, -Eigen::VectorXd::Unit(balls - 1, 0), 0.0);
  }
  const std::string message = message_of("newtons_cradle", {{"balls", 2.5}});
  EXPECT_NE(message.find("balls"), std::string::npos) << message;
  EXPECT_NE(message.find("a whole number"), std::string::npos) << message;
}

// examples/data/cube_tosses: its two lowest corners approach at these speeds, and are an edge of
// the rounded cube apart, 2 (52.4 mm - 4.0 mm).
TEST(CubeTwoCorners, IsTheMeasuredImpact) {
  const Parts parts(build("cube_two_corners"));
  expect_near(parts.normal * parts.velocity, Eigen::Vector2d(-1.40344, -1.44047), 1e-4);
  Eigen::Vector3d corner[2];
  for (int i = 0; i < 2; ++i) {  // rows are (e, p x e)
    corner[i] << -parts.normal(i, 4), parts.normal(i, 3), parts.tangent(2 * i, 4);
    for (int t = 0; t < 2; ++t) {
      const Eigen::Vector3d along = parts.tangent.row(2 * i + t).head<3>();
      const Eigen::Vector3d arm = corner[i].cross(along);
      expect_near(arm, Eigen::Vector3d(parts.tangent.row(2 * i + t).tail<3>()), 1e-15);
    }
  }
  EXPECT_NEAR((corner[0] - corner[1]).norm(), 2.0 * (0.0524 - 0.003988), 2e-4);
}

}  // namespace
