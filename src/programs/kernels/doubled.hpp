#pragma once

#include <carom/device/numeric.hpp>

/// Numbers of twice the precision: an unevaluated sum of two doubles, |lo| <= ulp(hi) / 2.
/// Algorithms and error bounds, in units of 2^-106: Joldes, Muller, Popescu, "Tight and rigorous
/// error bounds for basic building blocks of double-word arithmetic", ACM TOMS 44 (2017). An
/// overflow ends as a value that is not finite; below 1e-290 a product keeps the accuracy of one
/// double.
namespace carom::kernels {

/// V: double, or a pack of them.
template <class V>
struct DoubledOf {
  V hi = V(0.0);
  V lo = V(0.0);

  constexpr DoubledOf() = default;
  CAROM_INLINE constexpr DoubledOf(V value) : hi(value) {}  // NOLINT: a double is one
  /// The caller sees to |lo| <= ulp(hi) / 2; sum_of and product_of do.
  CAROM_INLINE constexpr DoubledOf(V high, V low) : hi(high), lo(low) {}

  /// Rounded to nearest: hi.
  CAROM_INLINE constexpr explicit operator V() const { return hi; }

  /// a + b without error (Knuth).
  static CAROM_INLINE DoubledOf sum(V a, V b) {
    const V sum = a + b;
    const V part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
  }
  /// The same for |a| >= |b| (Dekker).
  static CAROM_INLINE DoubledOf ordered_sum(V a, V b) {
    const V sum = a + b;
    return {sum, b - (sum - a)};
  }
  /// a b without error.
  static CAROM_INLINE DoubledOf product(V a, V b) {
    const V product = a * b;
    return {product, fused(a, b, -product)};
  }

  friend CAROM_INLINE DoubledOf operator-(const DoubledOf& a) { return {-a.hi, -a.lo}; }

  /// Algorithm 6, error below 3.
  friend CAROM_INLINE DoubledOf operator+(const DoubledOf& a, const DoubledOf& b) {
    const DoubledOf high = sum(a.hi, b.hi);
    const DoubledOf low = sum(a.lo, b.lo);
    const DoubledOf first = ordered_sum(high.hi, high.lo + low.hi);
    return ordered_sum(first.hi, low.lo + first.lo);
  }
  /// Algorithm 4, error below 2.
  friend CAROM_INLINE DoubledOf operator+(const DoubledOf& a, V b) {
    const DoubledOf high = sum(a.hi, b);
    return ordered_sum(high.hi, a.lo + high.lo);
  }
  friend CAROM_INLINE DoubledOf operator+(V a, const DoubledOf& b) { return b + a; }
  friend CAROM_INLINE DoubledOf operator-(const DoubledOf& a, const DoubledOf& b) {
    return a + (-b);
  }
  friend CAROM_INLINE DoubledOf operator-(const DoubledOf& a, V b) { return a + (-b); }
  friend CAROM_INLINE DoubledOf operator-(V a, const DoubledOf& b) { return (-b) + a; }

  /// Algorithm 12, error below 5.
  friend CAROM_INLINE DoubledOf operator*(const DoubledOf& a, const DoubledOf& b) {
    const DoubledOf high = product(a.hi, b.hi);
    const V cross = fused(a.lo, b.hi, fused(a.hi, b.lo, a.lo * b.lo));
    return ordered_sum(high.hi, high.lo + cross);
  }
  /// Algorithm 9, error below 2.
  friend CAROM_INLINE DoubledOf operator*(const DoubledOf& a, V b) {
    const DoubledOf high = product(a.hi, b);
    return ordered_sum(high.hi, fused(a.lo, b, high.lo));
  }
  friend CAROM_INLINE DoubledOf operator*(V a, const DoubledOf& b) { return b * a; }
};
using Doubled = DoubledOf<double>;

CAROM_INLINE Doubled sum_of(double a, double b) { return Doubled::sum(a, b); }
CAROM_INLINE Doubled ordered_sum_of(double a, double b) { return Doubled::ordered_sum(a, b); }
CAROM_INLINE Doubled product_of(double a, double b) { return Doubled::product(a, b); }

/// a b + c, two roundings.
CAROM_INLINE Doubled fused(const Doubled& a, const Doubled& b, const Doubled& c) {
  return a * b + c;
}

/// Algorithm 15, error below 3.5.
CAROM_INLINE Doubled operator/(const Doubled& a, double b) {
  const double first = a.hi / b;
  const Doubled product = product_of(first, b);
  const double rest = ((a.hi - product.hi) - product.lo) + a.lo;
  return ordered_sum_of(first, rest / b);
}
/// Algorithm 17, error below 15.
CAROM_INLINE Doubled operator/(const Doubled& a, const Doubled& b) {
  const double first = a.hi / b.hi;
  const Doubled product = b * first;
  const double rest = (a.hi - product.hi) + (a.lo - product.lo);
  return ordered_sum_of(first, rest / b.hi);
}
CAROM_INLINE Doubled operator/(double a, const Doubled& b) { return Doubled(a) / b; }

CAROM_INLINE Doubled& operator+=(Doubled& a, const Doubled& b) { return a = a + b; }
CAROM_INLINE Doubled& operator-=(Doubled& a, const Doubled& b) { return a = a - b; }
CAROM_INLINE Doubled& operator*=(Doubled& a, const Doubled& b) { return a = a * b; }
CAROM_INLINE Doubled& operator/=(Doubled& a, const Doubled& b) { return a = a / b; }

CAROM_INLINE bool operator<(const Doubled& a, const Doubled& b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}
CAROM_INLINE bool operator>(const Doubled& a, const Doubled& b) { return b < a; }
CAROM_INLINE bool operator<=(const Doubled& a, const Doubled& b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo <= b.lo);
}
CAROM_INLINE bool operator>=(const Doubled& a, const Doubled& b) { return b <= a; }
CAROM_INLINE bool operator==(const Doubled& a, const Doubled& b) {
  return a.hi == b.hi && a.lo == b.lo;
}
CAROM_INLINE bool operator!=(const Doubled& a, const Doubled& b) { return !(a == b); }

/// Of x >= 0, by one step of Newton from the root of hi.
CAROM_INLINE Doubled square_root(const Doubled& x) {
  if (!(x.hi > 0.0)) return {square_root(x.hi), 0.0};
  const double first = square_root(x.hi);
  const double rest = fused(-first, first, x.hi) + x.lo;
  return ordered_sum_of(first, rest / (2.0 * first));
}

CAROM_INLINE Doubled magnitude(const Doubled& x) { return x.hi < 0.0 ? -x : x; }
CAROM_INLINE bool is_finite(const Doubled& x) { return is_finite(x.hi) && is_finite(x.lo); }
CAROM_INLINE Doubled select(bool mask, const Doubled& a, const Doubled& b) { return mask ? a : b; }

/// x times a power of two, without error.
CAROM_INLINE Doubled times_power(const Doubled& x, double power) {
  return {x.hi * power, x.lo * power};
}

}  // namespace carom::kernels
