#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "enclosure/reach.hpp"
#include "support/enclosures.hpp"

namespace carom::enclosure {
namespace {

using test::Generator;
using test::random_impact;

std::vector<Vector> random_points(Generator& random, int count, std::size_t n) {
  std::vector<Vector> points;
  for (int i = 0; i < count; ++i) {
    Vector point(n);
    point[0] = 1 << 20;
    for (std::size_t k = 1; k < n; ++k) {
      point[k] = static_cast<std::int64_t>(random.between(-1e6, 1e6));
    }
    make_primitive(point);
    points.push_back(std::move(point));
  }
  return points;
}

/// The largest distance of a tuple of one list from the nearest one of another, as points.
double apart(const Tuples& a, const Tuples& b) {
  double most = 0.0;
  for (const Tuple& x : a) {
    double least = 1e300;
    for (const Tuple& y : b) {
      double far = 0.0;
      for (std::size_t k = 0; k < x.size(); ++k) far = std::max(far, std::abs(x[k] - y[k]));
      least = std::min(least, far);
    }
    most = std::max(most, least);
  }
  return most;
}

TEST(EnclosureRoughSearch, DoublesFindTheHullsOfIntegers) {
  Generator random(5);
  for (const std::size_t n : {3, 5, 7}) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<Vector> points =
          random_points(random, static_cast<int>(n) + (n < 7 ? 4 : 2), n);
      Vector side(n);
      side[1] = 1;
      const Hull exact = HullBase(n, points).with({}, std::vector<Measured>{Measured(side)});
      const Tuple rough_side = rough(side);
      const RoughHull found = rough_hull(n, rough(points), {&rough_side, 1}, false);
      ASSERT_TRUE(found.known);
      EXPECT_EQ(found.equations.size(), exact.equations.size());
      EXPECT_EQ(found.rows.size(), exact.rows.size());
      Tuples cut;
      for (const CutRay& ray : exact.cut) cut.push_back(rough(ray.vector));
      EXPECT_EQ(found.cut.size(), cut.size());
      EXPECT_LE(apart(found.cut, cut), 1e-10);
      EXPECT_LE(apart(cut, found.cut), 1e-10);
    }
  }
}

// A plan's polyhedra are those of the exact search that follows it, made once each where nothing
// goes round.
TEST(EnclosureRoughSearch, APlanHoldsWhatTheExactSearchFinds) {
  Generator random(404);
  int ended = 0, larger = 0;
  for (int p = 0; p < 40; ++p) {
    const RoundedImpact impact = round_impact(random_impact(random, 2, 4, 1.0)).value();
    Faces faces(impact);
    RoughSearch rough(impact, faces);
    if (!rough.run({1e-9, 96, 4, false})) continue;
    const std::vector<RoughPiece> plan = rough.plan();
    Reach reach(impact, faces, {1e-9, 96, 4, true, 400});
    if (!reach.run(plan, {})) continue;
    ++ended;
    if (reach.made() < rough.made()) ++larger;
    EXPECT_GE(reach.made(), static_cast<std::int64_t>(reach.family().size())) << p;
    EXPECT_LE(reach.made(), 2 * (rough.made() + 4)) << p;
    for (const auto& [code, pieces] : reach.family()) {
      for (const Piece& piece : pieces) {
        const bool held =
            std::any_of(plan.begin(), plan.end(), [&, of = code](const RoughPiece& expected) {
              return expected.code == of && expected.distance(piece.vertices) <= 1e-8;
            });
        EXPECT_TRUE(held) << p << ' ' << code;
      }
    }
  }
  EXPECT_GE(ended, 34);
  EXPECT_GE(larger, 8);  // of which some are made once instead of many times
}

}  // namespace
}  // namespace carom::enclosure
