#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "enclosure/common_divisor.hpp"

namespace carom::enclosure {
namespace {

class Numbers {
 public:
  // Up to `bits` bits, of all lengths.
  Integer draw(unsigned bits) {
    const unsigned length = 1 + static_cast<unsigned>(random_() % bits);
    Integer x = 1;
    for (unsigned i = 0; i < length; i += 32) x = (x << 32) + (random_() & 0xffffffffU);
    x >>= msb(x) + 1 > length ? static_cast<unsigned>(msb(x) + 1 - length) : 0U;
    return random_() % 2 == 0 ? x : Integer(-x);
  }

 private:
  std::mt19937_64 random_{7};
};

// Boost's algorithm, bit by bit, is another one.
TEST(CommonDivisor, IsThatOfTheLibrary) {
  Numbers numbers;
  for (int trial = 0; trial < 20000; ++trial) {
    const Integer shared = numbers.draw(trial % 5 == 0 ? 900 : 300);
    const Integer x = shared * numbers.draw(400),
                  y = shared * numbers.draw(trial % 3 == 0 ? 40 : 400);
    ASSERT_EQ(common_divisor(x, y), gcd(x, y)) << x << ' ' << y;
  }
}

TEST(CommonDivisor, OfZeroEqualsMultiplesAndNeighbours) {
  const Integer big = (Integer(1) << 700) - 1;
  EXPECT_EQ(common_divisor(0, 0), 0);
  EXPECT_EQ(common_divisor(0, big), big);
  EXPECT_EQ(common_divisor(-big, 0), big);
  EXPECT_EQ(common_divisor(big, big), big);
  EXPECT_EQ(common_divisor(big, big * big), big);
  EXPECT_EQ(common_divisor(big, big - 1), 1);
  EXPECT_EQ(common_divisor(1, big), 1);
  Integer a = 1, b = 1;  // neighbours of Fibonacci's: all quotients are 1
  for (int i = 0; i < 1400; ++i) {
    a += b;
    swap(a, b);
  }
  EXPECT_EQ(common_divisor(a, b), 1);
  EXPECT_EQ(common_divisor(6 * a, 10 * b), gcd(Integer(6 * a), Integer(10 * b)));
}

}  // namespace
}  // namespace carom::enclosure
