#pragma once

#include <array>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <carom/equilibrium_planar.hpp>

#include "support/bits.hpp"
#include "support/random_postures.hpp"

namespace carom::test {

inline PostureBatch batch_of(const Posture& posture) { return make_batch(std::array{posture}); }

/// Postures [first, first + count) of one shape; with_region: a rectangle W of wrenches.
inline PostureBatch random_batch(std::uint64_t seed, PostureKind kind, int contacts, int count,
                                 bool patches = false, bool with_region = false) {
  std::vector<Posture> postures;
  for (int i = 0; i < count; ++i) {
    PostureSource source(seed, i);
    Posture posture = source.posture(kind, contacts, patches);
    if (source.below(2) == 0) posture.wrench = source.wrench();
    if (with_region) {
      const double p = source.uniform(-0.2, 0.1);
      const double q = source.uniform(-0.2, 0.1);
      posture.wrench_vertices =
          wrench_rectangle(p, p + source.uniform(0.0, 0.3), q, q + source.uniform(0.0, 0.3));
    }
    postures.push_back(posture);
  }
  return make_batch(postures);
}

inline void expect_identical(const PlanarResult& a, const PlanarResult& b) {
  EXPECT_EQ(first_difference(a.status, b.status), -1);
  EXPECT_EQ(first_difference(a.torque_min, b.torque_min), -1);
  EXPECT_EQ(first_difference(a.torque_max, b.torque_max), -1);
  EXPECT_EQ(first_difference(a.normal, b.normal), -1);
  EXPECT_EQ(first_difference(a.lower, b.lower), -1);
  EXPECT_EQ(first_difference(a.upper, b.upper), -1);
  EXPECT_EQ(first_difference(a.force, b.force), -1);
  EXPECT_EQ(first_difference(a.torque, b.torque), -1);
  EXPECT_EQ(first_difference(a.height, b.height), -1);
  EXPECT_EQ(first_difference(a.separation, b.separation), -1);
  EXPECT_EQ(first_difference(a.essential, b.essential), -1);
  EXPECT_EQ(first_difference(a.residual, b.residual), -1);
  EXPECT_EQ(first_difference(a.robust_status, b.robust_status), -1);
  EXPECT_EQ(first_difference(a.robust_strip, b.robust_strip), -1);
  EXPECT_EQ(first_difference(a.robust_residual, b.robust_residual), -1);
  EXPECT_EQ(first_difference(a.robust_count, b.robust_count), -1);
  EXPECT_EQ(first_difference(a.robust_polygon, b.robust_polygon), -1);
}

inline void expect_identical(const PlanarMargin& a, const PlanarMargin& b) {
  EXPECT_EQ(first_difference(a.status, b.status), -1);
  EXPECT_EQ(first_difference(a.distance, b.distance), -1);
  EXPECT_EQ(first_difference(a.robust_distance, b.robust_distance), -1);
  EXPECT_EQ(first_difference(a.scale, b.scale), -1);
  EXPECT_EQ(first_difference(a.limiting_vertex, b.limiting_vertex), -1);
}

}  // namespace carom::test
