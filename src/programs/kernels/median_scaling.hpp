#pragma once

#include <bit>
#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Scaling by powers of two that follows most entries of a row or column, not the largest.
namespace carom::kernels {

/// e with 2^e <= |x| < 2^(e + 1).
CAROM_INLINE int exponent_of(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1023;
}
/// 2^e, e within +-1000.
CAROM_INLINE double power_of_two(int e) {
  const int exponent = e < -1000 ? -1000 : (e > 1000 ? 1000 : e);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The lower median of the exponents that each(visit) visits; 0 where there is none. Medians let
/// one huge entry pass by.
template <class Each>
CAROM_HOST_DEVICE double median_exponent(Each&& each) {
  int count = 0;
  double least = 4096.0;
  double most = -4096.0;
  each([&](double e) {
    ++count;
    least = smaller(e, least);
    most = larger(e, most);
  });
  if (count == 0) return 0.0;
  int low = static_cast<int>(least) - 1;  // values may end in a half
  int high = static_cast<int>(most) + 1;
  while (high - low > 1) {  // the median is in (low, high]
    const int middle = (low + high) / 2;
    int below = 0;
    each([&](double e) { below += e <= middle ? 1 : 0; });
    (2 * below > count - 1 ? high : low) = middle;
  }
  return high;
}

}  // namespace carom::kernels
