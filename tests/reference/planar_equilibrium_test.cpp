#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "equilibrium/planar_backends.hpp"
#include "support/planar_batches.hpp"

// The dense simplex on LP (4) and LP (10) against the strips of the cpu backend.
namespace carom {
namespace {

using test::PostureKind;
using test::random_batch;

/// Equal ends within 1e-9 of their size; the number of problems.
int compare(const PostureBatch& batch) {
  const PlanarResult fast = cpu::planar_equilibrium(batch, {});
  const PlanarResult slow = reference::planar_equilibrium(batch, {});
  for (std::size_t p = 0; p < static_cast<std::size_t>(batch.problems); ++p) {
    EXPECT_EQ(fast.status.host()[p], slow.status.host()[p]) << p;
    for (const auto member : {&PlanarResult::lower, &PlanarResult::upper, &PlanarResult::torque_min,
                              &PlanarResult::torque_max}) {
      const double a = (fast.*member).host()[p];
      const double b = (slow.*member).host()[p];
      if (std::isnan(a) || std::isinf(a)) {
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << p;
      } else {
        EXPECT_NEAR(a, b, 1e-9 * std::max(1.0, std::abs(a))) << p;
      }
    }
    if (batch.vertices == 0) continue;
    EXPECT_EQ(fast.robust_status.host()[p], slow.robust_status.host()[p]) << p;
    EXPECT_EQ(fast.robust_count.host()[p], slow.robust_count.host()[p]) << p;
  }
  return static_cast<int>(batch.problems);
}

TEST(PlanarReference, PointsAgreeWithProgram4) {
  int problems = 0;
  for (const int contacts : {1, 2, 3, 4, 6, 9, 14, 24}) {
    problems += compare(random_batch(11, PostureKind::upward, contacts, 300));
    problems += compare(random_batch(12, PostureKind::any, contacts, 100));
    problems += compare(random_batch(13, PostureKind::lattice, contacts, 200));
  }
  EXPECT_EQ(problems, 4800);
}

TEST(PlanarReference, PatchesAgreeWithProgram10) {
  for (const int contacts : {1, 2, 3, 7}) {
    compare(random_batch(14, PostureKind::upward, contacts, 200, true));
    compare(random_batch(15, PostureKind::lattice, contacts, 200, true));
  }
}

TEST(PlanarReference, RobustRegionsAgree) {
  compare(random_batch(16, PostureKind::upward, 4, 400, false, true));
  compare(random_batch(17, PostureKind::upward, 3, 200, true, true));
}

// Section 4: point contacts at both ends of a patch bear what the patch bears.
TEST(PlanarReference, PatchesEqualTheirEndPoints) {
  for (int i = 0; i < 300; ++i) {
    test::PostureSource source(18, i);
    Posture patch = source.posture(PostureKind::upward, 1 + source.below(4), true);
    patch.wrench = source.wrench(0.2);
    Posture points;
    points.wrench = patch.wrench;
    points.contacts = 2 * patch.contacts;
    for (int c = 0; c < patch.contacts; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double nx = patch.normal[2 * at];
      const double ny = patch.normal[2 * at + 1];
      for (const double along : {0.0, patch.length[at]}) {
        points.position.push_back(patch.position[2 * at] + along * ny);
        points.position.push_back(patch.position[2 * at + 1] - along * nx);
        points.normal.insert(points.normal.end(), {nx, ny});
        points.friction.push_back(patch.friction[at]);
      }
    }
    const PlanarResult a = cpu::planar_equilibrium(test::batch_of(patch), {});
    const PlanarResult b = cpu::planar_equilibrium(test::batch_of(points), {});
    const PlanarResult c = reference::planar_equilibrium(test::batch_of(patch), {});
    ASSERT_EQ(a.status.host()[0], b.status.host()[0]);
    if (a.status.host()[0] != Status::solved) continue;
    for (const auto member : {&PlanarResult::lower, &PlanarResult::upper}) {
      EXPECT_NEAR((a.*member).host()[0], (b.*member).host()[0], 1e-12);
      EXPECT_NEAR((a.*member).host()[0], (c.*member).host()[0], 1e-9);
    }
    // 0 <= tau_i <= L_i f_i^n of Theorem 3.
    for (std::size_t e = 0; e < 2; ++e) {
      for (std::size_t j = 0; j < static_cast<std::size_t>(patch.contacts); ++j) {
        const std::size_t k = static_cast<std::size_t>(patch.contacts);
        const double* force = a.force.data() + 2 * (e * k + j);
        const double pressure = force[0] * patch.normal[2 * j] + force[1] * patch.normal[2 * j + 1];
        const double torque = a.torque.host()[e * k + j];
        EXPECT_GE(torque, 0.0);
        EXPECT_LE(torque, patch.length[j] * pressure * (1.0 + 1e-12) + 1e-15);
      }
    }
  }
}

// Bisection over membership against the ratios of the certificates.
TEST(PlanarReference, MarginsAgreeWithBisection) {
  int limited = 0;
  int outside = 0;
  for (const bool patches : {false, true}) {
    const PostureBatch batch = random_batch(19, PostureKind::upward, 4, 400, patches, true);
    std::vector<double> centre;
    for (int i = 0; i < 400; ++i) {
      test::PostureSource source(20, i);
      centre.push_back(source.uniform(-0.8, 0.8));
      centre.push_back(source.uniform(-1.0, 2.0));
    }
    const Buffer<double> x = Buffer<double>::from(centre);
    const PlanarMargin fast = cpu::planar_margins(batch, x, {});
    const PlanarMargin slow = reference::planar_margins(batch, x, {});
    for (std::size_t p = 0; p < 400; ++p) {
      EXPECT_EQ(fast.status.host()[p], slow.status.host()[p]) << p;
      const auto near = [&](double a, double b, double slack) {
        if (std::isnan(a) || std::isinf(a)) {
          EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << p << " " << a << " " << b;
        } else {
          EXPECT_NEAR(a, b, slack) << p;
        }
      };
      near(fast.distance.host()[p], slow.distance.host()[p], 1e-10);
      near(fast.robust_distance.host()[p], slow.robust_distance.host()[p], 1e-10);
      const double scale = fast.scale.host()[p];
      near(scale, slow.scale.host()[p], 1e-8 * std::max(1.0, std::abs(scale)));
      if (std::isnan(scale)) ++outside;
      if (!std::isfinite(scale)) continue;
      ++limited;
      EXPECT_EQ(fast.limiting_vertex.host()[p], slow.limiting_vertex.host()[p]) << p;
      // Consistent with R(W) itself.
      const double robust = fast.robust_distance.host()[p];
      EXPECT_TRUE(!(robust > 1e-9) || scale >= 1.0 - 1e-9) << p;
      EXPECT_TRUE(!(robust < -1e-9) || scale <= 1.0 + 1e-9) << p;
    }
  }
  EXPECT_GT(limited, 300);
  EXPECT_GT(outside, 20);
}

}  // namespace
}  // namespace carom
