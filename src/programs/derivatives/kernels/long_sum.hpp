#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::derivatives {

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
    using kernels::fused;
    const V product = a * b;
    low_ = low_ + fused(a, b, -product);
    add(product);
  }
  /// a b c.
  CAROM_INLINE void add_product_of(V a, V b, V c) {
    using kernels::fused;
    const V product = b * c;
    low_ = low_ + a * fused(b, c, -product);
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
