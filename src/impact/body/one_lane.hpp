#pragma once

#include <cstdint>

#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

#include "core/random.hpp"

namespace carom {

/// SingleLane for the bodies that make a table. They also ask which of many indices meet a test,
/// whose answers must not depend on what is done with other ones.
struct TableLane : kernels::SingleLane {
  /// act(i, value) in order for each i whose value = test(i), an unsigned, is not zero.
  template <class Test, class Act>
  CAROM_INLINE void each_where(int count, Test&& test, Act&& act) const {
    for (int i = 0; i < count; ++i) {
      const unsigned value = test(i);
      if (value != 0U) act(i, value);
    }
  }
  /// The first i that test(i) is true for; count where there is none.
  template <class Test>
  [[nodiscard]] CAROM_INLINE int first_where(int count, Test&& test) const {
    for (int i = 0; i < count; ++i) {
      if (test(i)) return i;
    }
    return count;
  }
};

/// A pack of one double: bodies that were written for packs, run by a thread of a device.
struct OneLane {
  static constexpr int kWidth = 1;

  struct Mask {
    bool lane;
    friend CAROM_INLINE Mask operator&(Mask a, Mask b) { return {a.lane && b.lane}; }
    friend CAROM_INLINE Mask operator!(Mask a) { return {!a.lane}; }
    friend CAROM_INLINE bool any_of(Mask a) { return a.lane; }
    [[nodiscard]] CAROM_INLINE unsigned bits() const { return lane ? 1U : 0U; }
    CAROM_INLINE static Mask from_bits(unsigned value) { return {(value & 1U) != 0U}; }
  };

  struct Pack {
    double lane;
    Pack() = default;
    CAROM_INLINE explicit Pack(double x) : lane(x) {}
    CAROM_INLINE static Pack load(const double* from) { return Pack(*from); }
    CAROM_INLINE void store(double* to) const { *to = lane; }
    friend CAROM_INLINE Pack operator+(Pack a, Pack b) { return Pack(a.lane + b.lane); }
    friend CAROM_INLINE Pack operator-(Pack a, Pack b) { return Pack(a.lane - b.lane); }
    friend CAROM_INLINE Pack operator*(Pack a, Pack b) { return Pack(a.lane * b.lane); }
    friend CAROM_INLINE Pack operator/(Pack a, Pack b) { return Pack(a.lane / b.lane); }
    friend CAROM_INLINE Pack operator-(Pack a) { return Pack(-a.lane); }
    friend CAROM_INLINE Mask operator<(Pack a, Pack b) { return {a.lane < b.lane}; }
    friend CAROM_INLINE Mask operator>(Pack a, Pack b) { return {a.lane > b.lane}; }
    friend CAROM_INLINE Mask operator>=(Pack a, Pack b) { return {a.lane >= b.lane}; }
    friend CAROM_INLINE Mask operator!=(Pack a, Pack b) { return {a.lane != b.lane}; }
    friend CAROM_INLINE Pack fused(Pack a, Pack b, Pack c) {
      return Pack(kernels::fused(a.lane, b.lane, c.lane));
    }
    friend CAROM_INLINE Pack select(Mask mask, Pack a, Pack b) { return mask.lane ? a : b; }
    friend CAROM_INLINE Pack larger(Pack a, Pack b) { return a.lane > b.lane ? a : b; }
    friend CAROM_INLINE Pack smaller(Pack a, Pack b) { return a.lane < b.lane ? a : b; }
    friend CAROM_INLINE Pack magnitude(Pack a) { return Pack(kernels::magnitude(a.lane)); }
  };

  /// Draws 2 block and 2 block + 1 of the lane's sample.
  CAROM_INLINE static void uniform_pairs(std::uint64_t seed, std::uint32_t problem,
                                         const std::uint64_t* sample, const std::uint64_t* block,
                                         Pack& first, Pack& second) {
    const UniformPair pair =
        uniform_pair(seed, problem, *sample, static_cast<std::uint32_t>(*block));
    first = Pack(pair.first);
    second = Pack(pair.second);
  }
};

}  // namespace carom
