#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

/// Intervals with ends of 128 binary digits after the point, rounded outwards, so that an interval
/// contains every possible result. Used where those of plain_interval.hpp are too wide to decide.
namespace carom::exact {

using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    1024, 1024, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;

inline constexpr unsigned kDigits = 128;

/// x / 2^bits, down; the sign is separate from the digits, which a shift cuts.
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

class FineInterval {
 public:
  FineInterval() = default;
  /// Exactly, but for digits below the last.
  FineInterval(double value) {  // NOLINT: numbers are intervals
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
  /// Doubles that enclose it.
  [[nodiscard]] double below() const { return end(low_, -1.0); }
  [[nodiscard]] double above() const { return end(high_, 1.0); }
  [[nodiscard]] double middle() const {
    const Integer sum = low_ + high_;
    return std::ldexp(static_cast<double>(sum), -static_cast<int>(kDigits) - 1);
  }

  friend FineInterval operator-(const FineInterval& a) { return {-a.high_, -a.low_}; }
  friend FineInterval operator+(const FineInterval& a, const FineInterval& b) {
    return {a.low_ + b.low_, a.high_ + b.high_};
  }
  friend FineInterval operator-(const FineInterval& a, const FineInterval& b) {
    return {a.low_ - b.high_, a.high_ - b.low_};
  }
  friend FineInterval operator*(const FineInterval& a, const FineInterval& b) {
    if (a.low_ >= 0 && b.low_ >= 0) return outwards(a.low_ * b.low_, a.high_ * b.high_);
    if (a.high_ <= 0 && b.high_ <= 0) return outwards(a.high_ * b.high_, a.low_ * b.low_);
    if (a.low_ >= 0 && b.high_ <= 0) return outwards(a.high_ * b.low_, a.low_ * b.high_);
    if (a.high_ <= 0 && b.low_ >= 0) return outwards(a.low_ * b.high_, a.high_ * b.low_);
    const Integer p[4] = {a.low_ * b.low_, a.low_ * b.high_, a.high_ * b.low_, a.high_ * b.high_};
    return outwards(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
  }
  /// Of a divisor that does not hold 0; `valid` is turned off by one that does.
  static FineInterval quotient(const FineInterval& a, const FineInterval& b, bool& valid) {
    if (!b.positive() && !b.negative()) {
      valid = false;
      return {};
    }
    if (b.negative()) return quotient(-a, -b, valid);
    FineInterval result;
    result.low_ = floor_divide(a.low_ << kDigits, a.low_ < 0 ? b.low_ : b.high_);
    result.high_ = -floor_divide(-(a.high_ << kDigits), a.high_ < 0 ? b.high_ : b.low_);
    return result;
  }
  /// Of what is not negative.
  friend FineInterval root(const FineInterval& a) {
    const auto of = [](const Integer& x) -> Integer {
      return x > 0 ? Integer(sqrt(Integer(x << kDigits))) : Integer(0);
    };
    return {of(a.low_), of(a.high_) + 1};
  }
  /// Both halves of sine and cosine by their series, for |x| <= 2 pi.
  static void sine_cosine(double x, FineInterval& sine, FineInterval& cosine) {
    const FineInterval point(x);
    FineInterval term(1.0);
    sine = FineInterval(0.0), cosine = FineInterval(1.0);
    if (x == 0.0) return;
    bool valid = true;
    for (int n = 1; n <= 100; ++n) {
      term = quotient(term * point, FineInterval(static_cast<double>(n)), valid);
      FineInterval& sum = n % 2 == 0 ? cosine : sine;
      sum = (n / 2) % 2 == 0 ? sum + term : sum - term;
      if (n > 13 && term.low_ >= -1 && term.high_ <= 1) break;  // terms halve from n = 13 on
    }
    // what is left is less than the last term
    const Integer rest = (term.high_ > -term.low_ ? term.high_ : -term.low_) + 1;
    sine = {sine.low_ - rest, sine.high_ + rest};
    cosine = {cosine.low_ - rest, cosine.high_ + rest};
  }

 private:
  static double end(const Integer& x, double way) {
    const double near = std::ldexp(static_cast<double>(x), -static_cast<int>(kDigits));
    return near + way * (std::fabs(near) * 0x1p-50 + 0x1p-1000);
  }
  static FineInterval outwards(const Integer& low, const Integer& high) {
    return {floor_shift(low, kDigits), -floor_shift(-high, kDigits)};
  }
  FineInterval(const Integer& low, const Integer& high) : low_(low), high_(high) {}

  Integer low_ = 0, high_ = 0;
};

}  // namespace carom::exact
