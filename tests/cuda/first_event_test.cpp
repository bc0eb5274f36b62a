#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cuda/impact/first_event.cuh"
#include "cuda/quotient.cuh"
#include "support/random_problems.hpp"

// What groups of lanes do instead of divisions, by the host.

namespace carom {
namespace {

constexpr double kTolerance = 1e-11;

kernels::ArgMin<double> by_division(const std::vector<cuda::first_event::Linear>& slacks) {
  kernels::ArgMin<double> best{kernels::kInfinity, -1};
  for (int i = 0; i < static_cast<int>(slacks.size()); ++i) {
    const auto [value, rate] = slacks[static_cast<std::size_t>(i)];
    const double step =
        rate < -kTolerance ? (value > 0.0 ? value : 0.0) / -rate : kernels::kInfinity;
    if (step < best.key) best = {step, i};
  }
  return best;
}

/// Whether there is no doubt; then the answer has to be the divisions'.
bool decided(const std::vector<cuda::first_event::Linear>& slacks) {
  cuda::FirstEvent first(kTolerance);
  for (int i = 0; i < static_cast<int>(slacks.size()); ++i) {
    first(i, slacks[static_cast<std::size_t>(i)]);
  }
  if (first.in_doubt()) return false;
  const kernels::ArgMin<double> expected = by_division(slacks);
  const kernels::ArgMin<double> found = first.found(0);
  EXPECT_EQ(found.index, expected.index);
  EXPECT_EQ(found.key, expected.key);
  return true;
}

TEST(FirstEvent, IsTheDivisionsAndSeldomInDoubt) {
  test::Generator random(1);
  int doubts = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    std::vector<cuda::first_event::Linear> slacks(6);
    for (auto& slack : slacks) {
      slack = {random.between(0.0, 1.0) * std::pow(10.0, random.integer(-6, 6)), random.normal()};
      if (random.integer(0, 7) == 0) slack.rate = 0.0;
    }
    if (!decided(slacks)) ++doubts;
  }
  EXPECT_EQ(doubts, 0);
}

TEST(FirstEvent, IsInDoubtWhereRoundingOrders) {
  test::Generator random(2);
  int doubts = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    const double value = random.between(0.5, 2.0);
    const double rate = random.between(0.5, 2.0);
    const double factor = random.between(0.5, 2.0);
    double other = value * factor;
    for (int k = random.integer(-2, 2); k != 0; k += k > 0 ? -1 : 1) {
      other = std::nextafter(other, k > 0 ? 10.0 : 0.0);
    }
    if (!decided({{value, -rate}, {other, -(rate * factor)}})) ++doubts;
  }
  EXPECT_GT(doubts, 90000);
}

TEST(FirstEvent, KnowsNothingOfWhatDoesNotShrink) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(decided({{1.0, 0.0}, {0.0, 1.0}, {-1.0, nan}}));
  EXPECT_FALSE(decided({{0.0, -1.0}, {-1.0, -3.0}}));  // alike
  EXPECT_TRUE(decided({{0.0, -1.0}, {1.0, -3.0}}));
  EXPECT_TRUE(decided({{1.0, -3.0}, {-1.0, -1.0}}));
  EXPECT_FALSE(decided({{nan, -1.0}, {1.0, -1.0}}));
  EXPECT_FALSE(decided({{1e-300, -1e-10}, {3e-300, -3e-10}}));
  EXPECT_FALSE(decided({{1e300, -1e10}, {1e301, -1e11}}));
}

TEST(Quotient, HasTheDivisionsBits) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0.0,    -0.0,   1.0,         -1.0,      3.0,
                                      1e-310, 1e308,  infinity,    -infinity, -7e-320,
                                      0.1,    -1e-11, std::nan("")};
  for (const double a : values) {
    for (const double b : values) {
      const double expected = a / b;
      const double found = cuda::quotient(a, b);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found)) << a << " / " << b;
      } else {
        EXPECT_EQ(found, expected) << a << " / " << b;
        EXPECT_EQ(std::signbit(found), std::signbit(expected)) << a << " / " << b;
      }
    }
  }
}

}  // namespace
}  // namespace carom
