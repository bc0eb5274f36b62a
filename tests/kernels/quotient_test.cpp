#include "cuda/quotient.cuh"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace carom {
namespace {

/// Numbers between powers of two, those beside powers of two among them.
class RandomNumbers {
 public:
  explicit RandomNumbers(int most_exponent) : exponent_(-most_exponent, most_exponent) {}

  double next() {
    const double scale = std::ldexp(1.0, exponent_(random_));
    switch (turn_++ % 8) {
      case 0:
        return scale;
      case 1:
        return std::nextafter(scale, 0.0);  // ones alone
      case 2:
        return std::nextafter(scale, 2.0 * scale);
      default:
        return scale * mantissa_(random_);
    }
  }
  /// From -limit to limit.
  double error(double limit) { return limit * (2.0 * mantissa_(random_) - 3.0); }

 private:
  std::mt19937_64 random_{7};
  std::uniform_int_distribution<int> exponent_;
  std::uniform_real_distribution<double> mantissa_{1.0, 2.0};
  int turn_ = 0;
};

constexpr int kTurns = 200'000;

TEST(Quotient, RootAndShareOfADiskAreRoundedOnce) {
  RandomNumbers numbers(190);
  for (int turn = 0; turn < kTurns; ++turn) {
    const double radius = turn % 5 == 0 ? 0.0 : numbers.next();
    // Near the radius, where its share is, or anywhere; squares of ones alone too.
    const double near = turn % 3 == 0 ? numbers.next() : std::ldexp(numbers.next(), 0);
    const double length =
        turn % 2 == 0 && radius > 0.0 ? radius * (1.0 + numbers.error(0.5)) : near;
    const double square = turn % 7 == 0 ? numbers.next() : length * length;
    if (!cuda::is_plain_divisor(square)) continue;
    const double size = std::sqrt(square);
    const double factor = size > radius ? radius / size : 1.0;
    // What a device's estimate may be off by.
    const double estimate = 1.0 / size * (1.0 + numbers.error(0x1p-19));
    const cuda::Shrink found = cuda::shrink_to(radius, square, estimate);
    ASSERT_EQ(found.size, size) << square;
    ASSERT_EQ(found.factor, factor) << radius << ' ' << square;
  }
}

TEST(Quotient, ShareOfADiskIsRightWhereStepsWouldOverflow) {
  for (const double square : {0.0, 5e-324, 1e-300, 1e-61, 1.0, 1e61, 1e300, HUGE_VAL}) {
    for (const double radius : {0.0, 5e-324, 1e-300, 1e-150, 1.0, 1e150}) {
      const double size = std::sqrt(square);
      const cuda::Shrink found = cuda::shrink_to(radius, square);
      EXPECT_EQ(found.size, size);
      EXPECT_EQ(found.factor, size > radius ? radius / size : 1.0) << radius << ' ' << square;
    }
  }
}

TEST(Quotient, ReciprocalsAreRoundedOnceFromNearbyEstimates) {
  RandomNumbers numbers(190);
  for (int turn = 0; turn < kTurns; ++turn) {
    const double b = numbers.next();
    double estimate = 1.0 / b;
    for (int step = turn % 5 - 2; step != 0; step += step < 0 ? 1 : -1) {
      estimate = std::nextafter(estimate, step < 0 ? 0.0 : HUGE_VAL);
    }
    ASSERT_EQ(cuda::reciprocal_from(estimate, b), 1.0 / b) << b;
  }
}

TEST(Quotient, QuotientsAreRoundedOnce) {
  RandomNumbers numbers(190);
  for (int turn = 0; turn < kTurns; ++turn) {
    const double b = numbers.next();
    const double size = turn % 9 == 0 ? 0.0 : numbers.next();
    const double a = turn % 2 == 0 ? size : -size;
    ASSERT_TRUE(cuda::is_plain_divisor(b) && cuda::is_plain_dividend(a));
    ASSERT_EQ(cuda::quotient_by(1.0 / b, a, b), a / b) << a << ' ' << b;
  }
  for (const double a : {5e-324, 1e-300, 1e300, HUGE_VAL, std::nan("")}) {
    EXPECT_FALSE(cuda::is_plain_dividend(a));
    EXPECT_FALSE(cuda::is_plain_divisor(a));
  }
}

}  // namespace
}  // namespace carom
