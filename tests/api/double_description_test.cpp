#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "enclosure/double_description.hpp"
#include "enclosure/sums.hpp"

namespace carom::enclosure {
namespace {

class Draws {
 public:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  /// Up to `bits` bits, of all lengths; zero now and then.
  Integer draw(unsigned bits) {
    if (below(6) == 0) return Integer(0);
    Integer x = 1;
    const auto length = static_cast<unsigned>(below(bits));
    for (unsigned i = 0; i < length; i += 64) x = (x << 64) + random_();
    x >>= length > 0 ? 64 - (length - 1) % 64 : 0U;
    return below(2) == 0 ? x : Integer(-x);
  }
  Vector vector(std::size_t size, unsigned bits) {
    Vector v(size);
    for (Integer& x : v) x = draw(bits);
    return v;
  }

 private:
  std::mt19937_64 random_{11};
};

Integer plain_dot(const Vector& a, const Vector& b) {
  Integer sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Vector plainly_primitive(Vector v) {
  Integer divisor = 0;
  for (const Integer& x : v) divisor = gcd(divisor, x);
  if (divisor == 0) return v;
  for (Integer& x : v) x /= divisor;
  return v;
}

// Sums by words and in doubles against Boost's operators, also beyond the sizes that have memory of
// their own.
TEST(DoubleDescription, SumsAreThoseOfTheLibrary) {
  Draws numbers;
  int unreduced = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::size_t size = 1 + numbers.below(trial % 50 == 0 ? 20 : 6);
    // 9,000 and 20,000: beyond what is multiplied, or divided, in words.
    const unsigned most = trial % 400 == 0 ? 20'000 : (trial % 100 == 0 ? 9'000 : 3'000);
    const unsigned bits = trial % 20 == 0 ? most : (trial % 2 == 0 ? 60 : 400);
    const Vector x = numbers.vector(size, bits), y = numbers.vector(size, bits);
    const Integer a = numbers.draw(bits), b = numbers.draw(bits);
    ASSERT_EQ(dot(x, y), plain_dot(x, y));
    ASSERT_EQ(sign_of_dot(x, Rough(x), y, Rough(y)), plain_dot(x, y).sign());
    Vector sum(size);
    for (std::size_t i = 0; i < size; ++i) sum[i] = a * x[i] - b * y[i];
    Vector made;
    const auto words = static_cast<int>(numbers.below(20));
    if (combine(a, x, b, y, words, made)) {
      ASSERT_EQ(made, plainly_primitive(sum));
    } else {
      ASSERT_EQ(made, sum);
      ++unreduced;
    }
    make_primitive(sum);
    ASSERT_EQ(sum, plainly_primitive(sum));
  }
  EXPECT_GT(unreduced, 1000);
}

// Products that cancel but for the last digit of numbers of any length.
TEST(DoubleDescription, SignsAreTrueWhereDoublesTellNothing) {
  Draws numbers;
  int exact = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const unsigned bits = trial % 10 == 0 ? 2500 : 300;
    const Integer a = numbers.draw(bits), b = numbers.draw(bits);
    for (const int rest : {-1, 0, 1}) {
      const Vector x{a, b, Integer(1)}, y{b, Integer(-a), Integer(rest)};
      const Rough rough_x(x), rough_y(y);
      exact += Rough::sign(rough_x, rough_y) == 0 ? 1 : 0;
      ASSERT_EQ(sign_of_dot(x, rough_x, y, rough_y), rest) << a << ' ' << b;
    }
  }
  EXPECT_GT(exact, 4000);
}

std::vector<Vector> sorted(std::vector<Vector> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

// A cone's rows and its cut from one pass, against two passes; points in common planes, repeated
// ones and ones within, cones with lines.
TEST(DoubleDescription, AHullIsCutAsFromItsRows) {
  Draws numbers;
  int with_lines = 0, cut = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const std::size_t n = 2 + numbers.below(4), count = 1 + numbers.below(8);
    std::vector<Vector> points, sides;
    for (std::size_t i = 0; i < count; ++i) {
      Vector point(n);
      for (std::size_t k = 0; k < n; ++k) {
        point[k] = static_cast<int>(numbers.below(7)) - (trial % 4 == 0 || k > 0 ? 3 : 0);
      }
      make_primitive(point);
      points.push_back(std::move(point));
    }
    for (std::size_t i = 0; i < 1 + numbers.below(3); ++i) sides.push_back(numbers.vector(n, 3));
    // Some of the points are those that other hulls have as well.
    const auto shared = static_cast<std::ptrdiff_t>(numbers.below(static_cast<int>(count)));
    const HullBase base(n, {points.begin(), points.begin() + shared});
    std::vector<Measured> more, measured_sides;
    for (auto at = points.begin() + shared; at != points.end(); ++at) more.emplace_back(*at);
    for (const Vector& side : sides) measured_sides.emplace_back(side);
    std::vector<const Measured*> added;
    for (const Measured& point : more) added.push_back(&point);
    const Hull both = base.with(added, measured_sides);
    EXPECT_EQ(base.with(added, measured_sides).rows, both.rows);  // it stays as it was
    std::vector<Vector> cut_rays;
    for (const CutRay& ray : both.cut) {
      cut_rays.push_back(ray.point != nullptr ? ray.point->exact : ray.vector);
    }
    const Generators dual = generators(n, {}, points);
    EXPECT_EQ(both.equations, dual.lines);
    EXPECT_EQ(sorted(both.rows), sorted(dual.rays));
    std::vector<Vector> rows = dual.rays;
    rows.insert(rows.end(), sides.begin(), sides.end());
    const Generators expected = generators(n, dual.lines, rows);
    with_lines += expected.lines.empty() ? 0 : 1;
    cut += expected.rays.size() != count ? 1 : 0;
    if (expected.lines.empty()) {
      EXPECT_EQ(sorted(cut_rays), sorted(expected.rays)) << trial;
    }
  }
  EXPECT_GT(with_lines, 20);
  EXPECT_GT(cut, 500);
}

TEST(RecycledBlocks, AreGivenAgainUpToTheirNumber) {
  RecycledBlocks<Integer> blocks;
  void* const first = blocks.take(5);
  void* const other = blocks.take(4);
  blocks.give(first, 5);
  void* const third = blocks.take(4);
  EXPECT_NE(third, first);
  EXPECT_EQ(blocks.take(5), first);
  std::vector<void*> all = {first};
  for (std::size_t i = 0; i < 2 * blocks.kMostBlocks; ++i) all.push_back(blocks.take(5));
  for (void* block : all) blocks.give(block, 5);  // none is lost: sanitizers count them
  blocks.give(third, 4);
  blocks.give(other, 4);
  EXPECT_EQ(blocks.take(4), other);  // the last one first
  blocks.give(other, 4);
}

}  // namespace
}  // namespace carom::enclosure
