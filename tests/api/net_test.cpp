#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>

#include "impact/epsilon_net.hpp"
#include "support/bits.hpp"
#include "support/message.hpp"
#include "support/model_runs.hpp"
#include "support/random_problems.hpp"

namespace carom {
namespace {

using test::Generator;

struct Cloud {
  int nv = 0;
  std::vector<double> velocity;  // [count, nv]
  std::vector<std::uint64_t> modes;

  [[nodiscard]] int count() const { return static_cast<int>(modes.size()); }
  [[nodiscard]] const double* at(int i) const {
    return velocity.data() + static_cast<long>(i) * nv;
  }
  // The impulse tells the sample apart.
  void add_to(NetBuilder& net, int i) const {
    const double impulse = 0.5 * i;
    net.add(i, at(i), &impulse, modes[static_cast<std::size_t>(i)]);
  }
};

/// A curve with noise: more points than cells in places, and cells on both sides of zero.
Cloud cloud(Generator& random, int nv, int count) {
  Cloud points;
  points.nv = nv;
  for (int i = 0; i < count; ++i) {
    const double along = random.between(-1.0, 1.0);
    for (int j = 0; j < nv; ++j) {
      points.velocity.push_back(std::sin((j + 1) * along) + 0.02 * random.normal());
    }
    points.modes.push_back(static_cast<std::uint64_t>(random.integer(0, 15)));
  }
  return points;
}

EpsilonNet one_pass(const Cloud& points, double epsilon, std::int64_t capacity) {
  NetBuilder net(points.nv, 1, epsilon, capacity);
  for (int i = 0; i < points.count(); ++i) points.add_to(net, i);
  return net.finish(0, points.count());
}

double distance(const double* a, const double* b, int nv) {
  double square = 0.0;
  for (int i = 0; i < nv; ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(square);
}

TEST(EpsilonNet, EveryPointIsNearARepresentative) {
  Generator random(1);
  for (const int nv : {1, 2, 3, 7}) {
    const Cloud points = cloud(random, nv, 3000);
    const EpsilonNet net = one_pass(points, 0.1, 1 << 20);
    EXPECT_EQ(net.epsilon, 0.1);
    EXPECT_LT(net.points(), 3000);
    for (int i = 0; i < points.count(); ++i) {
      double nearest = HUGE_VAL;
      for (std::int64_t p = 0; p < net.points(); ++p) {
        nearest = std::min(nearest, distance(points.at(i), net.velocity.data() + p * nv, nv));
      }
      ASSERT_LE(nearest, net.epsilon);
    }
  }
}

/// The cube of a point: level 0 has edge epsilon / sqrt(nv), each further level doubles it, on a
/// lattice whose place NetBuilder states.
std::vector<std::int64_t> cube_of(const Cloud& points, int i, double epsilon, int level) {
  const double edge = epsilon / std::sqrt(static_cast<double>(points.nv));
  std::vector<std::int64_t> cube;
  for (int j = 0; j < points.nv; ++j) {
    const auto fine = static_cast<std::int64_t>(std::floor(points.at(i)[j] / edge));
    cube.push_back((fine + NetBuilder::kOrigin) >> level);
  }
  return cube;
}

std::int64_t cubes_met(const Cloud& points, double epsilon, int level) {
  std::set<std::vector<std::int64_t>> cubes;
  for (int i = 0; i < points.count(); ++i) cubes.insert(cube_of(points, i, epsilon, level));
  return static_cast<std::int64_t>(cubes.size());
}

/// What a net must be, from its definition: the sample of lowest index of each cube, how many fell
/// there, and how many cubes the first 2^i samples met.
void expect_by_definition(const Cloud& points, const EpsilonNet& net) {
  const int level = std::ilogb(net.epsilon / net.requested_epsilon);
  std::map<std::vector<std::int64_t>, std::pair<int, std::int64_t>> cubes;
  std::vector<std::int64_t> coverage;
  std::size_t next = 1;
  for (int i = 0; i < points.count(); ++i) {
    const auto cube = cube_of(points, i, net.requested_epsilon, level);
    ++cubes.try_emplace(cube, i, 0).first->second.second;
    if (static_cast<std::size_t>(i) + 1 == next) {
      coverage.push_back(static_cast<std::int64_t>(cubes.size()));
      next *= 2;
    }
  }
  EXPECT_EQ(net.coverage, coverage);
  std::map<int, std::int64_t> expected;
  for (const auto& [cell, held] : cubes) expected[held.first] = held.second;
  ASSERT_EQ(net.points(), static_cast<std::int64_t>(expected.size()));
  std::size_t p = 0;
  for (const auto& [sample, multiplicity] : expected) {
    EXPECT_EQ(net.first_sample[p], sample);
    EXPECT_EQ(net.multiplicity[p], multiplicity);
    EXPECT_EQ(net.modes[p], points.modes[static_cast<std::size_t>(sample)]);
    EXPECT_EQ(net.impulse[p], 0.5 * sample);
    for (int j = 0; j < points.nv; ++j) {
      EXPECT_EQ(net.velocity[p * static_cast<std::size_t>(points.nv) + static_cast<std::size_t>(j)],
                points.at(sample)[j]);
    }
    ++p;
  }
}

TEST(EpsilonNet, IsWhatItsDefinitionSays) {
  Generator random(2);
  for (const int nv : {1, 2, 4}) {
    for (const double epsilon : {1e-3, 0.05, 0.7}) {
      const Cloud points = cloud(random, nv, 2048);
      expect_by_definition(points, one_pass(points, epsilon, 1 << 20));
    }
  }
}

TEST(EpsilonNet, CapacityDoublesEpsilon) {
  Generator random(3);
  const Cloud points = cloud(random, 3, 4096);
  const EpsilonNet wide = one_pass(points, 0.01, 1 << 20);
  for (const std::int64_t capacity : {1, 2, 10, 100, 1000}) {
    SCOPED_TRACE(capacity);
    const EpsilonNet net = one_pass(points, 0.01, capacity);
    EXPECT_LE(net.points(), capacity);
    EXPECT_EQ(net.requested_epsilon, 0.01);
    EXPECT_GT(net.epsilon, 0.01);
    const double doublings = std::log2(net.epsilon / 0.01);
    EXPECT_NEAR(doublings, std::round(doublings), 1e-12);
    std::int64_t sum = 0;
    for (const std::int64_t count : net.multiplicity) sum += count;
    EXPECT_EQ(sum, 4096);
    expect_by_definition(points, net);
    // No coarser than it needs to be, and never far from any sample.
    EXPECT_GT(cubes_met(points, 0.01, std::ilogb(net.epsilon / 0.01) - 1), capacity);
    for (int i = 0; i < points.count(); ++i) {
      double nearest = HUGE_VAL;
      for (std::int64_t p = 0; p < net.points(); ++p) {
        nearest = std::min(nearest, distance(points.at(i), net.velocity.data() + p * 3, 3));
      }
      ASSERT_LE(nearest, net.epsilon);
    }
  }
  EXPECT_EQ(wide.epsilon, 0.01);
}

// Samples in any order, split among any nets merged in any order: one and the same net.
TEST(EpsilonNet, SplitsAndOrdersDoNotMatter) {
  Generator random(4);
  const Cloud points = cloud(random, 3, 3000);
  for (const std::int64_t capacity : {20, 300, 1 << 20}) {
    SCOPED_TRACE(capacity);
    const EpsilonNet expected = one_pass(points, 0.02, capacity);
    for (int trial = 0; trial < 12; ++trial) {
      const int parts = random.integer(1, 7);
      std::vector<NetBuilder> nets;
      for (int p = 0; p < parts; ++p) nets.emplace_back(3, 1, 0.02, capacity);
      std::vector<int> order(3000);
      for (int i = 0; i < 3000; ++i) order[static_cast<std::size_t>(i)] = i;
      for (int i = 2999; i > 0; --i) {
        std::swap(order[static_cast<std::size_t>(i)],
                  order[static_cast<std::size_t>(random.integer(0, i))]);
      }
      for (const int i : order) {
        points.add_to(nets[static_cast<std::size_t>(random.integer(0, parts - 1))], i);
      }
      while (nets.size() > 1) {
        const int a = random.integer(0, static_cast<int>(nets.size()) - 2);
        nets[static_cast<std::size_t>(a)].merge(nets.back());
        nets.pop_back();
      }
      test::expect_identical(nets.front().finish(0, 3000), expected);
    }
  }
}

TEST(EpsilonNet, CoverageRisesToThePoints) {
  for (const char* name : {"rocking_block", "ramone", "cube_drop"}) {
    SCOPED_TRACE(name);
    ImpactSettings settings = test::model_settings(name, 1 << 12);
    settings.epsilon = 0.02;
    const ImpactBatch batch = test::model_batch(name);
    const ImpactResult result = sample_impacts(batch, settings, Backend::cpu);
    const EpsilonNet& net = result.net[0];
    ASSERT_EQ(net.coverage.size(), 13U);
    EXPECT_TRUE(std::is_sorted(net.coverage.begin(), net.coverage.end()));
    EXPECT_EQ(net.coverage.back(), net.points());
    std::int64_t sum = net.dropped;
    for (const std::int64_t count : net.multiplicity) sum += count;
    EXPECT_EQ(sum, settings.samples);
    const int nv = batch.velocities;
    for (std::int64_t s = 0; s < settings.samples; s += 11) {
      const auto row = static_cast<std::size_t>(s);
      if (result.samples.status.data()[row] != TrajectoryStatus::terminated) continue;
      double nearest = HUGE_VAL;
      for (std::int64_t p = 0; p < net.points(); ++p) {
        nearest = std::min(nearest, distance(result.samples.velocity.data() + s * nv,
                                             net.velocity.data() + p * nv, nv));
      }
      ASSERT_LE(nearest, net.epsilon);
    }
    // A representative is a sample: its row is the one that the run kept.
    for (std::size_t p = 0; p < net.first_sample.size(); ++p) {
      const auto sample = static_cast<std::size_t>(net.first_sample[p]);
      if (result.samples.status.data()[sample] != TrajectoryStatus::terminated) continue;
      EXPECT_EQ(net.modes[p], result.samples.modes.data()[sample]);
      EXPECT_EQ(net.velocity[p * static_cast<std::size_t>(nv)],
                result.samples.velocity.data()[sample * static_cast<std::size_t>(nv)]);
    }
  }
}

// A run in shards, its nets merged by the caller's own means, meets the same cells.
TEST(EpsilonNet, CapacityOfARunDoesNotDependOnThreads) {
  ImpactSettings settings = test::model_settings("disk_stack", 6000);
  settings.epsilon = 0.001;
  settings.net_capacity = 200;
  const ImpactBatch batch = test::model_batch("disk_stack");
  settings.threads = 1;
  const ImpactResult one = sample_impacts(batch, settings, Backend::cpu);
  settings.threads = 2;
  const ImpactResult two = sample_impacts(batch, settings, Backend::cpu);
  EXPECT_GT(one.net[0].epsilon, settings.epsilon);
  EXPECT_LE(one.net[0].points(), 200);
  test::expect_identical(one.net[0], two.net[0]);
}

EpsilonNet net_of(const std::vector<std::array<double, 2>>& points) {
  EpsilonNet net;
  net.velocities = 2;
  for (const auto& [x, y] : points) {
    net.velocity.insert(net.velocity.end(), {x, y});
    net.multiplicity.push_back(1);
  }
  return net;
}

using Hull = std::vector<std::array<double, 2>>;

/// The hull, turned so that it starts at its smallest point.
Hull hull_of(const std::vector<std::array<double, 2>>& points, int x = 0, int y = 1) {
  Hull hull = convex_hull(net_of(points), x, y);
  std::rotate(hull.begin(), std::min_element(hull.begin(), hull.end()), hull.end());
  return hull;
}

TEST(ConvexHull, ByHand) {
  EXPECT_EQ(hull_of({{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0.5}}),
            (Hull{{0, 0}, {1, 0}, {1, 1}, {0, 1}}));
  // Points on an edge are no corners; doubles count once.
  EXPECT_EQ(hull_of({{0, 0}, {2, 0}, {1, 0}, {2, 2}, {0, 0}, {1, 1}}),
            (Hull{{0, 0}, {2, 0}, {2, 2}}));
  EXPECT_EQ(hull_of({{3, -1}}), (Hull{{3, -1}}));
  EXPECT_EQ(hull_of({{3, -1}, {3, -1}}), (Hull{{3, -1}}));
  EXPECT_EQ(hull_of({{1, 2}, {0, 0}}), (Hull{{0, 0}, {1, 2}}));
  EXPECT_EQ(hull_of({{0, 0}, {1, 1}, {2, 2}, {3, 3}}), (Hull{{0, 0}, {3, 3}}));
  // Exchanged coordinates mirror it.
  EXPECT_EQ(hull_of({{0, 0}, {2, 0}, {2, 1}}, 1, 0), (Hull{{0, 0}, {1, 2}, {0, 2}}));
  EXPECT_TRUE(convex_hull(net_of({}), 0, 1).empty());
}

TEST(ConvexHull, ContainsEveryPoint) {
  Generator random(6);
  std::vector<std::array<double, 2>> points;
  for (int i = 0; i < 500; ++i) points.push_back({random.normal(), random.normal()});
  const Hull hull = convex_hull(net_of(points), 0, 1);
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const auto& a = hull[i];
    const auto& b = hull[(i + 1) % hull.size()];
    for (const auto& p : points) {
      EXPECT_GE((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]), -1e-12);
    }
  }
}

TEST(ConvexHull, RefusesUnknownCoordinates) {
  const EpsilonNet net = net_of({{0, 0}});
  test::expect_names(test::refusal([&] { (void)convex_hull(net, 0, 2); }), {"2", "0..1"});
  test::expect_names(test::refusal([&] { (void)convex_hull(net, -1, 0); }), {"-1"});
}

}  // namespace
}  // namespace carom
