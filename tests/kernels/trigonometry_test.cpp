#include <carom/device/trigonometry.hpp>

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace carom::kernels {
namespace {

/// How many units of the last place apart.
double units(double value, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), 2.0) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) / unit;
}

TEST(Trigonometry, IsRightToOneUnitOfTheLastPlace) {
  std::mt19937_64 random(29);
  for (const double range : {1e-3, 0.8, 10.0, 1e4, 1e9}) {
    std::uniform_real_distribution<double> angles(-range, range);
    for (int i = 0; i < 20000; ++i) {
      double x = angles(random);
      // Beside a multiple of a quarter turn, where what is left of x is small.
      if (i % 4 == 0) x = std::nextafter(std::round(x / M_PI_2) * M_PI_2, i % 8 == 0 ? 1e300 : 0.0);
      const auto wide = static_cast<long double>(x);
      ASSERT_LE(units(sine(x), sinl(wide)), 0.85) << x;
      ASSERT_LE(units(cosine(x), cosl(wide)), 0.85) << x;
    }
  }
}

TEST(Trigonometry, KnowsItsLimits) {
  EXPECT_EQ(sine(0.0), 0.0);
  EXPECT_TRUE(std::signbit(sine(-0.0)));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(sine(1e-310), 1e-310);
  for (const double x : {1e17, -1e300, std::numeric_limits<double>::max()}) {
    EXPECT_LE(std::abs(sine(x)), 1.0);
    EXPECT_NEAR(sine(x) * sine(x) + cosine(x) * cosine(x), 1.0, 1e-15);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(sine(infinity)));
  EXPECT_TRUE(std::isnan(cosine(-infinity)));
  EXPECT_TRUE(std::isnan(sine(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace carom::kernels
