#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <carom/equilibrium_spatial.hpp>
#include <carom/equilibrium_three_contacts.hpp>
#include <carom/models/postures.hpp>

#include "support/message.hpp"
#include "support/spatial_postures.hpp"

namespace carom {
namespace {

/// The region's polygons enclose the exact boundary, and its points reach the inner polygon.
void expect_between(const Posture& posture, const ThreeContactRegion& three, double tolerance) {
  SpatialSettings settings;
  settings.threads = 1;
  settings.area_tolerance = 1e-4;
  settings.max_vertices = 4096;
  const SpatialRegion region =
      spatial_equilibrium(make_batch(std::span(&posture, 1)), settings, Backend::cpu)[0];
  ASSERT_EQ(region.status, Status::solved);
  const auto inside = [&](const std::vector<double>& points) {
    for (std::size_t i = 0; i < points.size(); i += 2) {
      for (std::size_t h = 0; h < region.half_plane.size(); h += 3) {
        const double* line = region.half_plane.data() + h;
        EXPECT_LE(line[0] * points[i] + line[1] * points[i + 1], line[2] + 1e-9);
      }
    }
  };
  inside(three.conservative);
  inside(three.searched);
  for (const BoundaryPoint& at : three.boundary) {
    double support = -1e300;
    for (std::size_t i = 0; i < region.inner.size(); i += 2) {
      support = std::max(support,
                         at.direction[0] * region.inner[i] + at.direction[1] * region.inner[i + 1]);
    }
    EXPECT_GE(at.direction[0] * at.point[0] + at.direction[1] * at.point[1], support - tolerance);
  }
  EXPECT_LE(three.area_conservative, three.area_searched + 1e-12);
  EXPECT_LE(three.area_searched, region.area_outer + 1e-9);
}

TEST(ThreeContacts, BoundaryOfTheTripodsLiesBetweenThePolygons) {
  for (const char* name : {"tripod_flat", "tripod_steep"}) {
    const Posture posture = models::build_posture(name);
    const ThreeContactRegion three = three_contact_region(posture);
    ASSERT_FALSE(three.searched.empty()) << name;
    EXPECT_FALSE(three.plus.empty()) << name;
    expect_between(posture, three, 1e-3);
    int interior = 0;
    for (const BoundaryPoint& at : three.boundary) {
      interior += at.type == CriticalType::interior ? 1 : 0;
    }
    EXPECT_GT(interior, 0) << name;
    EXPECT_LT(three.area_conservative, three.area_searched) << name;
  }
}

/// On an edge of P a contact's roots meet: rounding that parts them there loses pieces of curves.
TEST(ThreeContacts, ConservativeRegionHasThePosturesSymmetry) {
  const ThreeContactRegion three = three_contact_region(models::build_posture("tripod_flat"));
  const auto reach = [&](double angle) {
    double most = -1e300;
    for (std::size_t i = 0; i < three.conservative.size(); i += 2) {
      most = std::max(most, std::cos(angle) * three.conservative[i] +
                                std::sin(angle) * three.conservative[i + 1]);
    }
    return most;
  };
  const double third = 2.0 * std::numbers::pi / 3.0;
  for (int degree = 0; degree < 120; ++degree) {
    const double angle = degree * std::numbers::pi / 180.0;
    EXPECT_NEAR(reach(angle), reach(angle + third), 1e-6) << degree;
    EXPECT_NEAR(reach(angle), reach(angle - third), 1e-6) << degree;
    EXPECT_NEAR(reach(angle), reach(0.5 * third - angle), 1e-6) << degree;
  }
  EXPECT_NEAR(reach(0.0), 0.447723, 1e-6);
  EXPECT_NEAR(three_contact_region(models::build_posture("tripod_steep")).area_conservative,
              0.542606, 1e-6);
}

/// However coarse the grid, the curves are refined to the same points.
TEST(ThreeContacts, ConservativeRegionDoesNotDependOnTheGrid) {
  std::mt19937_64 draw(11);
  int compared = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const Posture posture = test::random_spatial(draw, {3, 0.6, 0.1, 0.5});
    ThreeContactSettings coarse;
    coarse.grid = 8;
    coarse.directions = 8;
    ThreeContactSettings fine = coarse;
    fine.grid = 64;
    const double area = three_contact_region(posture, fine).area_conservative;
    if (!(area > 0.0)) continue;
    EXPECT_NEAR(three_contact_region(posture, coarse).area_conservative / area, 1.0, 1e-5) << trial;
    ++compared;
  }
  EXPECT_GT(compared, 6);
}

TEST(ThreeContacts, VerticalNormalsGiveTheTriangle) {
  const double feet[] = {0.0, 0.0, 2.0, 0.0, 0.0, 1.0};
  const Posture posture = test::flat_ground(feet, 0.3);
  const ThreeContactRegion three = three_contact_region(posture);
  EXPECT_NEAR(three.area_searched, 1.0, 1e-9);
  int contacts = 0;
  for (const BoundaryPoint& at : three.boundary) {
    contacts += at.type == CriticalType::contact ? 1 : 0;
  }
  EXPECT_GT(contacts, 100);
}

TEST(ThreeContacts, RandomBoundariesReachTheOuterPolygonFromInside) {
  std::mt19937_64 draw(4);
  int compared = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Posture posture = test::random_spatial(draw, {3, 0.6, 0.1, 0.5});
    const PostureBatch batch = make_batch(std::span(&posture, 1));
    SpatialSettings fine;
    fine.threads = 1;
    SpatialRegion region = spatial_equilibrium(batch, fine, Backend::cpu)[0];
    if (region.status != Status::solved || region.dimension != 2) continue;
    fine.area_tolerance = 3e-7 * region.area_outer;
    fine.max_vertices = kMaxSupportDirections;
    region = spatial_equilibrium(batch, fine, Backend::cpu)[0];
    ASSERT_GT(region.area_outer, 0.0) << trial;
    ThreeContactSettings settings;
    settings.grid = 8;
    const ThreeContactRegion three = three_contact_region(posture, settings);
    for (std::size_t i = 0; i < three.searched.size(); i += 2) {
      for (std::size_t h = 0; h < region.half_plane.size(); h += 3) {
        const double* line = region.half_plane.data() + h;
        EXPECT_LE(line[0] * three.searched[i] + line[1] * three.searched[i + 1], line[2] + 1e-9);
      }
    }
    EXPECT_LE(three.area_searched, region.area_outer * (1.0 + 1e-9)) << trial;
    EXPECT_GE(three.area_searched, region.area_outer * (1.0 - 1e-6)) << trial;
    EXPECT_GE(three.area_searched, region.area_inner - 1e-6 * region.area_outer) << trial;
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

TEST(ThreeContacts, RefusesWhatTheParametrisationDoesNotCover) {
  const double four[] = {0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0};
  test::expect_names(test::refusal([&] { three_contact_region(test::flat_ground(four, 0.3)); }),
                     {"contacts is 4"});
  const double line[] = {0.0, 0.0, 1.0, 1.0, 2.0, 2.0};
  test::expect_names(test::refusal([&] { three_contact_region(test::flat_ground(line, 0.3)); }),
                     {"position", "one plane"});
  Posture steep = test::flat_ground(std::span(four, 6), 0.8);
  steep.normal = {0.8, 0.0, 0.6, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  test::expect_names(test::refusal([&] { three_contact_region(steep); }),
                     {"normal[0]", "not upward pointing"});
}

}  // namespace
}  // namespace carom
