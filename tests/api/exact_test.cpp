#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/exact/interval.hpp"
#include "stability/exact/copositive.hpp"
#include "stability/exact/plain_interval.hpp"

namespace carom::exact {
namespace {

// Certainly within `width` of a number.
bool near(const FineInterval& a, double value, double width) {
  return (a - FineInterval(value - width)).positive() &&
         (FineInterval(value + width) - a).positive();
}

TEST(Exact, IntervalsHoldWhatTheyStandFor) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(-4.0, 4.0);
  for (int trial = 0; trial < 2000; ++trial) {
    const double a = number(random), b = number(random), c = number(random);
    const FineInterval x(a), y(b), z(c);
    // identities that hold exactly: what is left is rounded outwards around zero
    const FineInterval left = (x + y) * (x - y) - (x * x - y * y);
    EXPECT_FALSE(left.positive() || left.negative());
    EXPECT_TRUE(near(left, 0.0, 1e-30));
    bool valid = true;
    const FineInterval back = FineInterval::quotient(x * z, z, valid) - x;
    EXPECT_EQ(valid, c != 0.0);
    EXPECT_FALSE(back.positive() || back.negative());
    EXPECT_TRUE(near(back, 0.0, 1e-25));
    EXPECT_TRUE(near(x * y, a * b, 1e-14));
    const FineInterval square = root(x * x);
    EXPECT_TRUE(near(square, std::fabs(a), 1e-14));
  }
  bool valid = true;
  FineInterval::quotient(FineInterval(1.0), FineInterval(1.0) - FineInterval(1.0), valid);
  EXPECT_FALSE(valid);
}

template <class Interval>
struct Signs {
  explicit Signs(const Interval& x)
      : positive(x.positive()), negative(x.negative()), above(x.at_least_zero()) {}
  bool positive, negative, above;
};

// Numbers whose signs are their rounding: intervals of doubles say what is true, or nothing.
template <class Interval>
std::vector<Signs<Interval>> close_calls(double a, double b, double c) {
  const Interval x(a), y(b), z(c);
  bool valid = true;
  std::vector<Interval> values{x * y - Interval(a * b),
                               x + y - Interval(a + b),
                               Interval::quotient(x, y, valid) - Interval(a / b),
                               root(x * x + Interval(1e-3)) - Interval(std::sqrt(a * a + 1e-3)),
                               (x + y) * z - Interval((a + b) * c),
                               x * y * z - z * y * x,
                               (x - x) * y,
                               x * y - Interval(a * b * (1.0 + 0x1p-50))};
  for (const double angle : {a, b, c}) {
    Interval sine, cosine;
    Interval::sine_cosine(angle, sine, cosine);
    values.push_back(sine - Interval(std::sin(angle)));
    values.push_back(cosine - Interval(std::cos(angle)));
  }
  std::vector<Signs<Interval>> signs;
  for (const Interval& value : values) signs.emplace_back(value);
  return signs;
}

TEST(Exact, PlainIntervalsSayNothingFalse) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(-4.0, 4.0), exponent(-12, 12);
  int said = 0;
  for (int trial = 0; trial < 400; ++trial) {
    double a = number(random), b = number(random), c = number(random);
    if (trial % 4 == 3) a = std::ldexp(1.0, static_cast<int>(exponent(random)) % 3);
    const auto plain = close_calls<PlainInterval>(a, b, c);
    const auto fine = close_calls<FineInterval>(a, b, c);
    for (std::size_t k = 0; k < plain.size(); ++k) {
      EXPECT_LE(plain[k].positive, !fine[k].negative) << k;
      EXPECT_LE(plain[k].negative, !fine[k].positive) << k;
      EXPECT_LE(plain[k].above, !fine[k].negative) << k;
      said += plain[k].positive || plain[k].negative ? 1 : 0;
    }
    EXPECT_TRUE(plain[6].above);  // (x - x) y is exactly zero
  }
  EXPECT_GT(said, 10);
  // what does not fit is the whole line
  const PlainInterval huge(1e300);
  EXPECT_FALSE((huge * huge).positive() || (huge * huge).negative());
  EXPECT_FALSE((huge * huge - huge).at_least_zero());
  EXPECT_TRUE((huge * huge * PlainInterval(0.0)).at_least_zero());
  EXPECT_FALSE(PlainInterval(std::nan("")).at_least_zero());
  bool valid = true;
  PlainInterval::quotient(huge * huge, huge, valid);
  EXPECT_TRUE(valid);
  PlainInterval::quotient(huge, huge * huge, valid);
  EXPECT_FALSE(valid);
}

TEST(Exact, SineAndCosine) {
  for (double x = -6.2; x < 6.3; x += 0.37) {
    FineInterval sine, cosine;
    FineInterval::sine_cosine(x, sine, cosine);
    EXPECT_TRUE(near(sine, std::sin(x), 1e-15)) << x;
    EXPECT_TRUE(near(cosine, std::cos(x), 1e-15)) << x;
    const FineInterval one = sine * sine + cosine * cosine - FineInterval(1.0);
    EXPECT_FALSE(one.positive() || one.negative()) << x;
    EXPECT_TRUE(near(one, 0.0, 1e-30)) << x;
  }
}

Matrix<FineInterval> matrix(std::size_t n, std::initializer_list<double> values) {
  Matrix<FineInterval> m(n);
  std::size_t k = 0;
  for (const double value : values) m.entry[k++] = FineInterval(value);
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
    Matrix<PlainInterval> m(4);
    double values[4][4];
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        values[i][j] = values[j][i] = i == j ? 0.7 + 0.3 * number(random) : number(random);
        m(i, j) = m(j, i) = PlainInterval(values[i][j]);
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
