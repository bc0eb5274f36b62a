#include <cmath>

#include <gtest/gtest.h>

#include <carom/equilibrium_membership.hpp>

#include "support/message.hpp"
#include "support/spatial_postures.hpp"

namespace carom {
namespace {

SpatialSettings settings() {
  SpatialSettings chosen;
  chosen.threads = 1;
  return chosen;
}

TEST(SpatialMembership, DistancesToTheEdgesOfFlatGround) {
  const double feet[] = {0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0, 2.0};
  const Posture posture = test::flat_ground(feet, 0.5);
  const double probes[][3] = {{1.0, 1.0, 3.0}, {0.25, 1.0, -2.0}, {2.5, 1.0, 0.0}, {3.0, 3.0, 1.0}};
  const double margins[] = {1.0, 0.25, -0.5, -std::sqrt(2.0)};
  for (int i = 0; i < 4; ++i) {
    const auto result =
        probe_membership(make_batch(std::span(&posture, 1)), probes[i], settings())[0];
    EXPECT_NEAR(result.margin_lower, margins[i], 1e-7);
    EXPECT_NEAR(result.margin_upper, margins[i], 1e-7);
    if (margins[i] > 0.0) {
      ASSERT_EQ(result.status, Status::solved) << i;
      EXPECT_LE(test::force_violation(posture, result.forces.data(),
                                      Eigen::Vector3d(probes[i][0], probes[i][1], probes[i][2])),
                1e-9);
    } else {
      ASSERT_EQ(result.status, Status::infeasible) << i;
      EXPECT_GE(test::field_slack(posture, result.dual.data()), 0.0);
      const Eigen::Vector4d proof = test::proven_half_space(posture, result.dual.data());
      EXPECT_GT(proof[0] * probes[i][0] + proof[1] * probes[i][1] + proof[2] * probes[i][2],
                proof[3]);
    }
  }
  // The middle of a square on level ground: the least forces share the weight equally.
  const auto middle =
      probe_membership(make_batch(std::span(&posture, 1)), probes[0], settings())[0];
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(middle.forces[3 * c + 2], 0.25, 1e-9);
    EXPECT_NEAR(middle.forces[3 * c], 0.0, 1e-9);
  }
}

TEST(SpatialMembership, AgreesWithTheRegionAndItsForces) {
  std::mt19937_64 draw(7);
  int held = 0;
  int refused = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Posture posture = test::random_spatial(draw, {4, 0.7, 0.2, 0.8, trial % 2 == 1});
    const PostureBatch batch = make_batch(std::span(&posture, 1));
    const SpatialRegion region = spatial_equilibrium(batch, settings(), Backend::cpu)[0];
    if (region.status != Status::solved) continue;
    std::uniform_real_distribution<double> spread(-1.0, 1.0);
    const double x[3] = {spread(draw), spread(draw), spread(draw)};
    const Membership result = probe_membership(batch, x, settings())[0];
    bool outside = false;
    for (std::size_t h = 0; h < region.half_plane.size() / 3; ++h) {
      const double* line = region.half_plane.data() + 3 * h;
      outside = outside || test::in_world(region, line).dot(Eigen::Vector3d(x[0], x[1], x[2])) >
                               line[2] + 1e-9;
    }
    EXPECT_LE(result.margin_lower, result.margin_upper);
    if (outside) {
      EXPECT_EQ(result.status, Status::infeasible);
      ++refused;
    } else if (result.margin_lower > 1e-6) {
      ASSERT_EQ(result.status, Status::solved) << trial;
      EXPECT_LE(
          test::force_violation(posture, result.forces.data(), Eigen::Vector3d(x[0], x[1], x[2])),
          1e-9);
      ++held;
    }
  }
  EXPECT_GT(held, 5);
  EXPECT_GT(refused, 5);
}

/// Gravity that leans by up to `lean` in four directions.
std::vector<double> leaning(double lean) {
  std::vector<double> wrenches;
  for (int j = 0; j < 4; ++j) {
    const double angle = 1.5707963267948966 * j;
    for (const double value :
         {lean * std::cos(angle), lean * std::sin(angle), -1.0, 0.0, 0.0, 0.0}) {
      wrenches.push_back(value);
    }
  }
  return wrenches;
}

TEST(RobustRegion, ShrinksAsTheNeighbourhoodGrows) {
  std::mt19937_64 draw(2);
  Posture posture = test::random_spatial(draw, {5, 0.3, 0.5, 0.9});
  double previous = 1e300;
  for (const double lean : {0.0, 0.05, 0.1, 0.2}) {
    posture.wrench_vertices = leaning(lean);
    const RobustRegion region = robust_region(make_batch(std::span(&posture, 1)), settings())[0];
    ASSERT_EQ(region.status, Status::solved);
    const RobustSection section = robust_section(region, 0.4);
    EXPECT_TRUE(section.bounded);
    EXPECT_LE(section.area_inner, section.area_outer + 1e-9);
    EXPECT_LE(section.area_outer - section.area_inner, 5e-3);
    EXPECT_LT(section.area_outer, previous + 1e-12);
    previous = section.area_inner + 2e-3;
  }
}

TEST(RobustRegion, EqualsMembershipOfEveryVertex) {
  std::mt19937_64 draw(5);
  int inside = 0;
  int outside = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Posture posture = test::random_spatial(draw, {4, 0.4, 0.4, 0.9});
    posture.wrench_vertices = leaning(0.15);
    posture.wrench_vertices[3] = 0.05;
    const PostureBatch batch = make_batch(std::span(&posture, 1));
    const RobustRegion region = robust_region(batch, settings())[0];
    std::uniform_real_distribution<double> spread(-0.6, 0.6);
    for (int probe = 0; probe < 12; ++probe) {
      const double x[3] = {spread(draw), spread(draw), spread(draw)};
      bool held = true;
      bool lost = false;
      for (std::size_t v = 0; v < 4; ++v) {
        Posture one = posture;
        one.wrench_vertices.clear();
        one.wrench.assign(posture.wrench_vertices.begin() + static_cast<long>(6 * v),
                          posture.wrench_vertices.begin() + static_cast<long>(6 * v + 6));
        const Membership result =
            probe_membership(make_batch(std::span(&one, 1)), x, settings())[0];
        held = held && result.status == Status::solved;
        lost = lost || result.status == Status::infeasible;
      }
      const int verdict = robust_contains(region, x);
      if (verdict == 1) {
        EXPECT_TRUE(held);
        ++inside;
      }
      if (verdict == -1) {
        EXPECT_TRUE(lost);
        ++outside;
      }
    }
  }
  EXPECT_GT(inside, 10);
  EXPECT_GT(outside, 10);
}

TEST(RobustRegion, RefusesWhatItCannotUse) {
  const double feet[] = {0.0, 0.0};
  const Posture posture = test::flat_ground(feet, 0.5);
  const PostureBatch batch = make_batch(std::span(&posture, 1));
  test::expect_names(test::refusal([&] { robust_region(batch, settings()); }), {"vertices is 0"});
  const double nan[] = {0.0, std::nan(""), 0.0};
  test::expect_names(test::refusal([&] { probe_membership(batch, nan, settings()); }),
                     {"centre_of_mass[0][1] is nan"});
}

}  // namespace
}  // namespace carom
