#pragma once

#include <limits>

#include <carom/device/numeric.hpp>

namespace carom::cuda {

/// a / b, to the bit. A device divides 0 the long way, all lanes of a warp waiting: here 0 does not
/// get there.
CAROM_INLINE double quotient(double a, double b) {
  const bool vanishes =
      a == 0.0 && b != 0.0 && kernels::magnitude(b) <= std::numeric_limits<double>::max();
  const double sign = b < 0.0 ? -1.0 : 1.0;
  // A product, not a choice: from that the compiler would see that 0 may be divided after all.
  return (vanishes ? 1.0 : a) / (vanishes ? sign : b) * (vanishes ? a : 1.0);
}

}  // namespace carom::cuda
