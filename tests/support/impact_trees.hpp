#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <carom/motion_function.hpp>
#include <carom/motion_tree.hpp>

/// Own mechanisms that touch and approach at the start, after the impact models without a motion.
namespace carom::test {

struct ImpactTree {
  MotionProblem problem;
  int contacts;
  double step_size;
};

/// Two point masses on a hinge, a foot below each, as compass_gait: some of its steps have several
/// solutions. The trailing foot rests.
inline ImpactTree gait_tree() {
  MechanismTree tree;
  tree.name = "gait";
  TreeLink leg;
  leg.mass_centre = {0.0, -0.5};
  tree.links = {leg, leg};
  for (int i = 0; i < 2; ++i) {
    TreeContact foot;
    foot.link = i;
    foot.point = {0.0, -1.0};
    foot.friction = 5.0;
    tree.contacts.push_back(foot);
  }
  const double wide = 78.0 * std::numbers::pi / 180.0;
  const double rate = 0.25;
  const std::vector<double> q{0.0, std::cos(wide), -wide, wide};
  const std::vector<double> v{-rate * std::cos(wide), -rate * std::sin(wide), rate, rate};
  return {motion_problem(tree, q, v), 2, 0.25};
}

/// A square in the corner of floor and wall, as box_wall.
inline ImpactTree box_tree() {
  MechanismTree tree;
  tree.name = "box";
  TreeLink box;
  box.inertia = 1.0 / 6.0;
  tree.links = {box};
  const double turn = -10.0 * std::numbers::pi / 180.0;
  const double reach = 0.5 * (std::cos(turn) - std::sin(turn));
  TreeContact low;
  low.point = {0.5, -0.5};
  low.friction = 1.0;
  TreeContact right = low;
  right.point = {0.5, 0.5};
  right.normal = {-1.0, 0.0};
  tree.contacts = {low, right};
  const std::vector<double> q{-reach, reach, turn};
  const std::vector<double> v{1.0, 0.0, 0.0};
  return {motion_problem(tree, q, v), 2, 2.0};
}

/// A cube that lands flat, on four or all eight corners' half of them, as cube_drop.
inline ImpactTree cube_tree() {
  SpatialTree tree;
  tree.name = "cube";
  SpatialTreeLink cube;
  cube.inertia = {1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0};
  tree.links = {cube};
  for (int i = 0; i < 8; ++i) {
    const int corner = i % 4;
    SpatialTreeContact contact;
    contact.point = {corner == 1 || corner == 2 ? 0.5 : -0.5, corner > 1 ? 0.5 : -0.5,
                     i < 4 ? -0.5 : 0.5};
    contact.friction = 0.5;
    tree.contacts.push_back(contact);
  }
  const std::vector<double> q{0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0};
  const std::vector<double> v{0.3, 0.0, -1.0, 0.0, 0.0, 0.0};
  return {motion_problem(tree, q, v), 4, 1.0};
}

/// Three feet on grounds that lean by 15 degrees in three directions, as tripod.
inline ImpactTree tripod_tree() {
  SpatialTree tree;
  tree.name = "tripod";
  SpatialTreeLink disk;
  disk.inertia = {1.0 / 16.0, 1.0 / 16.0, 1.0 / 8.0};
  tree.links = {disk};
  const double slope = 15.0 * std::numbers::pi / 180.0;
  for (int foot = 0; foot < 3; ++foot) {
    const double azimuth = foot * 2.0 * std::numbers::pi / 3.0;
    const double lean = foot * 7.0 * std::numbers::pi / 6.0;
    SpatialTreeContact contact;
    contact.point = {0.5 * std::cos(azimuth), 0.5 * std::sin(azimuth), -0.5 + 0.05 * (foot - 1)};
    contact.normal = {std::sin(slope) * std::cos(lean), std::sin(slope) * std::sin(lean),
                      std::cos(slope)};
    for (int d = 0; d < 3; ++d) {
      contact.offset +=
          contact.normal[static_cast<std::size_t>(d)] * contact.point[static_cast<std::size_t>(d)];
    }
    contact.friction = 0.5;
    tree.contacts.push_back(contact);
  }
  const std::vector<double> q{0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  const std::vector<double> v{0.0, 0.0, -1.0, 0.0, 0.0, 0.0};
  return {motion_problem(tree, q, v), 3, 1.0};
}

inline std::vector<ImpactTree> impact_trees() {
  return {gait_tree(), box_tree(), cube_tree(), tripod_tree()};
}

/// A uniform ball of 1 kg and radius 0.5 m against the floor and two walls, as ball_in_corner.
inline OwnMechanism ball_in_corner() {
  OwnMechanism ball;
  ball.dimension = 3;
  ball.positions = ball.velocities = 6;
  ball.contacts = 3;
  ball.terms = [](const MechanismState& at, MechanismAnswer& answer) {
    constexpr double kRadius = 0.5;
    constexpr int kNormal[3] = {2, 0, 1};
    // Tangents with their sign, right-handed with the normal.
    constexpr int kTangent[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    constexpr double kSign[3][2] = {{1, 1}, {1, 1}, {1, -1}};
    for (std::size_t j = 0; j < 6; ++j) {
      answer.mass[7 * j] = j < 3 ? 1.0 : 0.1;
      answer.rates[j] = at.velocity[j];
    }
    answer.force[2] = -9.81;
    answer.potential = 9.81 * at.position[2];
    for (std::size_t i = 0; i < 3; ++i) {
      const auto n = static_cast<std::size_t>(kNormal[i]);
      answer.gap[i] = at.position[n] - kRadius;
      answer.friction[i] = 0.5;
      double* rows = answer.jacobian.data() + 18 * i;
      rows[n] = 1.0;
      for (std::size_t k = 0; k < 2; ++k) {
        const auto t = static_cast<std::size_t>(kTangent[i][k]);
        rows[6 * (k + 1) + t] = kSign[i][k];
        // The arm -r n crosses the tangent: -r n x t is along the third axis.
        const std::size_t third = 3 - n - t;
        const double turn = (n + 1) % 3 == t ? 1.0 : -1.0;
        rows[6 * (k + 1) + 3 + third] = -kRadius * turn * kSign[i][k];
      }
    }
  };
  return ball;
}

}  // namespace carom::test
