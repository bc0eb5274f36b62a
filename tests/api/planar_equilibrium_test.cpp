#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <carom/models/postures.hpp>

#include "core/constants.hpp"
#include "support/planar_batches.hpp"

namespace carom {
namespace {

using test::batch_of;
using test::PostureKind;
using test::PostureSource;

PlanarResult solve(const Posture& posture, PlanarMethod method = PlanarMethod::lp) {
  return planar_equilibrium(batch_of(posture), {.method = method, .threads = 1}, Backend::cpu);
}

Posture contacts(const std::vector<std::array<double, 4>>& rows, double friction) {
  Posture posture;
  for (const auto& row : rows) {
    posture.position.insert(posture.position.end(), {row[0], row[1]});
    posture.normal.insert(posture.normal.end(), {row[2], row[3]});
    posture.friction.push_back(friction);
    ++posture.contacts;
  }
  return posture;
}

bool holds(const Posture& posture, double x, double y, double slack) {
  const PlanarResult result = solve(posture);
  const double at = x * result.normal.host()[0] + y * result.normal.host()[1];
  return at >= result.lower.host()[0] - slack && at <= result.upper.host()[0] + slack;
}

/// 10,000 postures of 2 to 40 contacts, all four methods; some with patches, torques and tilts.
TEST(PlanarEquilibrium, FourMethodsAgree) {
  int solved = 0;
  double worst = 0.0;
  for (int i = 0; i < 10000; ++i) {
    PostureSource source(21, i);
    // Few postures are large: the pairwise methods grow with the square of their points.
    const double size = source.uniform(0.0, 1.0);
    const int k = 2 + static_cast<int>(38.999 * size * size * size);
    Posture posture = source.posture(PostureKind::upward, k, source.below(8) == 0);
    if (source.below(2) == 0) posture.wrench = source.wrench(0.05);
    const PlanarResult lp = solve(posture);
    const Status status = lp.status.host()[0];
    ASSERT_LE(lp.residual.host()[0], 1e-9) << i;
    for (const PlanarMethod method :
         {PlanarMethod::pairs, PlanarMethod::graphic, PlanarMethod::line_sweep}) {
      const PlanarResult other = solve(posture, method);
      ASSERT_EQ(other.status.host()[0], status) << i << " " << to_string(method);
      if (status != Status::solved) continue;
      const double difference = std::max(std::abs(other.lower.host()[0] - lp.lower.host()[0]),
                                         std::abs(other.upper.host()[0] - lp.upper.host()[0]));
      ASSERT_LE(difference, 1e-9) << i << " " << to_string(method);
      worst = std::max(worst, difference);
    }
    ASSERT_TRUE(status == Status::solved || status == Status::infeasible) << i;
    if (status == Status::solved) ++solved;
  }
  EXPECT_GT(solved, 9800);
  RecordProperty("worst_difference", std::to_string(worst));
}

TEST(PlanarEquilibrium, PairsAndGraphicAgreeOnAllContacts) {
  int bounded = 0;
  int endless = 0;
  for (int i = 0; i < 3000; ++i) {
    PostureSource source(22, i);
    Posture posture = source.posture(PostureKind::any, 1 + source.below(4));
    posture.wrench = source.wrench(3.0);
    const PlanarResult lp = solve(posture);
    for (const PlanarMethod method : {PlanarMethod::pairs, PlanarMethod::graphic}) {
      const PlanarResult other = solve(posture, method);
      ASSERT_EQ(other.status.host()[0], lp.status.host()[0]) << i << " " << to_string(method);
      for (const auto member : {&PlanarResult::lower, &PlanarResult::upper}) {
        const double a = (lp.*member).host()[0];
        const double b = (other.*member).host()[0];
        if (std::isfinite(a)) {
          EXPECT_NEAR(a, b, 1e-9 * std::max(1.0, std::abs(a))) << i;
          ++bounded;
        } else {
          EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i;
          ++endless;
        }
      }
    }
  }
  EXPECT_GT(bounded, 500);
  EXPECT_GT(endless, 500);
}

// Equation (1) at both ends, with every contact's force in its cone.
TEST(PlanarEquilibrium, ForcesBalanceTheWrenchAtBothEnds) {
  int solved = 0;
  for (int i = 0; i < 500; ++i) {
    PostureSource source(23, i);
    const std::size_t k = 2 + static_cast<std::size_t>(source.below(6));
    Posture posture = source.posture(PostureKind::upward, static_cast<int>(k), true);
    posture.wrench = source.wrench(0.05);
    const PlanarResult result = solve(posture);
    if (result.status.host()[0] != Status::solved) continue;
    ++solved;
    const double size = std::hypot(posture.wrench[0], posture.wrench[1]);
    const double nx = result.normal.host()[0];
    const double ny = result.normal.host()[1];
    EXPECT_NEAR(nx, -posture.wrench[1] / size, 1e-15);
    EXPECT_NEAR(ny, posture.wrench[0] / size, 1e-15);
    for (std::size_t e = 0; e < 2; ++e) {
      const double end = e == 0 ? result.lower.host()[0] : result.upper.host()[0];
      const double x = end * nx + 0.7 * ny;  // a centre of mass anywhere on the end's line
      const double y = end * ny - 0.7 * nx;
      double sum[3] = {posture.wrench[0], posture.wrench[1], posture.wrench[2]};
      for (std::size_t c = 0; c < k; ++c) {
        const double fx = result.force.host()[2 * (e * k + c)];
        const double fy = result.force.host()[2 * (e * k + c) + 1];
        const double pressure = fx * posture.normal[2 * c] + fy * posture.normal[2 * c + 1];
        const double shear = fx * posture.normal[2 * c + 1] - fy * posture.normal[2 * c];
        EXPECT_LE(std::abs(shear), posture.friction[c] * pressure + 1e-12 * size);
        sum[0] += fx;
        sum[1] += fy;
        sum[2] += (posture.position[2 * c] - x) * fy - (posture.position[2 * c + 1] - y) * fx +
                  result.torque.host()[e * k + c];
      }
      for (const double component : sum) EXPECT_NEAR(component, 0.0, 1e-11 * size);
      // tau(x) = x' J' f + tau runs from tau_min at the upper to tau_max at the lower end.
      const double tau = x * posture.wrench[1] - y * posture.wrench[0] + posture.wrench[2];
      const double expected = e == 0 ? result.torque_max.host()[0] : result.torque_min.host()[0];
      EXPECT_NEAR(tau, expected, 1e-11 * size);
    }
  }
  EXPECT_GT(solved, 400);
}

// Corollary 2.2: the other contacts can be removed.
TEST(PlanarEquilibrium, EssentialContactsAloneGiveTheSameStrip) {
  for (int i = 0; i < 500; ++i) {
    PostureSource source(24, i);
    const Posture posture = source.posture(PostureKind::upward, 5 + source.below(20));
    const PlanarResult all = solve(posture);
    Posture few;
    for (const std::int32_t c : all.essential.host()) {
      if (c < 0) continue;
      const auto at = static_cast<std::size_t>(c);
      few.position.insert(few.position.end(),
                          {posture.position[2 * at], posture.position[2 * at + 1]});
      few.normal.insert(few.normal.end(), {posture.normal[2 * at], posture.normal[2 * at + 1]});
      few.friction.push_back(posture.friction[at]);
      ++few.contacts;
    }
    ASSERT_GE(few.contacts, 1);
    const PlanarResult result = solve(few);
    EXPECT_NEAR(result.lower.host()[0], all.lower.host()[0], 1e-12);
    EXPECT_NEAR(result.upper.host()[0], all.upper.host()[0], 1e-12);
  }
}

TEST(PlanarEquilibrium, PolygonIsTheIntersectionOfTheStrips) {
  int polygons = 0;
  for (int i = 0; i < 500; ++i) {
    PostureSource source(25, i);
    Posture posture = source.posture(PostureKind::upward, 2 + source.below(5));
    const double p = source.uniform(-0.3, 0.1);
    const double q = source.uniform(-0.2, 0.1);
    posture.wrench_vertices =
        wrench_rectangle(p, p + source.uniform(0.05, 0.3), q, q + source.uniform(0.0, 0.1));
    const PlanarResult result = solve(posture);
    if (result.robust_status.host()[0] != Status::solved) continue;
    ++polygons;
    const int count = result.robust_count.host()[0];
    ASSERT_LE(count, 4) << "Theorem 2: a parallelogram";
    const auto corner = [&](int c) {
      const auto at = static_cast<std::size_t>((c + count) % count);
      return std::array{result.robust_polygon.host()[2 * at],
                        result.robust_polygon.host()[2 * at + 1]};
    };
    // Every corner lies on two of the strips' lines and inside all strips.
    for (int c = 0; c < count && count >= 3; ++c) {
      int touched = 0;
      for (std::size_t v = 0; v < 4; ++v) {
        const double* strip = result.robust_strip.data() + 4 * v;
        const double at = corner(c)[0] * strip[0] + corner(c)[1] * strip[1];
        EXPECT_GE(at, strip[2] - 1e-9);
        EXPECT_LE(at, strip[3] + 1e-9);
        touched += std::abs(at - strip[2]) < 1e-9 || std::abs(at - strip[3]) < 1e-9 ? 1 : 0;
      }
      EXPECT_GE(touched, 2) << i;
      const auto a = corner(c - 1), b = corner(c), d = corner(c + 1);
      EXPECT_GT((b[0] - a[0]) * (d[1] - b[1]) - (b[1] - a[1]) * (d[0] - b[0]), 0.0);
    }
    // Opposite sides of the parallelogram are parallel.
    if (count != 4) continue;
    for (int c = 0; c < 2; ++c) {
      const auto a = corner(c), b = corner(c + 1), d = corner(c + 2), e = corner(c + 3);
      EXPECT_NEAR(b[0] - a[0], d[0] - e[0], 1e-8 * std::max(1.0, std::abs(b[0] - a[0])));
      EXPECT_NEAR(b[1] - a[1], d[1] - e[1], 1e-8 * std::max(1.0, std::abs(b[1] - a[1])));
    }
  }
  EXPECT_GT(polygons, 200);
}

// Theorem 2 by sampling: x in R(W) bears every wrench of W, x outside of it not some vertex.
TEST(PlanarEquilibrium, RobustRegionMatchesMembershipOfSampledWrenches) {
  int inside = 0;
  int outside = 0;
  for (int i = 0; i < 200; ++i) {
    PostureSource source(26, i);
    Posture posture = source.posture(PostureKind::upward, 2 + source.below(3));
    const double p[2] = {source.uniform(-0.2, 0.0), source.uniform(0.0, 0.2)};
    const double q[2] = {source.uniform(-0.1, 0.0), source.uniform(0.0, 0.1)};
    posture.wrench_vertices = wrench_rectangle(p[0], p[1], q[0], q[1]);
    for (int probe = 0; probe < 5; ++probe) {
      const double x = source.uniform(-1.0, 1.0);
      const double y = source.uniform(-1.0, 1.5);
      const PlanarMargin margin =
          planar_margins(batch_of(posture), Buffer<double>::from({x, y}), {}, Backend::cpu);
      const double distance = margin.robust_distance.host()[0];
      if (std::abs(distance) < 1e-9) continue;
      bool all = true;
      for (int sample = 0; sample < 12; ++sample) {
        Posture under = posture;
        under.wrench_vertices.clear();
        const bool vertex = sample < 4;
        const double u = vertex ? sample % 2 : source.uniform(0.0, 1.0);
        const double v = vertex ? sample / 2 : source.uniform(0.0, 1.0);
        under.wrench = {-(p[0] + u * (p[1] - p[0])), -1.0, -(q[0] + v * (q[1] - q[0]))};
        all = all && holds(under, x, y, 0.0);
      }
      EXPECT_EQ(all, distance > 0.0) << i;
      ++(distance > 0.0 ? inside : outside);
    }
  }
  EXPECT_GT(inside, 50);
  EXPECT_GT(outside, 50);
}

TEST(PlanarEquilibrium, ConvexPolygonsOfWrenchesShrinkTheRegion) {
  Posture posture = models::build_posture("two_contacts");
  double area = kInfinity;
  for (const double size : {0.05, 0.1, 0.15}) {
    std::vector<double> pq;
    for (int v = 0; v < 7; ++v) {
      const double angle = 2.0 * std::numbers::pi * v / 7.0;
      pq.push_back(size * std::cos(angle));
      pq.push_back(size * std::sin(angle));
    }
    posture.wrench_vertices = wrench_polygon(pq);
    const PlanarResult result = solve(posture);
    ASSERT_EQ(result.robust_status.host()[0], Status::solved);
    const int count = result.robust_count.host()[0];
    double now = 0.0;
    for (int c = 0; c < count; ++c) {
      const auto a = 2 * static_cast<std::size_t>(c);
      const auto b = 2 * static_cast<std::size_t>((c + 1) % count);
      const auto corner = result.robust_polygon.host();
      now += 0.5 * (corner[a] * corner[b + 1] - corner[b] * corner[a + 1]);
    }
    EXPECT_GT(now, 0.0);
    EXPECT_LT(now, area);
    area = now;
  }
}

TEST(PlanarEquilibrium, FlatGroundWithoutFrictionHoldsBetweenTheContacts) {
  const Posture posture = contacts({{-0.5, 0, 0, 1}, {0.25, 0, 0, 1}, {0.75, 0, 0, 1}}, 0.0);
  for (const PlanarMethod method :
       {PlanarMethod::lp, PlanarMethod::pairs, PlanarMethod::graphic, PlanarMethod::line_sweep}) {
    const PlanarResult result = solve(posture, method);
    ASSERT_EQ(result.status.host()[0], Status::solved) << to_string(method);
    EXPECT_NEAR(result.lower.host()[0], -0.5, 1e-15);
    EXPECT_NEAR(result.upper.host()[0], 0.75, 1e-15);
    EXPECT_EQ(result.essential.to_vector(), (std::vector<std::int32_t>{0, 2, -1, -1}));
  }
}

TEST(PlanarEquilibrium, OneContactHoldsAboveItselfOrNowhere) {
  const PlanarResult above = solve(contacts({{0.3, 1.0, 0.6, 0.8}}, 1.0));
  ASSERT_EQ(above.status.host()[0], Status::solved);
  EXPECT_NEAR(above.lower.host()[0], 0.3, 1e-15);
  EXPECT_NEAR(above.upper.host()[0], 0.3, 1e-15);
  const PlanarResult nowhere = solve(contacts({{0.3, 1.0, 0.6, 0.8}}, 0.5));
  ASSERT_EQ(nowhere.status.host()[0], Status::infeasible);
  EXPECT_TRUE(std::isnan(nowhere.lower.host()[0]));
  // The separation makes no acute angle with the cone, but with the force that is missing.
  const double dx = nowhere.separation.host()[0];
  const double dy = nowhere.separation.host()[1];
  EXPECT_GT(dy, 0.0);
  for (const double mu : {-0.5, 0.5}) {
    EXPECT_LE(dx * (0.6 + mu * 0.8) + dy * (0.8 - mu * 0.6), 1e-15);
  }
}

// A contact that pushes down beyond the others, and two hands on opposite walls.
TEST(PlanarEquilibrium, UnboundedRegionsAreHalfPlanesOrThePlane) {
  const Posture pressed =
      contacts({{0.0, 0.0, 0.0, 1.0}, {1.0, 0.0, 0.0, 1.0}, {0.5, 2.0, 0.0, -1.0}}, 0.0);
  const PlanarResult plane = solve(pressed);
  ASSERT_EQ(plane.status.host()[0], Status::unbounded);
  EXPECT_EQ(plane.lower.host()[0], -kInfinity);
  EXPECT_EQ(plane.upper.host()[0], kInfinity);
  const Posture hooked =
      contacts({{0.0, 0.0, 0.0, 1.0}, {0.0, 2.0, 0.0, -1.0}, {1.0, 0.0, 0.0, 1.0}}, 0.0);
  const PlanarResult half = solve(hooked);
  ASSERT_EQ(half.status.host()[0], Status::unbounded);
  EXPECT_EQ(half.upper.host()[0], kInfinity);
  EXPECT_NEAR(half.lower.host()[0], 0.0, 1e-15);
  // The ray: the foot on the right pushes up, the hook down.
  EXPECT_NEAR(half.force.host()[6 + 3], -0.5, 1e-15);
  EXPECT_NEAR(half.force.host()[6 + 5], 0.5, 1e-15);
  const PlanarResult chimney = solve(contacts({{0.0, 0.0, 1.0, 0.0}, {1.0, 0.5, -1.0, 0.0}}, 1.0));
  EXPECT_EQ(chimney.status.host()[0], Status::unbounded);
  // Frictionless hands at one height carry nothing, and turn nothing.
  EXPECT_EQ(solve(contacts({{0.0, 0.0, 1.0, 0.0}, {1.0, 0.0, -1.0, 0.0}}, 0.0)).status.host()[0],
            Status::infeasible);
  const PlanarResult squeezed =
      solve(contacts({{0.0, 0.0, 1.0, 0.0}, {1.0, 0.0, -1.0, 0.0}, {0.4, -1.0, 0.0, 1.0}}, 0.0));
  ASSERT_EQ(squeezed.status.host()[0], Status::solved);
  EXPECT_NEAR(squeezed.lower.host()[0], 0.4, 1e-14);
  EXPECT_NEAR(squeezed.upper.host()[0], 0.4, 1e-14);
}

TEST(PlanarEquilibrium, ParallelStripsOfTheRobustRegionAreSaidToBeUnbounded) {
  Posture posture = models::build_posture("two_contacts");
  posture.wrench_vertices = wrench_rectangle(0.0, 0.0, -0.05, 0.05);
  const PlanarResult strip = solve(posture);
  EXPECT_EQ(strip.robust_status.host()[0], Status::unbounded);
  EXPECT_EQ(strip.robust_count.host()[0], 0);
  posture.wrench_vertices = wrench_rectangle(-0.3, 0.3, -5.0, 5.0);
  EXPECT_EQ(solve(posture).robust_status.host()[0], Status::infeasible);
  // No strip at all for one of the vertices.
  posture.wrench_vertices = wrench_rectangle(-9.0, 0.3, 0.0, 0.0);
  EXPECT_EQ(solve(posture).robust_status.host()[0], Status::infeasible);
}

TEST(PlanarEquilibrium, LineSweepTakesUpwardContactsAlone) {
  const Posture wall = contacts({{0.0, 0.0, 1.0, 0.0}, {1.0, 0.5, -1.0, 0.0}}, 0.5);
  const PlanarResult result = solve(wall, PlanarMethod::line_sweep);
  EXPECT_EQ(result.status.host()[0], Status::nonconvex);
  EXPECT_TRUE(std::isnan(result.lower.host()[0]));
  // A vertical cone edge, which the appendix treats apart.
  const double half = std::atan(0.5);
  const Posture vertical = contacts(
      {{0.0, 0.0, std::sin(half), std::cos(half)}, {1.0, 0.2, -0.28, 0.96}, {0.4, -0.3, 0.0, 1.0}},
      0.5);
  const PlanarResult lp = solve(vertical);
  const PlanarResult swept = solve(vertical, PlanarMethod::line_sweep);
  EXPECT_NEAR(lp.lower.host()[0], swept.lower.host()[0], 1e-12);
  EXPECT_NEAR(lp.upper.host()[0], swept.upper.host()[0], 1e-12);
  EXPECT_NEAR(lp.lower.host()[0], 0.0, 1e-12);
  EXPECT_GT(swept.upper.host()[0], 0.5);
}

TEST(PlanarEquilibrium, ScaleAndOriginMoveTheStrip) {
  PostureSource source(27, 0);
  const Posture posture = source.posture(PostureKind::upward, 5);
  const PlanarResult before = solve(posture);
  Posture moved = posture;
  for (std::size_t c = 0; c < 5; ++c) {
    moved.position[2 * c] = 4.0 * posture.position[2 * c] + 7.0;
    moved.position[2 * c + 1] = 4.0 * posture.position[2 * c + 1] - 3.0;
  }
  moved.wrench = {0.0, -50.0, 0.0};
  const PlanarResult after = solve(moved);
  EXPECT_NEAR(after.lower.host()[0], 4.0 * before.lower.host()[0] + 7.0, 1e-12);
  EXPECT_NEAR(after.upper.host()[0], 4.0 * before.upper.host()[0] + 7.0, 1e-12);
  EXPECT_EQ(after.essential.to_vector(), before.essential.to_vector());
}

TEST(PlanarEquilibrium, AnEmptyBatchHasNoAnswers) {
  PostureBatch batch;
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    EXPECT_EQ(planar_equilibrium(batch, {}, backend).status.size(), 0U);
  }
}

}  // namespace
}  // namespace carom
