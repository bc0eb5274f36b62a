// Own mechanisms in space against differences, conservation laws and the built-in cube.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <carom/error.hpp>
#include <carom/models/motions.hpp>
#include <carom/motion_replay.hpp>

#include "support/own_mechanisms.hpp"

namespace carom {
namespace {

using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

MotionTerms terms_at(const MotionProblem& problem, const VectorXd& q, const VectorXd& v) {
  return motion_terms(problem, {q.data(), static_cast<std::size_t>(q.size())},
                      {v.data(), static_cast<std::size_t>(v.size())});
}
VectorXd vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}
RowMajor matrix(const std::vector<double>& values, Eigen::Index columns) {
  return Eigen::Map<const RowMajor>(values.data(),
                                    static_cast<Eigen::Index>(values.size()) / columns, columns);
}

/// (linear, angular about the world's origin) momentum of a tree whose first link is free: M v
/// holds the linear one and the angular one about that link's origin, in its axes.
Eigen::Matrix<double, 6, 1> momentum(const MotionProblem& problem, const VectorXd& q,
                                     const VectorXd& v) {
  const VectorXd p = matrix(terms_at(problem, q, v).mass, v.size()) * v;
  const Eigen::Quaterniond turned(q[3], q[4], q[5], q[6]);
  Eigen::Matrix<double, 6, 1> sum;
  const Eigen::Vector3d at = q.head<3>();
  const Eigen::Vector3d linear = p.head<3>();
  sum << linear, turned * Eigen::Vector3d(p.segment<3>(3)) + at.cross(linear);
  return sum;
}

TEST(SpatialTree, RowsAreTheGapsRates) {
  const MotionProblem problem = test::hammer_problem();
  const VectorXd q = vector(problem.position);
  const VectorXd v = vector(problem.velocity);
  const Eigen::Index nv = v.size();
  const MotionTerms at = terms_at(problem, q, v);
  EXPECT_EQ(at.rows, 3);
  const double h = 1e-6;
  const VectorXd way = h * vector(at.rates);
  const MotionTerms ahead = terms_at(problem, q + way, v);
  const MotionTerms behind = terms_at(problem, q - way, v);
  const VectorXd speed = matrix(at.jacobian, nv) * v;
  const VectorXd bending =
      (matrix(ahead.jacobian, nv) - matrix(behind.jacobian, nv)) * v / (2.0 * h);
  ASSERT_EQ(at.gap.size(), 3U);
  for (std::size_t i = 0; i < at.gap.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(3 * i);
    EXPECT_NEAR(speed[row], (ahead.gap[i] - behind.gap[i]) / (2.0 * h), 1e-8) << i;
  }
  for (Eigen::Index k = 0; k < bending.size(); ++k) {
    EXPECT_NEAR(at.drift[static_cast<std::size_t>(k)], bending[k], 1e-7) << k;
  }
}

TEST(SpatialTree, FreeFlightKeepsEnergyAndMomentum) {
  SpatialTree tree = test::hammer_tree();
  tree.gravity = {};
  tree.contacts.clear();
  const MotionProblem problem = test::hammer_problem(tree);
  MotionSettings settings;
  settings.duration = 2.0;
  const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
  ASSERT_EQ(result.end.host()[0], MotionEnd::duration);
  EXPECT_LT(result.energy_error.host()[0], 1e-8);
  const auto before = momentum(problem, vector(problem.position), vector(problem.velocity));
  const auto after =
      momentum(problem, vector(result.position.to_vector()), vector(result.velocity.to_vector()));
  EXPECT_GT(before.tail<3>().norm(), 0.01);
  EXPECT_LT((after - before).norm(), 1e-8) << after.transpose() << "\n" << before.transpose();
}

TEST(SpatialTree, PendulumOnAWorldsHinge) {
  SpatialTree tree;
  tree.floating = false;
  SpatialTreeLink rod;
  rod.axis = {0.0, 1.0, 0.0};
  rod.mass = 1.5;
  rod.inertia = {0.0, 0.02, 0.02};
  rod.mass_centre = {0.0, 0.0, -0.4};
  tree.links = {rod};
  const std::vector<double> q{0.7};
  const std::vector<double> v{0.3};
  const MotionTerms at = motion_terms(motion_problem(tree, q, v), q, v);
  EXPECT_NEAR(at.mass[0], 0.02 + 1.5 * 0.16, 1e-15);
  EXPECT_NEAR(at.force[0], -1.5 * 9.81 * 0.4 * std::sin(0.7), 1e-14);
}

TEST(SpatialTree, CubeOfOneLinkIsTheCube) {
  const MotionProblem model = models::build_motion("cube_toss");
  const double mass = model.parameters[0];
  const double width = model.parameters[1];
  SpatialTree tree;
  SpatialTreeLink body;
  body.mass = mass;
  body.inertia.fill(0.0);
  for (int d = 0; d < 3; ++d) body.inertia[static_cast<std::size_t>(d)] = mass * width * width / 6;
  tree.links = {body};
  const double half = width / 2;
  for (int i = 0; i < 8; ++i) {
    const int corner = i % 4;
    SpatialTreeContact contact;
    contact.point = {corner == 1 || corner == 2 ? half : -half, corner > 1 ? half : -half,
                     i < 4 ? -half : half};
    contact.friction = model.parameters[2];
    tree.contacts.push_back(contact);
  }
  MotionProblem own = motion_problem(tree, model.position, model.velocity);
  const VectorXd q = vector(model.position);
  const VectorXd v = vector(model.velocity);
  const MotionTerms a = terms_at(own, q, v);
  const MotionTerms b = terms_at(model, q, v);
  EXPECT_LT((vector(a.mass) - vector(b.mass)).norm(), 1e-14);
  EXPECT_LT((vector(a.force) - vector(b.force)).norm(), 1e-13);
  EXPECT_LT((vector(a.gap) - vector(b.gap)).norm(), 1e-14);
  EXPECT_LT((vector(a.jacobian) - vector(b.jacobian)).norm(), 1e-13);
  EXPECT_LT((vector(a.drift) - vector(b.drift)).norm(), 1e-12);
  MotionSettings settings;
  settings.duration = models::find_motion("cube_toss").duration;
  settings.step_size = models::find_motion("cube_toss").step_size;
  settings.samples = 5;
  const MotionResult of_tree = simulate_motions(make_batch({&own, 1}), settings, Backend::cpu);
  const MotionResult of_model = simulate_motions(make_batch({&model, 1}), settings, Backend::cpu);
  EXPECT_LT(
      (vector(of_tree.first_impact.to_vector()) - vector(of_model.first_impact.to_vector())).norm(),
      1e-8);
}

TEST(SpatialTree, MotionsAreCertified) {
  const MotionProblem problem = test::hammer_problem();
  MotionSettings settings;
  settings.duration = 1.0;
  settings.samples = 4;
  settings.keep_samples = 4;
  settings.keep_events = 200;
  const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
  const MotionSummary sum = summarise(result, 0);
  EXPECT_EQ(sum.ended_failed, 0);
  EXPECT_GT(sum.impacts, 4);
  EXPECT_LT(sum.max_residual, 1e-8);
  EXPECT_LT(sum.max_gap_drift, 1e-9);
  EXPECT_LT(sum.max_energy_error, 1e-7);
  ReplaySettings replay;
  replay.longest = 0.2;
  const MotionReplay judged = replay_motion(problem, result, 0, replay);
  EXPECT_GT(judged.pieces, 0);
  EXPECT_EQ(judged.differing, 0);
  EXPECT_EQ(judged.differing_jumps, 0);
}

TEST(SpatialTree, RefusesByName) {
  const MotionProblem start = test::hammer_problem();
  const auto refusal = [&](const auto& change) {
    SpatialTree tree = test::hammer_tree();
    std::vector<double> q = start.position;
    change(tree, q);
    try {
      static_cast<void>(motion_problem(tree, q, start.velocity));
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const auto expect = [&](const auto& change, const std::string& words) {
    EXPECT_NE(refusal(change).find(words), std::string::npos) << refusal(change);
  };
  expect([](auto& tree, auto&) { tree.links[0].inertia = {1.0, 1.0, 3.0}; }, "inertia of link 0");
  expect([](auto& tree, auto&) { tree.links[1].inertia[0] = -1.0; }, "inertia of link 1");
  expect([](auto& tree, auto&) { tree.links[1].parent = -1; }, "parent of link 1");
  expect([](auto& tree, auto&) { tree.links[2].axis = {0.0, 0.0, 2.0}; }, "axis of link 2");
  expect([](auto& tree, auto&) { tree.contacts[2].link = 3; }, "link of contact 2");
  expect([](auto&, auto& q) { q[3] = 2.0; }, "quaternion");
  expect([](auto&, auto& q) { q.pop_back(); }, "position");
}

}  // namespace
}  // namespace carom
