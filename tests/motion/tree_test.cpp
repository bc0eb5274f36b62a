// Own mechanisms against closed forms and against the built-in ones.

#include <carom/motion_reachable.hpp>
#include <carom/motion_tree.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>

namespace carom {
namespace {

/// The rocking block as a tree of one link.
MechanismTree block_tree() {
  MechanismTree tree;
  tree.name = "block";
  TreeLink body;
  body.inertia = 5.0 / 12.0;
  tree.links = {body};
  for (const double side : {-0.5, 0.5}) {
    TreeContact corner;
    corner.point = {side, -1.0};
    corner.friction = 1.0;
    tree.contacts.push_back(corner);
  }
  return tree;
}

MotionResult simulate(const MotionProblem& problem, double duration, std::int64_t samples = 1) {
  MotionSettings settings;
  settings.duration = duration;
  settings.samples = samples;
  settings.step_size = 0.3;
  return simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
}

TEST(MotionTree, BlockOfOneLinkIsTheRockingBlock) {
  const std::vector<double> q{0.0, 1.0, 0.0};
  const std::vector<double> v{-1.0, 0.5, 1.0};
  const MotionResult result = simulate(motion_problem(block_tree(), q, v), 4.0);
  EXPECT_EQ(result.end.host()[0], MotionEnd::rest);
  EXPECT_NEAR(result.zeno_time.host()[0], 2.671421, 1e-6);
  EXPECT_NEAR(result.zeno_s.host()[0], 28.37807, 1e-5);
}

TEST(MotionTree, ImpactProblemIsTheModels) {
  const std::vector<double> q{0.0, 1.0, 0.0};
  const std::vector<double> v{0.0, -0.4429, 0.0};
  const ImpactProblem own = impact_problem(motion_problem(block_tree(), q, v));
  const ImpactProblem model = models::build("rocking_block");
  ASSERT_EQ(own.contacts, 2);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-15) << i;
  };
  same(own.mass_matrix, model.mass_matrix);
  same(own.normal_jacobian, model.normal_jacobian);
  same(own.tangent_jacobian, model.tangent_jacobian);
  same(own.velocity, model.velocity);
}

TEST(MotionTree, SpringAndDamperHaveTheirClosedForm) {
  // A mass on a vertical slide, hanging on a joint spring with damper.
  MechanismTree tree;
  tree.floating = false;
  TreeLink mass;
  mass.slides = true;
  mass.axis = std::asin(1.0);
  mass.mass = 2.0;
  mass.stiffness = 50.0;
  mass.damping = 1.5;
  tree.links = {mass};
  const std::vector<double> q{0.3};
  const std::vector<double> v{0.0};
  const MotionResult result = simulate(motion_problem(tree, q, v), 1.3);
  const double rest = -2.0 * 9.81 / 50.0;
  const double decay = 1.5 / 4.0;
  const double omega = std::sqrt(25.0 - decay * decay);
  const double t = 1.3;
  const double a = 0.3 - rest;
  EXPECT_NEAR(result.position.host()[0],
              rest + std::exp(-decay * t) *
                         (a * std::cos(omega * t) + a * decay / omega * std::sin(omega * t)),
              1e-9);
  EXPECT_LT(result.energy_error.host()[0], 1e-8);
}

TEST(MotionTree, EnergyOfAChainWithSlideAndSpringIsKept) {
  MechanismTree tree;
  tree.floating = false;
  TreeLink arm;
  arm.hinge = {0.2, 0.1};
  arm.mass = 1.3;
  arm.inertia = 0.05;
  arm.mass_centre = {0.4, 0.05};
  TreeLink sleeve = arm;  // runs along the arm
  sleeve.parent = 0;
  sleeve.slides = true;
  sleeve.hinge = {0.3, 0.0};
  sleeve.axis = 0.4;
  sleeve.stiffness = 30.0;
  TreeLink tip = arm;
  tip.parent = 1;
  tip.hinge = {0.1, -0.2};
  tip.stiffness = 3.0;
  tree.links = {arm, sleeve, tip};
  TreeSpring spring;
  spring.from_point = {1.0, 1.0};
  spring.to = 2;
  spring.to_point = {0.3, 0.0};
  spring.stiffness = 12.0;
  spring.length = 0.5;
  tree.springs = {spring};
  const std::vector<double> q{0.3, 0.1, -0.4};
  const std::vector<double> v{2.0, -0.5, 4.0};
  const MotionResult result = simulate(motion_problem(tree, q, v), 3.0);
  EXPECT_EQ(result.end.host()[0], MotionEnd::duration);
  EXPECT_LT(result.energy_error.host()[0], 1e-8);  // wrong Coriolis terms would show at once
}

TEST(MotionTree, RefusesByName) {
  const std::vector<double> q{0.0, 1.0, 0.0};
  const auto refusal = [&](const MechanismTree& tree, const std::vector<double>& start) {
    try {
      static_cast<void>(motion_problem(tree, start, q));
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  MechanismTree tree = block_tree();
  tree.links[0].name = "body";
  tree.links[0].parent = 0;
  EXPECT_NE(refusal(tree, q).find("parent of link 0 (\"body\")"), std::string::npos)
      << refusal(tree, q);
  EXPECT_NE(refusal(tree, q).find("loops"), std::string::npos);
  tree = block_tree();
  tree.links[0].mass = -1.0;
  EXPECT_NE(refusal(tree, q).find("mass of link 0"), std::string::npos);
  EXPECT_NE(refusal(tree, q).find("-1"), std::string::npos);
  tree = block_tree();
  tree.contacts[1].normal = {0.0, 2.0};
  EXPECT_NE(refusal(tree, q).find("normal of contact 1"), std::string::npos);
  EXPECT_NE(refusal(block_tree(), {0.0}).find("position"), std::string::npos);
}

TEST(Reachable, CoversEveryMotion) {
  const MotionProblem problem = models::build_motion("rocking_block_drop");
  const MotionBatch batch = make_batch({&problem, 1});
  MotionSettings settings;
  settings.duration = 0.2;
  settings.grid = 0.1;
  settings.samples = 300;
  settings.step_size = 0.3;
  ReachableSettings nets;
  nets.epsilon = 0.05;
  const auto sets = reachable(batch, settings, nets, Backend::cpu);
  ASSERT_EQ(sets.size(), 1U);
  ASSERT_EQ(sets[0].size(), 3U);
  EXPECT_GT(sets[0][0].net.points(), 1);  // they start with an impact
  settings.keep_samples = settings.samples;
  const MotionResult motions = simulate_motions(batch, settings, Backend::cpu);
  for (std::size_t k = 0; k < 3; ++k) {
    const EpsilonNet& net = sets[0][k].net;
    for (std::size_t i = 0; i < 300; ++i) {
      const double* state = motions.state.data() + (i * 3 + k) * 7;
      double nearest = 1e9;
      for (std::size_t point = 0; point < static_cast<std::size_t>(net.points()); ++point) {
        double square = 0.0;
        for (std::size_t j = 0; j < 6; ++j) {
          square += std::pow(state[j] - net.velocity[point * 6 + j], 2);
        }
        nearest = std::min(nearest, std::sqrt(square));
      }
      EXPECT_LE(nearest, nets.epsilon);
    }
    for (std::size_t i = 1; i < net.coverage.size(); ++i) {
      EXPECT_GE(net.coverage[i], net.coverage[i - 1]);
    }
  }
  EXPECT_GT(sets[0][1].net.points(), 1);
}

}  // namespace
}  // namespace carom
