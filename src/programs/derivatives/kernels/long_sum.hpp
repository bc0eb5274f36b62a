#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::derivatives {

/// a b - product, the product being a b rounded: the bits of fused(a, b, -product).
template <class V>
CAROM_INLINE V left_of_product(V a, V b, V product) {
  using kernels::fused;
  return fused(a, b, -product);
}
#if defined(__x86_64__) && !defined(__FMA__) && !defined(__CUDA_ARCH__)
/// By Dekker (1971): without an instruction for it fused() is a call.
CAROM_INLINE double left_of_product(double a, double b, double product) {
  constexpr double kSplit = 0x1.0p27 + 1.0, kMost = 0x1.0p900, kLeast = 0x1.0p-900;
  const double size = __builtin_fabs(product);
  if (!(size < kMost && size > kLeast && __builtin_fabs(a) < kMost && __builtin_fabs(b) < kMost)) {
    return a == 0.0 || b == 0.0 ? product - product : kernels::fused(a, b, -product);
  }
  const double wide_a = kSplit * a, wide_b = kSplit * b;
  const double high_a = wide_a - (wide_a - a), high_b = wide_b - (wide_b - b);
  const double low_a = a - high_a, low_b = b - high_b;
  return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
}
#endif

/// A sum of products in about twice the precision of V, a number or a pack (Ogita, Rump and Oishi
/// 2005, Dot2).
template <class V>
class LongSum {
 public:
  CAROM_INLINE explicit LongSum(V start = V(0.0)) : high_(start), low_(V(0.0)) {}
  CAROM_INLINE void add(V term) {
    const V sum = high_ + term;
    const V part = sum - high_;
    low_ = low_ + ((high_ - (sum - part)) + (term - part));
    high_ = sum;
  }
  CAROM_INLINE void add_product(V a, V b) {
    const V product = a * b;
    low_ = low_ + left_of_product(a, b, product);
    add(product);
  }
  /// a b c.
  CAROM_INLINE void add_product_of(V a, V b, V c) {
    const V product = b * c;
    low_ = low_ + a * left_of_product(b, c, product);
    add_product(a, product);
  }
  /// Of the size of what rounding leaves.
  CAROM_INLINE void add_rest(V rest) { low_ = low_ + rest; }
  [[nodiscard]] CAROM_INLINE V value() const { return high_ + low_; }
  /// What value() leaves.
  [[nodiscard]] CAROM_INLINE V rest() const { return (high_ - value()) + low_; }

 private:
  V high_, low_;
};

}  // namespace carom::derivatives
