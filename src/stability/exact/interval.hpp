#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

/// Intervals with ends of 128 binary digits after the point, rounded outwards: what is said of one
/// is true of every number in it.
namespace carom::exact {

using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    1024, 1024, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;

inline constexpr unsigned kDigits = 128;

/// x / 2^bits, down; the sign stands beside the digits, which a shift cuts.
inline Integer floor_shift(const Integer& x, unsigned bits) {
  if (x >= 0) return x >> bits;
  Integer size = (Integer(1) << bits) - 1;
  size -= x;
  size >>= bits;
  return -size;
}
inline Integer floor_divide(const Integer& a, const Integer& b) {
  Integer quotient, rest;
  boost::multiprecision::divide_qr(a, b, quotient, rest);
  if (rest != 0 && ((rest < 0) != (b < 0))) --quotient;
  return quotient;
}

class Interval {
 public:
  Interval() = default;
  /// Exactly, but for digits below the last.
  Interval(double value) {  // NOLINT: numbers are intervals
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const Integer mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    const int shift = exponent - 53 + static_cast<int>(kDigits);
    if (shift >= 0) {
      low_ = high_ = mantissa << static_cast<unsigned>(shift);
    } else {
      low_ = floor_shift(mantissa, static_cast<unsigned>(-shift));
      high_ = -floor_shift(-mantissa, static_cast<unsigned>(-shift));
    }
  }

  [[nodiscard]] bool positive() const { return low_ > 0; }
  [[nodiscard]] bool negative() const { return high_ < 0; }
  [[nodiscard]] bool at_least_zero() const { return low_ >= 0; }
  [[nodiscard]] bool at_most_zero() const { return high_ <= 0; }
  [[nodiscard]] double middle() const {
    const Integer sum = low_ + high_;
    return std::ldexp(static_cast<double>(sum), -static_cast<int>(kDigits) - 1);
  }

  friend Interval operator-(const Interval& a) { return {-a.high_, -a.low_}; }
  friend Interval operator+(const Interval& a, const Interval& b) {
    return {a.low_ + b.low_, a.high_ + b.high_};
  }
  friend Interval operator-(const Interval& a, const Interval& b) {
    return {a.low_ - b.high_, a.high_ - b.low_};
  }
  friend Interval operator*(const Interval& a, const Interval& b) {
    if (a.low_ >= 0 && b.low_ >= 0) return outwards(a.low_ * b.low_, a.high_ * b.high_);
    if (a.high_ <= 0 && b.high_ <= 0) return outwards(a.high_ * b.high_, a.low_ * b.low_);
    if (a.low_ >= 0 && b.high_ <= 0) return outwards(a.high_ * b.low_, a.low_ * b.high_);
    if (a.high_ <= 0 && b.low_ >= 0) return outwards(a.low_ * b.high_, a.high_ * b.low_);
    const Integer p[4] = {a.low_ * b.low_, a.low_ * b.high_, a.high_ * b.low_, a.high_ * b.high_};
    return outwards(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
  }
  /// Of a divisor that does not hold 0; `valid` is turned off by one that does.
  static Interval quotient(const Interval& a, const Interval& b, bool& valid) {
    if (!b.positive() && !b.negative()) {
      valid = false;
      return {};
    }
    if (b.negative()) return quotient(-a, -b, valid);
    Interval result;
    result.low_ = floor_divide(a.low_ << kDigits, a.low_ < 0 ? b.low_ : b.high_);
    result.high_ = -floor_divide(-(a.high_ << kDigits), a.high_ < 0 ? b.high_ : b.low_);
    return result;
  }
  /// Of what is not negative.
  friend Interval root(const Interval& a) {
    const auto of = [](const Integer& x) -> Integer {
      return x > 0 ? Integer(sqrt(Integer(x << kDigits))) : Integer(0);
    };
    return {of(a.low_), of(a.high_) + 1};
  }
  /// Both halves of sine and cosine by their series, for |x| <= 2 pi.
  static void sine_cosine(double x, Interval& sine, Interval& cosine) {
    const Interval point(x);
    Interval term(1.0);
    sine = Interval(0.0), cosine = Interval(1.0);
    if (x == 0.0) return;
    bool valid = true;
    for (int n = 1; n <= 100; ++n) {
      term = quotient(term * point, Interval(static_cast<double>(n)), valid);
      Interval& sum = n % 2 == 0 ? cosine : sine;
      sum = (n / 2) % 2 == 0 ? sum + term : sum - term;
      if (n > 13 && term.low_ >= -1 && term.high_ <= 1) break;  // terms halve from n = 13 on
    }
    // what is left is less than the last term
    const Integer rest = (term.high_ > -term.low_ ? term.high_ : -term.low_) + 1;
    sine = {sine.low_ - rest, sine.high_ + rest};
    cosine = {cosine.low_ - rest, cosine.high_ + rest};
  }

 private:
  static Interval outwards(const Integer& low, const Integer& high) {
    return {floor_shift(low, kDigits), -floor_shift(-high, kDigits)};
  }
  Interval(const Integer& low, const Integer& high) : low_(low), high_(high) {}

  Integer low_ = 0, high_ = 0;
};

}  // namespace carom::exact
