#pragma once

#include <carom/device/host_device.hpp>

namespace carom::cpu::simd {

/// Memory of packs, or of doubles; Isa makes it a different type for each instruction set.
template <class Isa, class V>
struct IsaMemory {
  V* data;
  CAROM_INLINE V& operator[](long i) const { return data[i]; }
  friend CAROM_INLINE IsaMemory operator+(IsaMemory m, long offset) { return {m.data + offset}; }
};

/// One lane of a memory of packs.
template <class Isa, int Width>
struct IsaLaneMemory {
  double* data;
  CAROM_INLINE double& operator[](long i) const { return data[i * Width]; }
  friend CAROM_INLINE IsaLaneMemory operator+(IsaLaneMemory m, long offset) {
    return {m.data + offset * Width};
  }
};

/// The lanes of a pack, or a double with Width 1, one after another.
template <int Width, class V>
CAROM_INLINE void store_lanes(const V& value, double* to) {
  if constexpr (Width == 1) {
    *to = value;
  } else {
    value.store(to);
  }
}

}  // namespace carom::cpu::simd
