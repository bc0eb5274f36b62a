#pragma once

#include <carom/device/host_device.hpp>

/// Sizes that a kernel may be compiled for; 0 where they are not known.
namespace carom::kernels {

/// `Known`, or the size where that is 0.
template <int Known>
CAROM_INLINE constexpr int known_or(int size) {
  if constexpr (Known > 0) {
    return Known;
  } else {
    return size;
  }
}

/// f(i) for every i < count in order; no loop is left where count is known to be at most `Most`.
template <int Most, class F>
CAROM_INLINE void each_up_to(int count, F&& f) {
  if constexpr (Most > 0) {
    CAROM_UNROLLED
    for (int i = 0; i < Most; ++i) {
      if (i < count) f(i);
    }
  } else {
    for (int i = 0; i < count; ++i) f(i);
  }
}

}  // namespace carom::kernels
