#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/constants.hpp"
#include "cpu/simd/equilibrium/planar_search.hpp"
#include "emulation/emulation.hpp"
#include "equilibrium/kernels/strip_polygon.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/planar_view.hpp"
#include "support/planar_batches.hpp"

// equilibrium/kernels/planar_*_body.hpp on packs, threads and the emulated device.
namespace carom {
namespace {

using test::PostureKind;
using test::random_batch;

TEST(PlanarStripBody, EmulationEqualsProduction) {
  for (const PostureKind kind : {PostureKind::upward, PostureKind::any, PostureKind::lattice}) {
    for (const int contacts : {1, 2, 5, 23}) {
      for (const bool patches : {false, true}) {
        const PostureBatch batch = random_batch(5, kind, contacts, 101, patches, true);
        const PlanarResult packs = cpu::planar_equilibrium(batch, {});
        test::expect_identical(packs, emulation::planar_equilibrium(batch, {}, false));
        test::expect_identical(packs, emulation::planar_equilibrium(batch, {}, true));
      }
    }
  }
}

/// What one instruction set finds for a batch under gravity, [problems, kStripRows].
std::vector<double> searched(const PostureBatch& batch, const cpu::simd::PlanarSearch& search) {
  const kernels::PlanarView view = planar_inputs(batch, {});
  const auto width = static_cast<std::size_t>(search.width);
  std::vector<double> workspace(
      static_cast<std::size_t>(kernels::strip_workspace(view.contacts, view.patches())) * width);
  std::vector<double> strips(cpu::simd::kStripRows * width);
  const std::vector<double> x(width, 1.0), y(width, 0.0);
  std::vector<double> rows;
  for (std::int64_t p = 0; p < batch.problems; p += search.width) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      const std::int64_t at = std::min(p + static_cast<std::int64_t>(lane), batch.problems - 1);
      view.gather(at, [&](long row, double value) {
        workspace[static_cast<std::size_t>(row) * width + lane] = value;
      });
    }
    search.run(
        {workspace.data(), x.data(), y.data(), view.contacts, view.patches(), strips.data()});
    for (std::size_t lane = 0; lane < width; ++lane) {
      if (p + static_cast<std::int64_t>(lane) >= batch.problems) break;
      for (std::size_t r = 0; r < cpu::simd::kStripRows; ++r) {
        rows.push_back(strips[r * width + lane]);
      }
    }
  }
  return rows;
}

TEST(PlanarStripBody, InstructionSetsGiveTheSameBits) {
  for (const PostureKind kind : {PostureKind::upward, PostureKind::any, PostureKind::lattice}) {
    const PostureBatch batch = random_batch(9, kind, 6, 203, true);
    const std::vector<double> plain =
        searched(batch, cpu::simd::instruction_sets().front()->planar);
    ASSERT_EQ(plain.size(), 203U * cpu::simd::kStripRows);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets().subspan(1)) {
      EXPECT_EQ(test::first_difference(plain, searched(batch, set->planar)), -1) << set->name;
    }
  }
}

TEST(PlanarStripBody, ThreadCountChangesNothing) {
  const PostureBatch batch = random_batch(6, PostureKind::upward, 6, 1003, false, true);
  const PlanarResult one = cpu::planar_equilibrium(batch, {.threads = 1});
  test::expect_identical(one, cpu::planar_equilibrium(batch, {.threads = 2}));
  test::expect_identical(one, cpu::planar_equilibrium(batch, {.threads = 5}));
  std::vector<double> centre;
  for (int i = 0; i < 2 * 1003; ++i) centre.push_back(0.3 * std::sin(i));
  const Buffer<double> x = Buffer<double>::from(centre);
  const PlanarMargin margin = cpu::planar_margins(batch, x, {.threads = 1});
  test::expect_identical(margin, cpu::planar_margins(batch, x, {.threads = 3}));
  test::expect_identical(margin, emulation::planar_margins(batch, x, {}, true));
}

TEST(PlanarStripBody, PoisonedNeighboursAreSetApart) {
  PostureBatch batch = random_batch(7, PostureKind::upward, 4, 64, true, true);
  const PlanarResult clean = cpu::planar_equilibrium(batch, {});
  const auto poison = [&](Buffer<double>& values, std::size_t at, double value) {
    values.host()[at] = value;
  };
  poison(batch.position, 3 * 8 + 5, kNan);
  poison(batch.normal, 9 * 8 + 2, 7.0);
  poison(batch.friction, 17 * 4 + 1, -0.5);
  poison(batch.length, 30 * 4 + 3, kInfinity);
  for (std::size_t i = 0; i < 2; ++i) poison(batch.wrench, 41 * 3 + i, 0.0);
  poison(batch.position, 50 * 8, 1e308);
  poison(batch.position, 50 * 8 + 1, -1e308);
  const PlanarResult result = cpu::planar_equilibrium(batch, {});
  for (std::size_t p = 0; p < 64; ++p) {
    const bool poisoned = p == 3 || p == 9 || p == 17 || p == 30 || p == 41 || p == 50;
    if (!poisoned) {
      EXPECT_EQ(test::first_difference(result.status, p, clean.status, p, 1), -1);
      EXPECT_EQ(test::first_difference(result.upper, p, clean.upper, p, 1), -1);
      EXPECT_EQ(test::first_difference(result.force, 16 * p, clean.force, 16 * p, 16), -1);
      EXPECT_EQ(
          test::first_difference(result.robust_polygon, 16 * p, clean.robust_polygon, 16 * p, 16),
          -1);
      continue;
    }
    if (p != 50) {
      EXPECT_EQ(result.status.host()[p], Status::invalid_input) << p;
    }
    EXPECT_NE(result.status.host()[p], Status::solved) << p;
    EXPECT_TRUE(std::isnan(result.lower.host()[p])) << p;
    EXPECT_TRUE(std::isnan(result.torque_max.host()[p])) << p;
    EXPECT_TRUE(std::isnan(result.force.host()[16 * p])) << p;
    EXPECT_EQ(result.essential.host()[4 * p], -1) << p;
  }
}

// Coinciding, collinear, opposite and parallel cones: every answer is proven, none runs out of
// steps.
TEST(PlanarStripBody, DegeneratePosturesAreAllProven) {
  std::map<Status, int> seen;
  for (int contacts = 1; contacts <= 8; ++contacts) {
    for (const bool patches : {false, true}) {
      const PostureBatch batch = random_batch(8, PostureKind::lattice, contacts, 2000, patches);
      const PlanarResult result = cpu::planar_equilibrium(batch, {});
      for (std::size_t p = 0; p < 2000; ++p) {
        const Status status = result.status.host()[p];
        ++seen[status];
        ASSERT_TRUE(status == Status::solved || status == Status::unbounded ||
                    status == Status::infeasible)
            << contacts << " " << p << " " << to_string(status);
        ASSERT_LE(result.residual.host()[p], 1e-9) << contacts << " " << p;
      }
    }
  }
  EXPECT_GT(seen[Status::solved], 1000);
  EXPECT_GT(seen[Status::unbounded], 1000);
  EXPECT_GT(seen[Status::infeasible], 1000);
}

kernels::StripPolygon polygon(const std::vector<double>& strips) {
  return {strips.data(), static_cast<int>(strips.size() / 4)};
}

TEST(StripPolygon, SquareSegmentPointEmptyAndUnbounded) {
  const auto square = polygon({1, 0, -1, 2, 0, 1, 0, 3});
  ASSERT_TRUE(square.bounded());
  ASSERT_EQ(square.count(), 4);
  double area = 0.0;
  for (int i = 0; i < 4; ++i) {
    const int j = (i + 1) % 4;
    area += 0.5 * (square.x(i) * square.y(j) - square.y(i) * square.x(j));
  }
  EXPECT_DOUBLE_EQ(area, 9.0);  // positive: counter-clockwise
  EXPECT_EQ(polygon({1, 0, 2, 2, 0, 1, 0, 3}).count(), 2);
  EXPECT_TRUE(polygon({1, 0, 2, 2, 0, 1, 0, 3}).bounded());
  const auto point = polygon({1, 0, 2, 2, 0, 1, 3, 3});
  ASSERT_EQ(point.count(), 1);
  EXPECT_EQ(point.x(0), 2.0);
  EXPECT_EQ(point.y(0), 3.0);
  EXPECT_EQ(polygon({1, 0, -1, 2, 1, 0, 3, 4}).count(), 0);
  EXPECT_FALSE(polygon({1, 0, -1, 2, 1, 0, 1, 4}).bounded());
  EXPECT_FALSE(polygon({1, 0, -1, kInfinity, 0, 1, 0, kInfinity}).bounded());
  EXPECT_FALSE(polygon({1, 0, -kInfinity, kInfinity}).bounded());
  // Three half planes close a triangle.
  const double s = std::sqrt(0.5);
  const auto triangle = polygon({1, 0, 0, kInfinity, 0, 1, 0, kInfinity, s, s, -kInfinity, s});
  ASSERT_TRUE(triangle.bounded());
  EXPECT_EQ(triangle.count(), 3);
}

}  // namespace
}  // namespace carom
