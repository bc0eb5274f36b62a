#pragma once

#include <carom/device/lanes.hpp>
#include <carom/device/packed.hpp>

namespace carom::cpu::simd {

/// Reductions over the elements of a register; an instruction set may have faster ones.
template <class Isa>
struct Joined {
  using Pack = typename Isa::Pack;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kParts = kernels::kPackPadding / kWidth;

  /// place: index of the register that each key came from.
  static __attribute__((always_inline)) kernels::ArgMin<double> first_smallest(Pack best,
                                                                               Pack place) {
    double keys[kWidth];
    double places[kWidth];
    best.store(keys);
    place.store(places);
    kernels::ArgMin<double> result{keys[0], static_cast<int>(places[0])};
    for (int l = 1; l < kWidth; ++l) {
      const bool found = places[l] >= 0.0;
      const int index = found ? static_cast<int>(places[l]) + l : -1;
      if (kernels::precedes(kernels::ArgMin<double>{keys[l], index}, result)) {
        result = {keys[l], index};
      }
    }
    return result;
  }
  /// The first `count` doubles, fewer than a register holds, then zeros.
  static __attribute__((always_inline)) Pack first_of(const double* from, int count) {
    double values[kWidth] = {};
    for (int l = 0; l < count; ++l) values[l] = from[l];
    return Pack::load(values);
  }
  static __attribute__((always_inline)) double largest(Pack values) {
    double value[kWidth];
    values.store(value);
    for (int l = 1; l < kWidth; ++l) value[0] = kernels::larger(value[l], value[0]);
    return value[0];
  }
  static __attribute__((always_inline)) double sum(const Pack* parts) {
    double s[kernels::kPackPadding];
    for (int p = 0; p < kParts; ++p) parts[p].store(s + p * kWidth);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
};

/// Single lane whose padded loops run on the registers of one instruction set.
template <class Isa>
struct PackedLane : kernels::SingleLane, Joined<Isa> {
  using Pack = typename Isa::Pack;
  static constexpr int kWidth = Isa::kWidth;
};

}  // namespace carom::cpu::simd
