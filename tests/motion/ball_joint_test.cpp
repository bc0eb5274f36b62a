// Ball joints of spatial trees against Euler's equations, three hinges and conservation laws.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <carom/error.hpp>
#include <carom/motion_replay.hpp>

#include "support/motion_runs.hpp"
#include "support/own_mechanisms.hpp"

namespace carom {
namespace {

using test::kGravity;

using Eigen::Matrix3d, Eigen::Quaterniond, Eigen::Vector3d, Eigen::VectorXd;

MotionResult simulate_joint(const MotionProblem& problem, double duration) {
  MotionSettings settings;
  settings.duration = duration;
  settings.keep_samples = 1;
  settings.keep_events = 200;
  settings.grid = 0.05;
  return simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
}

/// A body on a ball at the world's origin.
SpatialTree hung(double mass, const Vector3d& moments, const Vector3d& centre) {
  SpatialTree tree;
  tree.floating = false;
  SpatialTreeLink body;
  body.ball = true;
  body.mass = mass;
  body.inertia = {moments[0], moments[1], moments[2]};
  body.mass_centre = {centre[0], centre[1], centre[2]};
  tree.links = {body};
  return tree;
}

/// Euler's equations of such a body by classical Runge-Kutta steps: (quaternion, angular velocity).
class HungBody {
 public:
  HungBody(double mass, const Vector3d& moments, const Vector3d& centre)
      : mass_(mass), centre_(centre) {
    inertia_ = moments.asDiagonal();
    inertia_ += mass * (centre.squaredNorm() * Matrix3d::Identity() - centre * centre.transpose());
  }
  [[nodiscard]] VectorXd after(VectorXd y, double time, int steps) const {
    const double h = time / steps;
    for (int k = 0; k < steps; ++k) {
      const VectorXd a = rate(y);
      const VectorXd b = rate(y + 0.5 * h * a);
      const VectorXd c = rate(y + 0.5 * h * b);
      const VectorXd d = rate(y + h * c);
      y += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    return y;
  }
  [[nodiscard]] Vector3d momentum(const VectorXd& y) const {
    return turned(y) * Vector3d(inertia_ * y.tail<3>());
  }
  [[nodiscard]] double energy(const VectorXd& y) const {
    return 0.5 * y.tail<3>().dot(inertia_ * y.tail<3>()) +
           mass_ * kGravity * (turned(y) * centre_)[2];
  }

 private:
  static Quaterniond turned(const VectorXd& y) { return Quaterniond(y[0], y[1], y[2], y[3]); }
  [[nodiscard]] VectorXd rate(const VectorXd& y) const {
    const Vector3d w = y.tail<3>();
    const Quaterniond q = turned(y);
    const Quaterniond turning = q * Quaterniond(0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]);
    const Vector3d weight = q.normalized().conjugate() * Vector3d(0.0, 0.0, -mass_ * kGravity);
    VectorXd out(7);
    out << turning.w(), turning.vec(),
        inertia_.ldlt().solve(Vector3d(inertia_ * w).cross(w) + centre_.cross(weight));
    return out;
  }
  double mass_;
  Vector3d centre_;
  Matrix3d inertia_;
};

VectorXd state_of(const double* q, const double* v) {
  VectorXd y(7);
  for (int j = 0; j < 4; ++j) y[j] = q[j];
  for (int j = 0; j < 3; ++j) y[4 + j] = v[j];
  return y;
}

TEST(BallJoint, HungBodiesFollowEulersEquations) {
  struct Case {
    Vector3d moments, centre;
  };
  // A swinging plate and a fast symmetric top that stands on its ball.
  for (const Case& body :
       {Case{{0.02, 0.05, 0.04}, {0.1, -0.3, 0.2}}, Case{{0.004, 0.004, 0.002}, {0.0, 0.0, 0.1}}}) {
    const double mass = 0.8;
    const std::vector<double> q{0.8, 0.36, 0.48, 0.0};
    const std::vector<double> v{0.5, -1.0, 30.0 * (body.centre[1] == 0.0 ? 1.0 : 0.1)};
    const MotionProblem problem = motion_problem(hung(mass, body.moments, body.centre), q, v);
    const MotionResult result = simulate_joint(problem, 1.5);
    ASSERT_EQ(result.end.host()[0], MotionEnd::duration);
    EXPECT_LT(result.energy_error.host()[0], 1e-9);
    const HungBody euler(mass, body.moments, body.centre);
    const VectorXd start = state_of(q.data(), v.data());
    const VectorXd end = state_of(result.position.data(), result.velocity.data());
    EXPECT_LT((end - euler.after(start, 1.5, 10000)).norm(), 1e-7);
    EXPECT_NEAR(end.head<4>().norm(), 1.0, 1e-14);
    EXPECT_NEAR(euler.energy(end), euler.energy(start), 1e-9);
    // Gravity has no moment about the vertical, of a symmetric top none about its axis either.
    EXPECT_NEAR(euler.momentum(end)[2], euler.momentum(start)[2], 1e-9);
    if (body.centre[1] == 0.0) {
      EXPECT_NEAR(end[6], start[6], 1e-9);
    }
  }
}

/// A free body with an arm whose tip may touch the floor, on a ball or on three hinges.
SpatialTree armed(bool ball) {
  SpatialTree tree;
  SpatialTreeLink body;
  body.mass = 1.0;
  body.inertia = {0.02, 0.03, 0.04, 0.002, 0.0, -0.001};
  tree.links = {body};
  const std::array<double, 3> place{0.2, 0.1, -0.05};
  for (int k = 0; k < (ball ? 0 : 2); ++k) {
    SpatialTreeLink between;
    between.parent = k;
    between.mass = 0.0;
    if (k == 0) between.place = place;
    between.axis =
        k == 0 ? std::array<double, 3>{0.0, 0.0, 1.0} : std::array<double, 3>{0.0, 1.0, 0.0};
    tree.links.push_back(between);
  }
  SpatialTreeLink arm;
  arm.parent = ball ? 0 : 2;
  arm.ball = ball;
  if (ball) arm.place = place;
  arm.axis = {1.0, 0.0, 0.0};
  arm.mass = 0.3;
  arm.mass_centre = {0.15, 0.0, 0.02};
  arm.inertia = {0.0005, 0.002, 0.0021};
  tree.links.push_back(arm);
  SpatialTreeContact tip;
  tip.link = ball ? 1 : 3;
  tip.point = {0.3, 0.0, 0.0};
  tip.friction = 0.5;
  tree.contacts = {tip};
  return tree;
}

MotionProblem armed_problem(bool ball) {
  // At zero the hinges' axes are those of the parent: rates are an angular velocity's components.
  const std::vector<double> q{0.0, 0.0, 0.56, 0.8, 0.0, 0.6, 0.0};
  std::vector<double> position = q;
  std::vector<double> velocity{0.3, -0.2, -0.5, 1.0, -2.0, 0.5};
  if (ball) {
    position.insert(position.end(), {1.0, 0.0, 0.0, 0.0});
    velocity.insert(velocity.end(), {2.0, -1.5, 3.0});
  } else {
    position.insert(position.end(), {0.0, 0.0, 0.0});
    velocity.insert(velocity.end(), {3.0, -1.5, 2.0});
  }
  return motion_problem(armed(ball), position, velocity);
}

TEST(BallJoint, IsThreeHingesAwayFromTheirSingularity) {
  const MotionResult one = simulate_joint(armed_problem(true), 0.3);
  const MotionResult three = simulate_joint(armed_problem(false), 0.3);
  ASSERT_EQ(one.end.host()[0], MotionEnd::duration);
  EXPECT_EQ(one.impacts.host()[0], three.impacts.host()[0]);
  for (std::size_t j = 0; j < 7; ++j) {
    EXPECT_NEAR(one.position.host()[j], three.position.host()[j], 1e-8) << j;
  }
  for (std::size_t j = 0; j < 6; ++j) {
    EXPECT_NEAR(one.velocity.host()[j], three.velocity.host()[j], 1e-7) << j;
  }
}

TEST(BallJoint, RowsAreTheGapsRatesAndTheirDrift) {
  const MotionProblem problem = armed_problem(true);
  const auto nv = static_cast<Eigen::Index>(problem.velocity.size());
  using Rows = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;
  const auto at = [&](double by) {
    const MotionTerms here = motion_terms(problem, problem.position, problem.velocity);
    std::vector<double> q = problem.position;
    for (std::size_t j = 0; j < q.size(); ++j) q[j] += by * here.rates[j];
    return motion_terms(problem, q, problem.velocity);
  };
  const auto speed = [&](const MotionTerms& terms) {
    const Eigen::Map<const VectorXd> v(problem.velocity.data(), nv);
    return Vector3d(Eigen::Map<const Rows>(terms.jacobian.data(), 3, nv) * v);
  };
  const double h = 1e-6;
  const MotionTerms here = at(0.0);
  EXPECT_EQ(here.quaternions, (std::vector<int>{3, 7}));
  EXPECT_NEAR(speed(here)[0], (at(h).gap[0] - at(-h).gap[0]) / (2.0 * h), 1e-8);
  const Vector3d bending = (speed(at(h)) - speed(at(-h))) / (2.0 * h);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(here.drift[static_cast<std::size_t>(k)], bending[k], 1e-7);
  }
}

TEST(BallJoint, MotionsThroughImpactsAreCertifiedAndReplayed) {
  const MotionProblem problem = armed_problem(true);
  MotionSettings settings;
  settings.duration = 0.5;
  settings.keep_samples = 1;
  settings.keep_events = 200;
  const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
  const MotionSummary sum = summarise(result, 0);
  EXPECT_EQ(sum.ended_failed, 0);
  EXPECT_GT(sum.impacts, 0);
  EXPECT_LT(sum.max_residual, 1e-8);
  EXPECT_LT(sum.max_gap_drift, 1e-10);
  EXPECT_LT(sum.max_energy_error, 1e-9);
  const MotionReplay judged = replay_motion(problem, result, 0, {});
  EXPECT_GT(judged.pieces, 0);
  EXPECT_EQ(judged.differing, 0);
  EXPECT_EQ(judged.differing_jumps, 0);
}

TEST(BallJoint, DampersTakeEnergy) {
  SpatialTree tree = hung(0.8, {0.02, 0.05, 0.04}, {0.1, -0.3, 0.2});
  tree.links[0].damping = 0.05;
  const std::vector<double> q{1.0, 0.0, 0.0, 0.0};
  const std::vector<double> v{0.5, -1.0, 3.0};
  const MotionProblem problem = motion_problem(tree, q, v);
  const MotionResult result = simulate_joint(problem, 2.0);
  const auto energy = [&](const std::vector<double>& at, const std::vector<double>& rate) {
    return motion_terms(problem, at, rate).energy;
  };
  EXPECT_LT(energy(result.position.to_vector(), result.velocity.to_vector()), energy(q, v) - 0.05);
  EXPECT_LT(result.energy_error.host()[0], 1e-9);
}

TEST(BallJoint, RefusesByName) {
  const auto refusal = [](const auto& change) {
    SpatialTree tree = hung(0.8, {0.02, 0.05, 0.04}, {0.1, -0.3, 0.2});
    std::vector<double> q{1.0, 0.0, 0.0, 0.0};
    std::vector<double> v{0.0, 0.0, 0.0};
    change(tree, q, v);
    try {
      static_cast<void>(motion_problem(tree, q, v));
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const auto expect = [&](const auto& change, const std::string& words) {
    EXPECT_NE(refusal(change).find(words), std::string::npos) << refusal(change);
  };
  expect([](auto& tree, auto&, auto&) { tree.links[0].stiffness = 1.0; }, "stiffness of link 0");
  expect([](auto& tree, auto&, auto&) { tree.links[0].effort = 1.0; }, "effort of link 0");
  expect([](auto& tree, auto&, auto&) { tree.links[0].slides = true; }, "slides of link 0");
  expect([](auto&, auto& q, auto&) { q[0] = 2.0; }, "quaternion");
  expect([](auto&, auto& q, auto&) { q.pop_back(); }, "position");
  expect(
      [](auto& tree, auto&, auto&) {
        for (int k = 0; k < 4; ++k) {
          tree.links.push_back(tree.links[0]);
          tree.links.back().parent = k;
        }
      },
      "15 velocities");
}

}  // namespace
}  // namespace carom
