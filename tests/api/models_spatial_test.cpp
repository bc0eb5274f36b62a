#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "api/models_support.hpp"
#include "models/mechanisms/rigid_body.hpp"

namespace {

using carom::models::build;
using carom::test::expect_near;
using carom::test::kDegree;
using carom::test::message_of;
using carom::test::Parts;

/// Free spatial bodies: the position of a material point is p + R arm.
void expect_spatial_rows(const Eigen::RowVectorXd& row, const Eigen::Vector3d& direction,
                         const Eigen::Vector3d& arm) {
  const double step = 1e-6;
  for (int k = 0; k < 3; ++k) {
    const Eigen::Vector3d axis = Eigen::Vector3d::Unit(k);
    const Eigen::Vector3d slope =
        (Eigen::AngleAxisd(step, axis) * arm - Eigen::AngleAxisd(-step, axis) * arm) / (2 * step);
    EXPECT_NEAR(row(k), direction(k), 1e-14);
    EXPECT_NEAR(row(3 + k), direction.dot(slope), 1e-9);
  }
}

TEST(SpatialRows, AreDerivativesOfTheTouchingPoint) {
  const Eigen::Vector3d arm(0.4, 0.2, -0.7);
  for (const Eigen::Vector3d& leaning :
       {Eigen::Vector3d(0.3, -0.5, 0.9), Eigen::Vector3d(0.95, 0.1, -0.2)}) {
    const Eigen::Vector3d normal = leaning.normalized();
    Eigen::Vector3d first;
    Eigen::Vector3d second;
    carom::kernels::tangents_of(normal.data(), carom::kernels::tangent_axis(normal.data()),
                                first.data(), second.data());
    for (const Eigen::Vector3d& direction : {normal, first, second}) {
      Eigen::RowVectorXd row(6);
      carom::kernels::direction_row(direction.data(), direction.data(), arm.data(), row.data());
      expect_spatial_rows(row, direction, arm);
    }
    expect_near(first.cross(second), normal, 1e-15);
  }
}

class SpatialModel : public testing::TestWithParam<std::string> {};

TEST_P(SpatialModel, HasRightHandedOrthonormalContactFrames) {
  const Parts parts(build(GetParam()));
  for (int i = 0; i < parts.normal.rows(); ++i) {
    const Eigen::Vector3d n = parts.normal.row(i).head<3>();
    const Eigen::Vector3d t1 = parts.tangent.row(2 * i).head<3>();
    const Eigen::Vector3d t2 = parts.tangent.row(2 * i + 1).head<3>();
    EXPECT_NEAR(n.norm(), 1.0, 1e-14);
    EXPECT_NEAR(t1.norm(), 1.0, 1e-14);
    EXPECT_NEAR(t1.dot(n), 0.0, 1e-14);
    expect_near(t1.cross(t2), n, 1e-14);
    // the rotational parts belong to one arm: (arm x n) x (arm x t1) = arm (arm . t2)
    const Eigen::Vector3d rn = parts.normal.row(i).tail<3>();
    const Eigen::Vector3d r1 = parts.tangent.row(2 * i).tail<3>();
    const Eigen::Vector3d r2 = parts.tangent.row(2 * i + 1).tail<3>();
    const Eigen::Vector3d arm = 0.5 * (n.cross(rn) + t1.cross(r1) + t2.cross(r2));
    EXPECT_GT(arm.norm(), 0.1);
    expect_near(arm.cross(n), rn, 1e-14);
    expect_near(arm.cross(t1), r1, 1e-14);
    expect_near(arm.cross(t2), r2, 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SpatialModel,
                         testing::Values("cube_drop", "tripod", "bar_on_steps", "ball_in_corner"),
                         [](const auto& test) { return test.param; });

/// The vector from the centre of mass to contact i, from the rotational columns of its rows.
Eigen::Vector3d arm_of(const Parts& parts, int i) {
  Eigen::Vector3d twice = Eigen::Vector3d::Zero();
  for (const auto& row : {parts.normal.row(i).eval(), parts.tangent.row(2 * i).eval(),
                          parts.tangent.row(2 * i + 1).eval()}) {
    twice += row.head<3>().transpose().cross(row.tail<3>().transpose());
  }
  return 0.5 * twice;
}

TEST(CubeDrop, StandsOnItsFourBottomCorners) {
  const Parts parts(build("cube_drop", {{"width", 2.0}, {"mass", 3.0}}));
  expect_near(arm_of(parts, 0), Eigen::Vector3d(-1, -1, -1), 1e-14);
  expect_near(arm_of(parts, 1), Eigen::Vector3d(1, -1, -1), 1e-14);
  expect_near(arm_of(parts, 2), Eigen::Vector3d(1, 1, -1), 1e-14);
  expect_near(arm_of(parts, 3), Eigen::Vector3d(-1, 1, -1), 1e-14);
  const Eigen::VectorXd diagonal = parts.mass.diagonal();
  expect_near(diagonal, (Eigen::VectorXd(6) << 3, 3, 3, 2, 2, 2).finished(), 1e-14);
}

TEST(Tripod, StandsOnThreeDifferentGrounds) {
  const Parts parts(build("tripod"));
  for (int i = 0; i < 3; ++i) {
    const Eigen::Vector3d normal = parts.normal.row(i).head<3>();
    const Eigen::Vector3d next = parts.normal.row((i + 1) % 3).head<3>();
    EXPECT_NEAR(normal.z(), std::cos(15.0 * kDegree), 1e-14);
    EXPECT_LT(normal.dot(next), 0.99);
    const double lean = 210.0 * kDegree * i;
    expect_near(normal.head<2>(),
                std::sin(15.0 * kDegree) * Eigen::Vector2d(std::cos(lean), std::sin(lean)), 1e-14);
    const Eigen::Vector3d arm = arm_of(parts, i);
    EXPECT_NEAR(arm.head<2>().norm(), 0.5, 1e-14);
    EXPECT_NEAR(arm.z(), -0.5 + 0.05 * (i - 1), 1e-14);
  }
  // level ground is the limit of no slope
  const Parts level(build("tripod", {{"slope", 0.0}}));
  for (int i = 0; i < 3; ++i) {
    expect_near(level.normal.row(i).head<3>(), Eigen::RowVector3d(0, 0, 1), 1e-15);
  }
}

TEST(BarOnSteps, TouchesTheTreadAndTheNosing) {
  const Parts parts(build("bar_on_steps"));
  for (const int side : {0, 1}) {
    const Eigen::Vector3d tread = arm_of(parts, side);
    const Eigen::Vector3d nosing = arm_of(parts, 2 + side);
    expect_near(nosing - tread, Eigen::Vector3d(0.4, 0.0, 0.2), 1e-14);
    EXPECT_NEAR(tread.y(), side == 0 ? -0.1 : 0.1, 1e-14);
    // the centre of mass is half a thickness above the underside and half a length from its end
    const Eigen::Vector3d face = parts.normal.row(2 + side).head<3>();
    EXPECT_NEAR(-tread.dot(face), 0.05, 1e-14);
    EXPECT_NEAR(tread.norm(), std::hypot(0.4, 0.05, 0.1), 1e-14);
    EXPECT_NEAR(face.dot(Eigen::Vector3d(0.4, 0.0, 0.2)), 0.0, 1e-14);
  }
  // inertia about the bar's own axes
  const Eigen::Matrix3d inertia = parts.mass.bottomRightCorner<3, 3>();
  const Eigen::Vector3d along = Eigen::Vector3d(2.0, 0.0, 1.0).normalized();
  EXPECT_NEAR(along.dot(inertia * along), (0.04 + 0.01) / 12.0, 1e-15);
  EXPECT_NEAR(inertia(1, 1), (0.64 + 0.01) / 12.0, 1e-15);
  EXPECT_NEAR(inertia.trace(), 2.0 * (0.64 + 0.04 + 0.01) / 12.0, 1e-15);
  EXPECT_NE(message_of("bar_on_steps", {{"rise", 0.75}}).find("run of model \"bar_on_steps\""),
            std::string::npos);
}

TEST(BallInCorner, HitsThreePerpendicularPlanes) {
  const Parts parts(build("ball_in_corner", {{"downward_velocity", 2.0}}));
  expect_near(parts.normal * parts.normal.transpose(), Eigen::Matrix3d::Identity(), 1e-15);
  expect_near(parts.normal * parts.velocity, Eigen::Vector3d(-2.0, -1.0, -1.0), 1e-15);
  for (int i = 0; i < 3; ++i) {
    expect_near(arm_of(parts, i), -0.5 * parts.normal.row(i).head<3>().transpose(), 1e-15);
  }
  expect_near(parts.mass.diagonal(), (Eigen::VectorXd(6) << 1, 1, 1, 0.1, 0.1, 0.1).finished(),
              1e-15);
}

}  // namespace
