#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <carom/models/postures.hpp>

#include "support/message.hpp"
#include "support/planar_batches.hpp"

namespace carom {
namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180.0; }

PlanarResult solve_posture(const Posture& posture) {
  return planar_equilibrium(test::batch_of(posture), {}, Backend::cpu);
}

TEST(PlanarPostures, AllAreHeldSomewhere) {
  std::set<std::string> names;
  for (const models::PostureModel& model : models::postures()) {
    if (model.dimension != 2) continue;
    names.insert(model.name);
    const Posture posture = models::build_posture(model.name);
    EXPECT_EQ(posture.name, model.name);
    EXPECT_EQ(posture.contacts, static_cast<int>(model.contact_names.size()));
    EXPECT_FALSE(model.source.empty());
    const PlanarResult result = solve_posture(posture);
    EXPECT_EQ(result.status.host()[0], Status::solved) << model.name;
    if (!posture.wrench_vertices.empty()) {
      EXPECT_EQ(result.robust_status.host()[0], Status::solved) << model.name;
      EXPECT_EQ(result.robust_count.host()[0], 4) << model.name;
    }
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"two_contacts", "six_contacts", "biped_patches", "v_terrain"}));
}

// Example 2: x1 and x3 make the left edge, x5 and x6 the right one; x2 and x4 are redundant.
TEST(PlanarPostures, SixContactsHasThePapersEssentialContacts) {
  const PlanarResult result = solve_posture(models::build_posture("six_contacts"));
  EXPECT_EQ(result.essential.to_vector(), (std::vector<std::int32_t>{0, 2, 4, 5}));
  for (std::size_t e = 0; e < 2; ++e) {
    std::vector<std::size_t> bearing;
    for (std::size_t c = 0; c < 6; ++c) {
      if (result.force.host()[2 * (6 * e + c) + 1] != 0.0) bearing.push_back(c);
    }
    EXPECT_EQ(bearing,
              e == 0 ? (std::vector<std::size_t>{0, 2}) : (std::vector<std::size_t>{4, 5}));
  }
}

TEST(PlanarPostures, OverridesChangeThePosture) {
  const Posture slippery = models::build_posture("two_contacts", {{"friction", 0.1}});
  EXPECT_EQ(slippery.friction, (std::vector<double>{0.1, 0.1}));
  const PlanarResult narrow = solve_posture(slippery);
  const PlanarResult wide = solve_posture(models::build_posture("two_contacts"));
  EXPECT_GT(narrow.lower.host()[0], wide.lower.host()[0]);
  EXPECT_LT(narrow.upper.host()[0], wide.upper.host()[0]);
  const Posture leaning = models::build_posture("v_terrain", {{"tilt", 10.0}});
  EXPECT_NEAR(leaning.wrench[0], std::sin(radians(10.0)), 1e-15);
  const Posture feet = models::build_posture("biped_patches", {{"foot_length", 0.5}});
  EXPECT_EQ(feet.length, (std::vector<double>{0.5, 0.5}));
}

// Section 5: the strip loses (0, h) at min(beta_1, beta_2), rolling below 517 mm, sliding above.
TEST(VTerrainExperiment, CriticalTiltFollowsTheSmallerAngle) {
  const Posture posture = models::build_posture("v_terrain");
  const double l = posture.position[2] - posture.position[0];
  VTerrain terrain{radians(26.7), radians(13.8), l, 0.0};
  EXPECT_NEAR(v_terrain_sliding_height(terrain), 0.517, 1e-12);
  int rolling = 0;
  int sliding = 0;
  for (double h = 0.0; h < 1.0; h += 0.021) {
    terrain.height = h;
    const CriticalAngles angles = v_terrain_critical_angles(terrain);
    EXPECT_NEAR(critical_tilt(posture, 0.0, h), angles.critical, 1e-9) << h;
    EXPECT_EQ(angles.critical, std::min(angles.rolling, angles.sliding));
    ++(angles.rolling < angles.sliding ? rolling : sliding);
    EXPECT_EQ(angles.sliding < angles.rolling, h < 0.14 || h > 0.517) << h;
  }
  EXPECT_GT(rolling, 10);
  EXPECT_GT(sliding, 10);
}

TEST(VTerrainExperiment, HoldsForOtherTerrains) {
  int cases = 0;
  for (const double alpha : {-40.0, -10.0, 0.0, 5.0, 20.0, 45.0, 60.0}) {
    for (const double gamma : {1.0, 10.0, 25.0, 40.0}) {
      if (std::abs(alpha) + gamma >= 90.0) continue;
      for (const double h : {0.0, 0.1, 0.4, 1.0, 3.0}) {
        const Posture posture = models::build_posture(
            "v_terrain",
            {{"slope", alpha}, {"friction", std::tan(radians(gamma))}, {"distance", 1.0}});
        const CriticalAngles angles =
            v_terrain_critical_angles({radians(alpha), radians(gamma), 1.0, h});
        EXPECT_NEAR(critical_tilt(posture, 0.0, h), angles.critical, 1e-9)
            << alpha << " " << gamma << " " << h;
        ++cases;
      }
    }
  }
  EXPECT_GT(cases, 100);
}

// Flat ground: a force along the ground's friction angle slides whatever its height.
TEST(VTerrainExperiment, FlatGroundSlidesAtTheFrictionAngle) {
  for (const double h : {0.0, 0.2, 0.9}) {
    EXPECT_NEAR(v_terrain_critical_angles({0.0, 0.3, 1.0, h}).sliding, 0.3, 1e-15);
  }
  EXPECT_TRUE(std::isinf(v_terrain_sliding_height({0.1, 0.3, 1.0, 0.0})));
}

TEST(VTerrainExperiment, RefusesWhatIsNoTerrain) {
  const auto with = [](const VTerrain& terrain) {
    return test::refusal([&] { v_terrain_critical_angles(terrain); });
  };
  test::expect_names(with({0.2, 0.1, 0.0, 1.0}), {"distance", "0", "positive"});
  test::expect_names(with({0.2, 0.1, 1.0, -1.0}), {"height", "-1", ">= 0"});
  test::expect_names(with({0.2, -0.1, 1.0, 1.0}), {"friction_angle", "-0.1"});
  test::expect_names(with({1.5, 0.2, 1.0, 1.0}), {"slope", "1.5", "pi / 2"});
  test::expect_names(
      test::refusal([] { critical_tilt(models::build_posture("v_terrain"), 0.0, 0.1, 0.0); }),
      {"tolerance is 0"});
  EXPECT_EQ(critical_tilt(models::build_posture("v_terrain"), 5.0, 0.1), 0.0);
}

}  // namespace
}  // namespace carom
