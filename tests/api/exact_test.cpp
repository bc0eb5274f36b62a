#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stability/exact/copositive.hpp"
#include "stability/exact/interval.hpp"

namespace carom::exact {
namespace {

// Certainly within `width` of a number.
bool near(const Interval& a, double value, double width) {
  return (a - Interval(value - width)).positive() && (Interval(value + width) - a).positive();
}

TEST(Exact, IntervalsHoldWhatTheyStandFor) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(-4.0, 4.0);
  for (int trial = 0; trial < 2000; ++trial) {
    const double a = number(random), b = number(random), c = number(random);
    const Interval x(a), y(b), z(c);
    // identities that hold exactly: what is left is rounded outwards around zero
    const Interval left = (x + y) * (x - y) - (x * x - y * y);
    EXPECT_FALSE(left.positive() || left.negative());
    EXPECT_TRUE(near(left, 0.0, 1e-30));
    bool valid = true;
    const Interval back = Interval::quotient(x * z, z, valid) - x;
    EXPECT_EQ(valid, c != 0.0);
    EXPECT_FALSE(back.positive() || back.negative());
    EXPECT_TRUE(near(back, 0.0, 1e-25));
    EXPECT_TRUE(near(x * y, a * b, 1e-14));
    const Interval square = root(x * x);
    EXPECT_TRUE(near(square, std::fabs(a), 1e-14));
  }
  bool valid = true;
  Interval::quotient(Interval(1.0), Interval(1.0) - Interval(1.0), valid);
  EXPECT_FALSE(valid);
}

TEST(Exact, SineAndCosine) {
  for (double x = -6.2; x < 6.3; x += 0.37) {
    Interval sine, cosine;
    Interval::sine_cosine(x, sine, cosine);
    EXPECT_TRUE(near(sine, std::sin(x), 1e-15)) << x;
    EXPECT_TRUE(near(cosine, std::cos(x), 1e-15)) << x;
    const Interval one = sine * sine + cosine * cosine - Interval(1.0);
    EXPECT_FALSE(one.positive() || one.negative()) << x;
    EXPECT_TRUE(near(one, 0.0, 1e-30)) << x;
  }
}

Matrix matrix(std::size_t n, std::initializer_list<double> values) {
  Matrix m(n);
  std::size_t k = 0;
  for (const double value : values) m.entry[k++] = Interval(value);
  return m;
}

TEST(Exact, CopositiveMatrices) {
  EXPECT_TRUE(strictly_copositive(matrix(2, {1.0, -0.999, -0.999, 1.0})));
  EXPECT_FALSE(strictly_copositive(matrix(2, {1.0, -1.001, -1.001, 1.0})));
  EXPECT_TRUE(strictly_copositive(matrix(2, {1.0, 50.0, 50.0, 1.0})));  // not definite
  EXPECT_FALSE(strictly_copositive(matrix(2, {0.0, 1.0, 1.0, 1.0})));
  // neither definite nor positive: the sum of one of each
  EXPECT_TRUE(strictly_copositive(matrix(3, {1.01, -1.0, 3.0, -1.0, 1.01, -0.5, 3.0, -0.5, 1.01})));
  // on (1, 1, 1) it is below 0
  EXPECT_FALSE(strictly_copositive(matrix(3, {1.0, -0.6, -0.6, -0.6, 1.0, -0.6, -0.6, -0.6, 1.0})));
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  int yes = 0, no = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Matrix m(4);
    double values[4][4];
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        values[i][j] = values[j][i] = i == j ? 0.7 + 0.3 * number(random) : number(random);
        m(i, j) = m(j, i) = Interval(values[i][j]);
      }
    }
    const bool proven = strictly_copositive(m);
    (proven ? yes : no) += 1;
    double least = 1.0;
    for (int sample = 0; sample < 2000; ++sample) {
      double x[4], form = 0.0, size = 0.0;
      for (double& v : x) v = std::fabs(number(random)), size += v * v;
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) form += values[i][j] * x[i] * x[j];
      }
      least = std::min(least, form / size);
    }
    if (proven) {
      EXPECT_GT(least, 0.0) << trial;
    }
    if (least > 0.05) {
      EXPECT_TRUE(proven) << trial;
    }
  }
  EXPECT_GT(yes, 20);
  EXPECT_GT(no, 20);
}

}  // namespace
}  // namespace carom::exact
