#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include <carom/equilibrium_spatial.hpp>
#include <carom/models/postures.hpp>

#include "emulation/emulation.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "support/bits.hpp"
#include "support/message.hpp"
#include "support/spatial_postures.hpp"

namespace carom {
namespace {

using test::SpatialKind;

const SpatialKind kKinds[] = {
    {1, 0.6}, {2, 0.6}, {3, 0.6},           {3, 1.2}, {4, 0.6}, {4, 0.9, 0.1, 0.8, true},
    {6, 1.5}, {5, 3.0}, {4, 0.4, 0.0, 0.0}, {12, 0.3}};

SpatialSettings cone_settings(ConeModel cones) {
  SpatialSettings settings;
  settings.cones = cones;
  settings.threads = 1;
  return settings;
}

TEST(SpatialSupport, PolygonalConesEqualTheDenseLinearProgram) {
  for (const SpatialKind& kind : kKinds) {
    const auto postures = test::random_spatials(11, 12, kind);
    const PostureBatch batch = make_batch(postures);
    const auto directions = equal_directions(12);
    for (const ConeModel cones : {ConeModel::inscribed, ConeModel::circumscribed}) {
      const SpatialSettings settings = cone_settings(cones);
      const SupportResult fast = support(batch, directions, settings, Backend::cpu);
      const SupportResult plain = support(batch, directions, settings, Backend::reference);
      for (std::size_t i = 0; i < fast.status.size(); ++i) {
        ASSERT_EQ(fast.status.data()[i], plain.status.data()[i]) << kind.contacts << ' ' << i;
        if (fast.status.data()[i] != Status::solved) continue;
        EXPECT_NEAR(fast.lower.data()[i], plain.lower.data()[i], 1e-9);
        EXPECT_NEAR(fast.upper.data()[i], plain.upper.data()[i], 1e-9);
      }
    }
  }
}

TEST(SpatialSupport, ExactConesEqualTheReferenceAndLieBetweenThePolygons) {
  int at_limit = 0;  // directions of 720 for which the reference takes 60 rounds of new rays
  for (const SpatialKind& kind : kKinds) {
    const auto postures = test::random_spatials(5, 8, kind);
    const PostureBatch batch = make_batch(postures);
    const auto directions = equal_directions(9);
    const SupportResult exact =
        support(batch, directions, cone_settings(ConeModel::exact), Backend::cpu);
    const SupportResult plain =
        support(batch, directions, cone_settings(ConeModel::exact), Backend::reference);
    const SupportResult inside =
        support(batch, directions, cone_settings(ConeModel::inscribed), Backend::cpu);
    const SupportResult around =
        support(batch, directions, cone_settings(ConeModel::circumscribed), Backend::cpu);
    for (std::size_t i = 0; i < exact.status.size(); ++i) {
      if (around.status.data()[i] == Status::infeasible) {
        EXPECT_EQ(exact.status.data()[i], Status::infeasible);
      }
      if (exact.status.data()[i] != Status::solved) continue;
      EXPECT_LE(exact.upper.data()[i] - exact.lower.data()[i], 1e-8);
      if (inside.status.data()[i] == Status::solved) {
        EXPECT_LE(inside.lower.data()[i], exact.upper.data()[i] + 1e-9);
      }
      if (around.status.data()[i] == Status::solved) {
        EXPECT_GE(around.upper.data()[i], exact.lower.data()[i] - 1e-9);
      }
      if (plain.status.data()[i] == Status::iteration_limit) {
        ++at_limit;
        continue;
      }
      ASSERT_EQ(plain.status.data()[i], Status::solved) << kind.contacts << ' ' << i;
      EXPECT_LE(plain.residual.data()[i], 1e-8);
      EXPECT_NEAR(exact.lower.data()[i], plain.lower.data()[i], 1e-7);
    }
  }
  EXPECT_LE(at_limit, 1);
}

TEST(SpatialSupport, ExactPolygonsConvergeToTheCone) {
  const auto postures = test::random_spatials(8, 10, {3, 0.7});
  const PostureBatch batch = make_batch(postures);
  const auto directions = equal_directions(7);
  const SupportResult exact =
      support(batch, directions, cone_settings(ConeModel::exact), Backend::cpu);
  SpatialSettings settings = cone_settings(ConeModel::pair);
  settings.cone_sides = 64;
  const SupportResult pair = support(batch, directions, settings, Backend::cpu);
  int compared = 0;
  for (std::size_t i = 0; i < exact.status.size(); ++i) {
    if (exact.status.data()[i] != Status::solved || pair.status.data()[i] != Status::solved)
      continue;
    ++compared;
    EXPECT_LE(pair.lower.data()[i], exact.upper.data()[i] + 1e-9);
    EXPECT_GE(pair.upper.data()[i], exact.lower.data()[i] - 1e-9);
    EXPECT_LE(pair.upper.data()[i] - pair.lower.data()[i], 0.1);
  }
  EXPECT_GT(compared, 20);
}

TEST(SpatialSupport, EmulatedThreadsEqualPacks) {
  for (const SpatialKind& kind : kKinds) {
    const auto postures = test::random_spatials(3, 9, kind);
    const PostureBatch batch = make_batch(postures);
    const auto directions = equal_directions(21);
    for (const ConeModel cones : {ConeModel::exact, ConeModel::inscribed, ConeModel::pair}) {
      const SpatialSettings settings = cone_settings(cones);
      const SupportResult packs = support(batch, directions, settings, Backend::cpu);
      for (const bool backwards : {false, true}) {
        const SupportResult threads = emulation::support(batch, directions, settings, backwards);
        test::expect_identical(packs, threads);
      }
    }
  }
}

TEST(SpatialSupport, FewDirectionsInPacksOfPosturesEqualOnePostureAfterTheOther) {
  for (const SpatialKind& kind : kKinds) {
    auto postures = test::random_spatials(61, 37, kind);
    PostureBatch batch = make_batch(postures);
    const auto k = static_cast<std::size_t>(kind.contacts);
    batch.position.data()[3 * k * 5] = std::nan("");
    batch.friction.data()[k * 21] = -1.0;
    for (const int n : {1, 2, 7}) {
      const auto directions = equal_directions(n);
      for (const ConeModel cones : {ConeModel::exact, ConeModel::inscribed, ConeModel::pair}) {
        SpatialSettings settings = cone_settings(cones);
        const SupportResult packs = support(batch, directions, settings, Backend::cpu);
        // Emulated threads take one posture after the other, each with its own set-up.
        for (const bool backwards : {false, true}) {
          test::expect_identical(packs, emulation::support(batch, directions, settings, backwards));
        }
        settings.threads = 2;
        test::expect_identical(packs, support(batch, directions, settings, Backend::cpu));
      }
    }
  }
}

TEST(SpatialSupport, SplittingABatchChangesNothing) {
  const auto postures = test::random_spatials(62, 29, {4, 1.0});
  const double direction[] = {0.6, -0.8};
  for (const ConeModel cones : {ConeModel::exact, ConeModel::pair}) {
    const SpatialSettings settings = cone_settings(cones);
    const SupportResult all = support(make_batch(postures), direction, settings, Backend::cpu);
    for (std::size_t first = 0, count = 1; first < postures.size(); first += count, ++count) {
      count = std::min(count, postures.size() - first);
      const SupportResult part = support(make_batch(std::span(postures).subspan(first, count)),
                                         direction, settings, Backend::cpu);
      for (std::size_t j = 0; j < count; ++j) {
        EXPECT_EQ(part.status.data()[j], all.status.data()[first + j]);
        EXPECT_EQ(std::memcmp(&part.lower.data()[j], &all.lower.data()[first + j], 8), 0);
        EXPECT_EQ(std::memcmp(&part.upper.data()[j], &all.upper.data()[first + j], 8), 0);
        EXPECT_EQ(
            std::memcmp(&part.forces.data()[12 * j], &all.forces.data()[12 * (first + j)], 96), 0);
        EXPECT_EQ(std::memcmp(&part.dual.data()[6 * j], &all.dual.data()[6 * (first + j)], 48), 0);
      }
    }
  }
}

TEST(SpatialSupport, PoisonedNeighbourAndThreadsChangeNothing) {
  const auto postures = test::random_spatials(17, 40, {4, 0.6});
  const PostureBatch batch = make_batch(postures);
  PostureBatch poisoned = batch.to(MemorySpace::host);
  poisoned.position.data()[3 * 4 * 7] = std::nan("");
  poisoned.friction.data()[4 * 20 + 1] = -1.0;
  poisoned.normal.data()[3 * 4 * 30] = INFINITY;
  SpatialSettings settings = cone_settings(ConeModel::exact);
  const auto directions = equal_directions(10);
  const SupportResult alone = support(batch, directions, settings, Backend::cpu);
  settings.threads = 2;
  const SupportResult beside = support(poisoned, directions, settings, Backend::cpu);
  for (std::size_t p = 0; p < 40; ++p) {
    const bool bad = p == 7 || p == 20 || p == 30;
    for (std::size_t j = 10 * p; j < 10 * p + 10; ++j) {
      if (bad) {
        EXPECT_EQ(beside.status.data()[j], Status::invalid_input);
        EXPECT_TRUE(std::isnan(beside.upper.data()[j]));
        EXPECT_TRUE(std::isnan(beside.point.data()[2 * j]));
      } else {
        EXPECT_EQ(std::memcmp(&beside.upper.data()[j], &alone.upper.data()[j], 8), 0);
        EXPECT_EQ(std::memcmp(&beside.lower.data()[j], &alone.lower.data()[j], 8), 0);
      }
    }
  }
}

// Strongly tilted contacts: forces up to thousands of weights, rays whose angle the multipliers
// barely fix, and empty regions whose dual cones have hardly any room.
TEST(SpatialSupport, TiltedContactsWithLargeForcesAreSolved) {
  struct Case {
    std::uint64_t seed;
    SpatialKind kind;
    std::size_t posture;
  };
  const Case cases[] = {{1000, {3, 1.0}, 63},   {1000, {3, 1.0}, 511},  {1007, {6, 1.3}, 466},
                        {1007, {6, 1.3}, 782},  {1009, {4, 1.57}, 67},  {1009, {4, 1.57}, 291},
                        {1010, {5, 1.57}, 537}, {1011, {6, 1.57}, 88},  {1011, {6, 1.57}, 365},
                        {1011, {6, 1.57}, 798}, {1008, {3, 1.57}, 477}, {1009, {4, 1.57}, 193}};
  const auto directions = equal_directions(64);
  for (const Case& one : cases) {
    const auto postures =
        test::random_spatials(one.seed, static_cast<int>(one.posture) + 1, one.kind);
    const SupportResult result = support(make_batch(std::span(&postures.back(), 1)), directions,
                                         cone_settings(ConeModel::exact), Backend::cpu);
    for (std::size_t j = 0; j < 64; ++j) {
      const Status status = result.status.data()[j];
      EXPECT_TRUE(status == Status::solved || status == Status::infeasible ||
                  status == Status::unbounded)
          << one.seed << ' ' << one.posture << ' ' << j << ' ' << to_string(status);
    }
  }
}

TEST(SpatialSupport, InfeasibleAndUnboundedAreProven) {
  int infeasible = 0;
  int unbounded = 0;
  for (const SpatialKind& kind : {SpatialKind{1, 1.0}, SpatialKind{3, 1.2}, SpatialKind{6, 2.0}}) {
    const auto postures = test::random_spatials(23, 60, kind);
    const PostureBatch batch = make_batch(postures);
    const auto directions = equal_directions(5);
    const SupportResult result =
        support(batch, directions, cone_settings(ConeModel::exact), Backend::cpu);
    const auto k = static_cast<std::size_t>(kind.contacts);
    for (std::size_t i = 0; i < result.status.size(); ++i) {
      const Posture& posture = postures[i / 5];
      if (result.status.data()[i] == Status::infeasible) {
        ++infeasible;
        const double* dual = result.dual.data() + 6 * i;
        EXPECT_GE(test::field_slack(posture, dual), -1e-12);
        const Eigen::Vector4d proof = test::proven_half_space(posture, dual);
        EXPECT_LE(proof.head<3>().norm(), 1e-12);
        EXPECT_LT(proof[3], -1e-13);
      }
      if (result.status.data()[i] == Status::unbounded) {
        ++unbounded;
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        Eigen::Vector3d torque = Eigen::Vector3d::Zero();
        for (std::size_t c = 0; c < k; ++c) {
          const Eigen::Vector3d f =
              Eigen::Map<const Eigen::Vector3d>(result.forces.data() + 3 * (k * i + c));
          const Eigen::Vector3d n = test::vector_at(posture.normal, c);
          sum += f;
          torque += test::vector_at(posture.position, c).cross(f);
          EXPECT_LE((f - f.dot(n) * n).norm() - posture.friction[c] * f.dot(n), 1e-9);
        }
        EXPECT_LE(sum.norm(), 1e-9);
        EXPECT_LE(std::abs(torque.z()), 1e-9);
        // Gravity: the centre of mass moves by (-T_y, T_x).
        EXPECT_GT(-directions[2 * (i % 5)] * torque.y() + directions[2 * (i % 5) + 1] * torque.x(),
                  0.0);
      }
    }
  }
  EXPECT_GT(infeasible, 50);
  EXPECT_GT(unbounded, 5);
}

TEST(SpatialSupport, ManyDegeneratePosturesEndWithoutCycling) {
  std::mt19937_64 draw(99);
  std::vector<Posture> postures;
  for (int i = 0; i < 2000; ++i) {
    SpatialKind kind{1 + i % 6, (i % 3 == 0) ? 0.0 : 0.7};
    Posture posture = test::random_spatial(draw, kind);
    for (std::size_t c = 0; c < posture.friction.size(); ++c) {
      if (i % 4 == 1) posture.friction[c] = 0.0;
      if (i % 5 == 2) posture.position[3 * c + 2] = 0.0;  // one plane
      if (i % 5 == 3) posture.position[3 * c] = 0.0;      // one vertical plane
      if (i % 5 == 4 && c > 0) {                          // collinear or coinciding
        for (std::size_t j = 0; j < 3; ++j) {
          posture.position[3 * c + j] = posture.position[j] * (i % 2 == 0 ? 1.0 : double(c + 1));
        }
      }
      if (i % 7 == 3) {
        for (std::size_t j = 0; j < 3; ++j) posture.normal[3 * c + j] = j == 2 ? -1.0 : 0.0;
      }
    }
    postures.push_back(posture);
  }
  const auto directions = equal_directions(16);
  for (const ConeModel cones : {ConeModel::inscribed, ConeModel::exact}) {
    for (std::size_t p = 0; p < postures.size(); ++p) {
      const PostureBatch batch = make_batch(std::span(&postures[p], 1));
      const SupportResult result = support(batch, directions, cone_settings(cones), Backend::cpu);
      for (std::size_t j = 0; j < 16; ++j) {
        const Status status = result.status.data()[j];
        EXPECT_TRUE(status == Status::solved || status == Status::infeasible ||
                    status == Status::unbounded)
            << p << ' ' << j << ' ' << to_string(status);
        if (p % 7 == 3) {
          EXPECT_EQ(status, Status::infeasible);
        }
      }
    }
  }
}

TEST(SpatialRegion, ProvenAndWithinTheTolerance) {
  for (const SpatialKind& kind : kKinds) {
    const auto postures = test::random_spatials(31, 6, kind);
    const PostureBatch batch = make_batch(postures);
    const auto regions = spatial_equilibrium(batch, cone_settings(ConeModel::exact), Backend::cpu);
    for (std::size_t p = 0; p < regions.size(); ++p) {
      const SpatialRegion& region = regions[p];
      ASSERT_TRUE(region.status == Status::solved || region.status == Status::infeasible ||
                  region.status == Status::unbounded)
          << kind.contacts << ' ' << p << ' ' << to_string(region.status);
      if (region.status != Status::solved) continue;
      test::expect_proven(postures[p], region, 1e-9);
      EXPECT_LE(region.area_outer - region.area_inner, 1e-3);
      EXPECT_GE(region.area_outer - region.area_inner, -1e-9);
      EXPECT_LE(region.dimension, std::min(2, kind.contacts - 1));
    }
  }
}

TEST(SpatialRegion, FlatGroundGivesTheSupportPolygon) {
  const double feet[] = {0.0, 0.0, 2.0, 0.0, 2.0, 1.0, 0.5, 1.5, 1.0, 0.5};
  for (const double friction : {0.0, 0.5}) {
    const Posture posture = test::flat_ground(feet, friction);
    const PostureBatch batch = make_batch(std::span(&posture, 1));
    for (const ConeModel cones : {ConeModel::exact, ConeModel::inscribed, ConeModel::pair}) {
      const auto regions = spatial_equilibrium(batch, cone_settings(cones), Backend::cpu);
      ASSERT_EQ(regions[0].status, Status::solved);
      EXPECT_EQ(regions[0].inner.size(), 8U);
      EXPECT_NEAR(regions[0].area_inner, 2.25, 1e-9);
      EXPECT_NEAR(regions[0].area_outer, 2.25, 1e-8);
    }
  }
}

TEST(SpatialRegion, DimensionFollowsTheNumberOfContacts) {
  const double feet[] = {0.25, 0.5, 1.25, -0.5, 0.0, 1.0};
  for (int k = 1; k <= 3; ++k) {
    const Posture posture =
        test::flat_ground(std::span(feet, static_cast<std::size_t>(2 * k)), 0.4);
    const PostureBatch batch = make_batch(std::span(&posture, 1));
    for (const Backend backend : {Backend::cpu, Backend::reference}) {
      SpatialSettings settings = cone_settings(ConeModel::exact);
      settings.directions = 16;
      const auto regions = spatial_equilibrium(batch, settings, backend);
      EXPECT_EQ(regions[0].status, Status::solved);
      EXPECT_EQ(regions[0].dimension, k - 1);
      EXPECT_EQ(regions[0].inner.size(), static_cast<std::size_t>(2 * k));
    }
  }
  // A single contact steeper than its friction holds nothing.
  Posture steep = test::flat_ground(std::span(feet, 2), 0.1);
  steep.normal = {0.6, 0.0, 0.8};
  const auto empty = spatial_equilibrium(make_batch(std::span(&steep, 1)),
                                         cone_settings(ConeModel::exact), Backend::cpu);
  EXPECT_EQ(empty[0].status, Status::infeasible);
  EXPECT_EQ(empty[0].dimension, -1);
  ASSERT_EQ(empty[0].dual.size(), 6U);
  EXPECT_GE(test::field_slack(steep, empty[0].dual.data()), 0.0);
}

TEST(SpatialRegion, TurningThePostureTurnsTheRegion) {
  std::mt19937_64 draw(12);
  const Eigen::Matrix3d turn =
      (Eigen::AngleAxisd(0.7, Eigen::Vector3d(0.2, 0.5, 0.8).normalized())).toRotationMatrix();
  const Posture upright = test::random_spatial(draw, {4, 0.5});
  Posture turned = upright;
  for (std::size_t i = 0; i < 4; ++i) {
    const Eigen::Vector3d x = turn * test::vector_at(upright.position, i);
    const Eigen::Vector3d n = turn * test::vector_at(upright.normal, i);
    for (std::size_t j = 0; j < 3; ++j) {
      turned.position[3 * i + j] = x[static_cast<int>(j)];
      turned.normal[3 * i + j] = n[static_cast<int>(j)];
    }
  }
  const Eigen::Vector3d force = turn * Eigen::Vector3d(0.0, 0.0, -3.0);
  turned.wrench = {force.x(), force.y(), force.z(), 0.0, 0.0, 0.0};
  const Posture both[] = {upright, turned};
  SpatialSettings settings = cone_settings(ConeModel::exact);
  settings.area_tolerance = 1e-5;
  const auto regions = spatial_equilibrium(make_batch(both), settings, Backend::cpu);
  ASSERT_EQ(regions[0].status, Status::solved);
  ASSERT_EQ(regions[1].status, Status::solved);
  EXPECT_NEAR(regions[0].area_inner, regions[1].area_inner, 1e-5);
  test::expect_proven(turned, regions[1], 1e-9);
  // Points of the upright region lie in the turned one's half-planes.
  for (std::size_t i = 0; i < regions[0].inner.size() / 2; ++i) {
    const Eigen::Vector3d x = turn * test::in_world(regions[0], regions[0].inner.data() + 2 * i);
    for (std::size_t h = 0; h < regions[1].half_plane.size() / 3; ++h) {
      const double* line = regions[1].half_plane.data() + 3 * h;
      EXPECT_LE(test::in_world(regions[1], line).dot(x), line[2] + 1e-9);
    }
  }
}

TEST(SpatialRegion, NamedPosturesAreSolved) {
  for (const char* name : {"tripod_flat", "tripod_steep", "climbing_four"}) {
    const Posture posture = models::build_posture(name);
    const auto regions = spatial_equilibrium(make_batch(std::span(&posture, 1)),
                                             cone_settings(ConeModel::exact), Backend::cpu);
    ASSERT_EQ(regions[0].status, Status::solved) << name;
    EXPECT_EQ(regions[0].dimension, 2);
    test::expect_proven(posture, regions[0], 1e-9);
  }
}

TEST(SpatialRegion, NamedPosturesAreSolvedByTheReference) {
  for (const char* name : {"tripod_flat", "tripod_steep", "climbing_four"}) {
    const Posture posture = models::build_posture(name);
    SpatialSettings settings = cone_settings(ConeModel::exact);
    settings.directions = 16;
    settings.area_tolerance = 1e-2;
    const auto batch = make_batch(std::span(&posture, 1));
    const auto plain = spatial_equilibrium(batch, settings, Backend::reference);
    const auto fast = spatial_equilibrium(batch, settings, Backend::cpu);
    ASSERT_EQ(plain[0].status, Status::solved) << name;
    test::expect_proven(posture, plain[0], 1e-8);
    EXPECT_NEAR(plain[0].area_outer, fast[0].area_outer, 1e-2);
  }
}

TEST(SpatialRefusals, NameWhatIsWrong) {
  const double feet[] = {0.0, 0.0, 1.0, 0.0};
  const Posture posture = test::flat_ground(feet, 0.5);
  const PostureBatch batch = make_batch(std::span(&posture, 1));
  const auto refused = [&](auto change) {
    SpatialSettings settings;
    change(settings);
    return test::refusal([&] { spatial_equilibrium(batch, settings, Backend::cpu); });
  };
  test::expect_names(refused([](SpatialSettings& s) { s.cone_sides = 2; }), {"cone_sides is 2"});
  test::expect_names(refused([](SpatialSettings& s) { s.directions = 2; }), {"directions is 2"});
  test::expect_names(refused([](SpatialSettings& s) { s.tolerance = -1.0; }), {"tolerance is -1"});
  test::expect_names(refused([](SpatialSettings& s) { s.area_tolerance = std::nan(""); }),
                     {"area_tolerance is nan"});
  test::expect_names(refused([](SpatialSettings& s) { s.max_vertices = 8; }),
                     {"max_vertices is 8"});
  test::expect_names(refused([](SpatialSettings& s) { s.threads = -2; }), {"threads is -2"});
  const double longer[] = {2.0, 0.0};
  test::expect_names(test::refusal([&] { support(batch, longer, {}, Backend::cpu); }),
                     {"directions[0] has length 2"});
  Posture planar;
  planar.contacts = 1;
  planar.position = {0.0, 0.0};
  planar.normal = {0.0, 1.0};
  planar.friction = {0.5};
  const PostureBatch flat = make_batch(std::span(&planar, 1));
  test::expect_names(test::refusal([&] { spatial_equilibrium(flat, {}, Backend::cpu); }),
                     {"dimension is 2"});
}

}  // namespace
}  // namespace carom
