#pragma once

#include <carom/device/host_device.hpp>

/// Memory of one problem in one piece, or interleaved with its neighbours'.
namespace carom::kernels {

/// Values of one problem one after another. V: double, or a pack of doubles, one per problem.
template <class V>
struct PlainMemory {
  V* data;
  CAROM_INLINE V& operator[](long i) const { return data[i]; }
  friend CAROM_INLINE PlainMemory operator+(PlainMemory m, long offset) {
    return {m.data + offset};
  }
};

/// Values of one problem `stride` apart: neighbouring threads read neighbouring addresses.
template <class V>
struct InterleavedMemory {
  V* data;
  long stride;
  CAROM_INLINE V& operator[](long i) const { return data[i * stride]; }
  friend CAROM_INLINE InterleavedMemory operator+(InterleavedMemory m, long offset) {
    return {m.data + offset * m.stride, m.stride};
  }
};

}  // namespace carom::kernels
