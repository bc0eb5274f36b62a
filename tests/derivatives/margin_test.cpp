#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_margin.hpp>
#include <carom/equilibrium_membership.hpp>
#include <carom/error.hpp>

namespace carom {
namespace {

PostureBatch posture(int contacts) {
  PostureBatch batch = allocate<PostureBatch>({1, 3, contacts, 0}, MemorySpace::host, false);
  std::fill_n(batch.wrench.data(), 6, 0.0);
  batch.wrench.data()[2] = -1.0;
  return batch;
}

/// Contacts around the origin on slopes, and a wrench that is not only a weight.
PostureBatch random_posture(int contacts, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  PostureBatch batch = posture(contacts);
  for (int i = 0; i < contacts; ++i) {
    const double angle = 2.0 * 3.14159 * (i + 0.3 * uniform(random)) / contacts;
    double n[3] = {0.3 * normal(random), 0.3 * normal(random), 1.0};
    const double size = std::hypot(n[0], n[1], n[2]);
    for (int j = 0; j < 3; ++j) batch.normal.data()[3 * i + j] = n[j] / size;
    batch.position.data()[3 * i] = std::cos(angle) * (1.0 + 0.2 * normal(random));
    batch.position.data()[3 * i + 1] = std::sin(angle) * (1.0 + 0.2 * normal(random));
    batch.position.data()[3 * i + 2] = 0.2 * normal(random);
    batch.friction.data()[i] = 0.3 + 0.5 * uniform(random);
  }
  for (int j : {0, 1, 3, 4}) batch.wrench.data()[j] = 0.05 * normal(random);
  batch.wrench.data()[2] = -1.0 - uniform(random);
  return batch;
}

/// Four feet at (+-1, +-0.7) on the ground.
PostureBatch table() {
  PostureBatch batch = posture(4);
  const double x[] = {-1.0, 1.0, 1.0, -1.0}, y[] = {-0.7, -0.7, 0.7, 0.7};
  for (int i = 0; i < 4; ++i) {
    const double position[] = {x[i], y[i], 0.0}, normal[] = {0.0, 0.0, 1.0};
    std::copy_n(position, 3, batch.position.data() + 3 * i);
    std::copy_n(normal, 3, batch.normal.data() + 3 * i);
    batch.friction.data()[i] = 0.5;
  }
  return batch;
}

MarginGradient at(const PostureBatch& batch, const std::vector<double>& x,
                  const MarginWanted& wanted = {}) {
  return differentiate_margins(batch, x, {}, {}, wanted);
}

/// The nearest edge of a table is that of its feet 1 and 2, at x = 1; it turns about the point that
/// is nearest to the centre of mass.
TEST(MarginDerivatives, OfATableMoveItsNearestEdge) {
  const PostureBatch batch = table();
  const std::vector<double> x = {0.6, 0.2, 0.8};
  const MarginGradient found = at(batch, x);
  ASSERT_EQ(found.status.data()[0], Smoothness::smooth);
  EXPECT_NEAR(found.value.data()[0], 0.4, 1e-14);
  EXPECT_LT(found.residual.data()[0], 1e-14);
  const double share = (0.2 + 0.7) / 1.4;  // of foot 2
  const double edge[] = {0.0, 1.0 - share, share, 0.0};
  for (int i = 0; i < 4; ++i) {
    const double* to = found.position.data() + 3 * i;
    EXPECT_NEAR(to[0], edge[i], 1e-13) << i;
    EXPECT_NEAR(to[1], 0.0, 1e-13) << i;
    EXPECT_NEAR(found.friction.data()[i], 0.0, 1e-13) << i;
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(found.normal.data()[3 * i + j], 0.0, 1e-13) << i;
  }
  const double com[] = {-1.0, 0.0, 0.0};
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(found.centre_of_mass.data()[j], com[j], 1e-13) << j;
  // A force f_x tips about the edge with the height of the centre of mass; torque about y likewise.
  const double wrench[] = {-0.8, 0.0, 0.0, 0.0, -1.0, 0.0};
  for (int j = 0; j < 6; ++j) EXPECT_NEAR(found.wrench.data()[j], wrench[j], 1e-13) << j;
}

TEST(MarginDerivatives, AgreeWithDifferencesInsideAndOutside) {
  std::mt19937_64 random(42);
  std::normal_distribution<double> normal;
  int inside = 0, outside = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int k = 3 + trial % 3;
    const PostureBatch batch = random_posture(k, random);
    const std::vector<double> x = {0.4 * normal(random), 0.4 * normal(random), 0.5};
    const MarginGradient found = at(batch, x);
    const Smoothness status = found.status.data()[0];
    if (status != Smoothness::smooth || found.margin.data()[0] < 0.02) continue;
    SCOPED_TRACE(trial);
    const Membership member = probe_membership(batch, x).front();
    EXPECT_GE(found.value.data()[0], member.margin_lower - 1e-9);
    EXPECT_LE(found.value.data()[0], member.margin_upper + 1e-9);
    ++(found.value.data()[0] > 0.0 ? inside : outside);
    const auto count = static_cast<std::size_t>(k);
    std::vector<double> position(3 * count), turn(3 * count), friction(count), wrench(6), centre(3);
    for (auto* way : {&position, &turn, &friction, &wrench, &centre}) {
      for (double& each : *way) each = normal(random);
    }
    double expected = 0.0;
    const auto add = [&](const std::vector<double>& way, const Buffer<double>& gradient) {
      for (std::size_t i = 0; i < way.size(); ++i) expected += way[i] * gradient.data()[i];
    };
    add(position, found.position);
    add(turn, found.normal);
    add(friction, found.friction);
    add(wrench, found.wrench);
    add(centre, found.centre_of_mass);
    const auto moved = [&](double step) {
      PostureBatch other = batch.to(MemorySpace::host);
      std::vector<double> to = x;
      for (std::size_t i = 0; i < 3 * count; ++i) {
        other.position.data()[i] += step * position[i];
        other.normal.data()[i] += step * turn[i];
      }
      for (std::size_t i = 0; i < count; ++i) {
        double* n = other.normal.data() + 3 * i;
        const double size = std::hypot(n[0], n[1], n[2]);
        for (int j = 0; j < 3; ++j) n[j] /= size;
        other.friction.data()[i] += step * friction[i];
      }
      for (std::size_t i = 0; i < 6; ++i) other.wrench.data()[i] += step * wrench[i];
      for (std::size_t i = 0; i < 3; ++i) to[i] += step * centre[i];
      return at(other, to).value.data()[0];
    };
    double best = std::numeric_limits<double>::infinity();
    for (const double step : {3e-3, 1e-3, 3e-4, 1e-4}) {
      const double near = moved(step) - moved(-step), far = moved(2.0 * step) - moved(-2.0 * step);
      best = std::min(best, std::abs((8.0 * near - far) / (12.0 * step) - expected));
    }
    EXPECT_LT(best, 1e-8 * std::max(1.0, std::abs(expected)));
  }
  EXPECT_GT(inside, 10);
  EXPECT_GT(outside, 5);
}

TEST(MarginDerivatives, HaveKinksBetweenTwoSides) {
  const MarginGradient found = at(table(), {0.3, 0.0, 0.5});  // 0.7 from three edges
  EXPECT_EQ(found.status.data()[0], Smoothness::kink);
  EXPECT_NEAR(found.value.data()[0], 0.7, 1e-14);
  EXPECT_LT(found.margin.data()[0], 1e-12);
  EXPECT_GE(found.doubtful.data()[0], 1);
}

/// Two feet of one corner at the same place share its force in any way: only what moves both has
/// a derivative.
TEST(MarginDerivatives, OfForcesThatAreNotUniqueDependOnWhatIsAsked) {
  PostureBatch batch = posture(5);
  const PostureBatch four = table();
  for (int i = 0; i < 5; ++i) {
    const int from = i < 4 ? i : 1;
    std::copy_n(four.position.data() + 3 * from, 3, batch.position.data() + 3 * i);
    std::copy_n(four.normal.data() + 3 * from, 3, batch.normal.data() + 3 * i);
    batch.friction.data()[i] = 0.5;
  }
  const std::vector<double> x = {0.6, 0.2, 0.8};
  EXPECT_EQ(at(batch, x).status.data()[0], Smoothness::kink);
  const MarginGradient others = at(batch, x, {.position = false, .normal = false});
  EXPECT_EQ(others.status.data()[0], Smoothness::smooth);
  EXPECT_NEAR(others.centre_of_mass.data()[0], -1.0, 1e-13);
  EXPECT_TRUE(others.position.empty());
}

TEST(MarginDerivatives, OfWhatHoldsNothingAreNotSolved) {
  PostureBatch batch = table();
  for (int i = 0; i < 4; ++i) batch.normal.data()[3 * i + 2] = -1.0;  // feet that hang
  const MarginGradient found = at(batch, {0.0, 0.0, 0.5});
  EXPECT_EQ(found.status.data()[0], Smoothness::not_solved);
  EXPECT_TRUE(std::isnan(found.position.data()[0]));
  EXPECT_TRUE(std::isnan(found.value.data()[0]));
}

TEST(MarginDerivatives, MisuseIsRefusedByName) {
  const PostureBatch batch = table();
  const std::vector<double> x = {0.0, 0.0, 0.5};
  SpatialSettings polygons;
  polygons.cone_sides = 8;
  try {
    differentiate_margins(batch, x, polygons);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("cones is pair: must be exact"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(differentiate_margins(batch, std::span(x).first(2)), InvalidInput);
  const std::vector<double> none = {0.0, std::nan(""), 0.5};
  EXPECT_THROW(differentiate_margins(batch, none), InvalidInput);
}

}  // namespace
}  // namespace carom
