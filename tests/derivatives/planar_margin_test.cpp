#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_margin.hpp>
#include <carom/error.hpp>

namespace carom {
namespace {

PostureBatch stance(int contacts, bool patches = false) {
  PostureBatch batch = allocate<PostureBatch>({1, 2, contacts, 0}, MemorySpace::host, patches);
  const double weight[] = {0.0, -1.0, 0.0};
  std::copy_n(weight, 3, batch.wrench.data());
  return batch;
}

void put(PostureBatch& batch, int i, double x, double y, double slope, double friction) {
  const double position[] = {x, y}, normal[] = {-std::sin(slope), std::cos(slope)};
  std::copy_n(position, 2, batch.position.data() + 2 * i);
  std::copy_n(normal, 2, batch.normal.data() + 2 * i);
  batch.friction.data()[i] = friction;
}

PostureBatch two_feet() {
  PostureBatch batch = stance(2);
  put(batch, 0, -1.0, 0.0, 0.0, 0.5);
  put(batch, 1, 1.0, 0.0, 0.0, 0.5);
  return batch;
}

MarginGradient gradients_at(const PostureBatch& batch, const std::vector<double>& x,
                            const MarginWanted& wanted = {}) {
  return differentiate_planar_margins(batch, x, {}, {}, wanted);
}

double distance(const PostureBatch& batch, const std::vector<double>& x) {
  return planar_margins(batch, Buffer<double>::from(x)).distance.data()[0];
}

TEST(PlanarMarginDerivatives, OfTwoFeetMoveTheNearerOne) {
  const MarginGradient found = gradients_at(two_feet(), {0.4, 0.8});
  ASSERT_EQ(found.status.data()[0], Smoothness::smooth);
  EXPECT_NEAR(found.value.data()[0], 0.6, 1e-15);
  const auto expect = [](const Buffer<double>& gradient, const std::vector<double>& expected) {
    ASSERT_EQ(gradient.size(), expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(gradient.data()[j], expected[j], 1e-15) << j;
    }
  };
  expect(found.position, {0.0, 0.0, 1.0, 0.0});
  expect(found.normal, {0.0, 0.0, 0.0, 0.0});
  expect(found.friction, {0.0, 0.0});
  expect(found.centre_of_mass, {-1.0, 0.0});
  expect(found.wrench, {-0.8, 0.0, 1.0});  // a push tips with the height
  EXPECT_TRUE(found.length.empty());
}

/// A ladder on a wall at height h and on a floor, at (1, 0): the lines of the floor's force, which
/// leans by mu_f, and of the wall's, which rises by mu_w, meet at the end of the strip.
TEST(PlanarMarginDerivatives, OfALadderDependOnFriction) {
  constexpr double kHeight = 2.0, kFloor = 0.4, kWall = 0.3, kX = 0.4;
  PostureBatch batch = stance(2);
  put(batch, 0, 0.0, kHeight, -0.5 * 3.14159265358979323846, kWall);
  put(batch, 1, 1.0, 0.0, 0.0, kFloor);
  // x = 1 - mu_f y on the one line, y = h + mu_w x on the other
  constexpr double kSum = 1.0 + kFloor * kWall, kEnd = (1.0 - kFloor * kHeight) / kSum;
  const MarginGradient found = gradients_at(batch, {kX, 1.0});
  ASSERT_EQ(found.status.data()[0], Smoothness::smooth);
  EXPECT_NEAR(found.value.data()[0], kX - kEnd, 1e-14);
  EXPECT_NEAR(found.friction.data()[0], kFloor * kEnd / kSum, 1e-14);
  EXPECT_NEAR(found.friction.data()[1], (kHeight + kWall * kEnd) / kSum, 1e-14);
  EXPECT_NEAR(found.position.data()[1], kFloor / kSum, 1e-14);
  EXPECT_NEAR(found.position.data()[2], -1.0 / kSum, 1e-14);
}

TEST(PlanarMarginDerivatives, AgreeWithDifferencesInsideAndOutside) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  int inside = 0, outside = 0, lengths = 0;
  for (int trial = 0; trial < 400; ++trial) {
    SCOPED_TRACE(trial);
    const int k = 1 + trial % 5;
    const auto count = static_cast<std::size_t>(k);
    const bool patches = trial % 3 == 0;
    PostureBatch batch = stance(k, patches);
    for (int i = 0; i < k; ++i) {
      put(batch, i, normal(random), 0.5 * normal(random), 0.7 * normal(random),
          0.1 + uniform(random));
      if (patches) batch.length.data()[i] = i % 2 == 0 ? uniform(random) : 0.0;
    }
    batch.wrench.data()[0] = 0.3 * normal(random);
    batch.wrench.data()[1] = -1.0 - uniform(random);
    batch.wrench.data()[2] = 0.2 * normal(random);
    const std::vector<double> x = {normal(random), normal(random)};
    const MarginGradient found = gradients_at(batch, x);
    if (found.status.data()[0] != Smoothness::smooth || found.margin.data()[0] < 1e-3) continue;
    const double value = found.value.data()[0];
    EXPECT_NEAR(value, distance(batch, x), 1e-12 * (1.0 + std::abs(value)));
    EXPECT_LT(found.residual.data()[0], 1e-13);
    ++(value > 0.0 ? inside : outside);

    std::vector<double> position(2 * count), turn(count), friction(count), length(count), wrench(3),
        centre(2);
    for (auto* way : {&position, &turn, &friction, &length, &wrench, &centre}) {
      for (double& each : *way) each = normal(random);
    }
    double expected = 0.0;
    const auto add = [&](const std::vector<double>& way, const Buffer<double>& gradient) {
      for (std::size_t i = 0; i < way.size(); ++i) expected += way[i] * gradient.data()[i];
    };
    add(position, found.position);
    add(friction, found.friction);
    add(wrench, found.wrench);
    add(centre, found.centre_of_mass);
    for (std::size_t i = 0; i < count; ++i) {
      const double* n = batch.normal.data() + 2 * i;
      const double* g = found.normal.data() + 2 * i;
      EXPECT_NEAR(n[0] * g[0] + n[1] * g[1], 0.0, 1e-12 * (1.0 + std::hypot(g[0], g[1])));
      expected += turn[i] * (n[0] * g[1] - n[1] * g[0]);
      if (!patches || batch.length.data()[i] == 0.0) {
        length[i] = 0.0;
      } else {
        expected += length[i] * found.length.data()[i];
        if (found.length.data()[i] != 0.0) ++lengths;
      }
    }
    const auto moved = [&](double step) {
      PostureBatch other = batch.to(MemorySpace::host);
      std::vector<double> to = x;
      for (std::size_t i = 0; i < 2 * count; ++i) other.position.data()[i] += step * position[i];
      for (std::size_t i = 0; i < count; ++i) {
        double* n = other.normal.data() + 2 * i;
        const double angle = std::atan2(n[1], n[0]) + step * turn[i];
        n[0] = std::cos(angle);
        n[1] = std::sin(angle);
        other.friction.data()[i] += step * friction[i];
        if (patches) other.length.data()[i] += step * length[i];
      }
      for (std::size_t i = 0; i < 3; ++i) other.wrench.data()[i] += step * wrench[i];
      for (std::size_t i = 0; i < 2; ++i) to[i] += step * centre[i];
      return distance(other, to);
    };
    double best = std::numeric_limits<double>::infinity();
    for (const double step : {1e-3, 3e-4, 1e-4, 3e-5}) {
      const double near = moved(step) - moved(-step), far = moved(2.0 * step) - moved(-2.0 * step);
      best = std::min(best, std::abs((8.0 * near - far) / (12.0 * step) - expected));
    }
    EXPECT_LT(best, 1e-8 * std::max(1.0, std::abs(expected)));
  }
  EXPECT_GT(inside, 50);
  EXPECT_GT(outside, 50);
  EXPECT_GT(lengths, 20);
}

TEST(PlanarMarginDerivatives, HaveAKinkHalfwayBetweenTheEnds) {
  const MarginGradient found = gradients_at(two_feet(), {0.0, 0.8});
  EXPECT_EQ(found.status.data()[0], Smoothness::kink);
  EXPECT_EQ(found.doubtful.data()[0], 1);
  EXPECT_EQ(found.value.data()[0], 1.0);
  EXPECT_EQ(std::abs(found.centre_of_mass.data()[0]), 1.0);
  EXPECT_TRUE(std::isnan(differentiate_planar_margins(two_feet(), std::vector<double>{0.0, 0.8}, {},
                                                      {.at_kink = AtKink::nan})
                             .centre_of_mass.data()[0]));
}

/// A second foot at the same place shares the force in any way.
TEST(PlanarMarginDerivatives, OfForcesThatAreNotUniqueDependOnWhatIsAsked) {
  PostureBatch batch = stance(3);
  put(batch, 0, -1.0, 0.0, 0.0, 0.5);
  put(batch, 1, 1.0, 0.0, 0.0, 0.5);
  put(batch, 2, 1.0, 0.0, 0.0, 0.5);
  const std::vector<double> x = {0.4, 0.8};
  EXPECT_EQ(gradients_at(batch, x).status.data()[0], Smoothness::kink);
  MarginWanted others{.position = false, .normal = false, .friction = false};
  const MarginGradient found = gradients_at(batch, x, others);
  EXPECT_EQ(found.status.data()[0], Smoothness::smooth);
  EXPECT_NEAR(found.wrench.data()[0], -0.8, 1e-15);
  EXPECT_TRUE(found.position.empty());
}

/// On a slope of tan = mu, the force of the lower foot is an edge of its cone: its proof may be any
/// point of the force's line, and a push along the slope has two one-sided derivatives.
TEST(PlanarMarginDerivatives, OfProofsThatAreNotUniqueDependOnWhatIsAsked) {
  const double slope = std::atan(0.5);
  PostureBatch batch = stance(2);
  put(batch, 0, -1.0, -0.5, slope, 0.5);
  put(batch, 1, 1.0, 0.5, slope, 0.5);
  const std::vector<double> x = {0.4, 0.8};
  EXPECT_EQ(gradients_at(batch, x).status.data()[0], Smoothness::kink);
  const MarginWanted wanted{.normal = false, .friction = false, .wrench = false};
  const MarginGradient found = gradients_at(batch, x, wanted);
  EXPECT_EQ(found.status.data()[0], Smoothness::smooth);
  EXPECT_NEAR(found.position.data()[2], 1.0, 1e-14);
}

/// One that leans, and friction of the other that would help.
TEST(PlanarMarginDerivatives, AreOneSidedWithoutFriction) {
  PostureBatch batch = stance(2);
  put(batch, 0, -1.0, 0.0, -0.5, 0.0);
  put(batch, 1, 1.0, 0.0, 0.5, 0.0);
  const std::vector<double> x = {0.3, 0.8};
  const MarginGradient found = gradients_at(batch, x);
  ASSERT_EQ(found.status.data()[0], Smoothness::kink);
  PostureBatch other = batch.to(MemorySpace::host);
  constexpr double kStep = 1e-7;
  other.friction.data()[1] = kStep;
  EXPECT_GT(found.friction.data()[1], 0.1);
  EXPECT_NEAR((distance(other, x) - distance(batch, x)) / kStep, found.friction.data()[1], 1e-6);
  MarginWanted others;
  others.friction = false;
  EXPECT_EQ(gradients_at(batch, x, others).status.data()[0], Smoothness::smooth);
}

TEST(PlanarMarginDerivatives, OfWhatHoldsNothingAreNotSolvedAndOfNoEndUndefined) {
  PostureBatch hanging = two_feet();
  for (int i = 0; i < 2; ++i) hanging.normal.data()[2 * i + 1] = -1.0;
  const MarginGradient found = gradients_at(hanging, {0.0, 0.8});
  EXPECT_EQ(found.status.data()[0], Smoothness::not_solved);
  EXPECT_TRUE(std::isnan(found.position.data()[0]));
  PostureBatch grasp = stance(2);  // between two walls: every centre of mass is held
  put(grasp, 0, -1.0, 0.0, -0.5 * 3.14159265358979323846, 1.0);
  put(grasp, 1, 1.0, 0.0, 0.5 * 3.14159265358979323846, 1.0);
  EXPECT_EQ(gradients_at(grasp, {0.0, 0.8}).status.data()[0], Smoothness::undefined);
}

TEST(PlanarMarginDerivatives, MisuseIsRefusedByName) {
  const auto message = [](const PostureBatch& batch, std::size_t numbers) -> std::string {
    const std::vector<double> x(numbers, 0.0);
    try {
      differentiate_planar_margins(batch, x);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  const PostureBatch spatial = allocate<PostureBatch>({1, 3, 2, 0}, MemorySpace::host, false);
  EXPECT_NE(message(spatial, 3).find("dimension"), std::string::npos) << message(spatial, 3);
  EXPECT_NE(message(two_feet(), 1).find("centre_of_mass"), std::string::npos);
  EXPECT_EQ(message(two_feet(), 2), "");
}

}  // namespace
}  // namespace carom
