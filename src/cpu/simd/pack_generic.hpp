#pragma once

#include <cstdint>
#include <string_view>

#include <carom/device/numeric.hpp>

#include "core/random.hpp"

namespace carom::cpu::simd {

/// Four doubles and their masks in plain loops: the pack of machines without AVX2. The other packs
/// have the same members and friends.
struct Generic {
  static constexpr std::string_view kName = "generic";
  static constexpr bool kInRegisters = false;
  static constexpr int kWidth = 4;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  static constexpr bool kPacksPay = true;
#else
  static constexpr bool kPacksPay = false;  // each multiply-add is a call
#endif

  struct Mask {
    bool lane[kWidth];
    friend Mask operator|(Mask a, Mask b) {
      for (int i = 0; i < kWidth; ++i) a.lane[i] = a.lane[i] || b.lane[i];
      return a;
    }
    friend Mask operator&(Mask a, Mask b) {
      for (int i = 0; i < kWidth; ++i) a.lane[i] = a.lane[i] && b.lane[i];
      return a;
    }
    friend Mask operator!(Mask a) {
      for (int i = 0; i < kWidth; ++i) a.lane[i] = !a.lane[i];
      return a;
    }
    friend bool all_of(Mask a) {
      bool all = true;
      for (int i = 0; i < kWidth; ++i) all = all && a.lane[i];
      return all;
    }
    friend bool any_of(Mask a) {
      bool any = false;
      for (int i = 0; i < kWidth; ++i) any = any || a.lane[i];
      return any;
    }
    [[nodiscard]] unsigned bits() const {
      unsigned value = 0;
      for (int i = 0; i < kWidth; ++i) value |= static_cast<unsigned>(lane[i]) << i;
      return value;
    }
    static Mask from_bits(unsigned value) {
      Mask mask{};
      for (int i = 0; i < kWidth; ++i) mask.lane[i] = ((value >> i) & 1U) != 0U;
      return mask;
    }
  };

  struct Pack {
    double lane[kWidth];
    Pack() = default;
    explicit Pack(double x) {
      for (double& value : lane) value = x;
    }
    static Pack load(const double* from) {
      Pack pack;
      for (int i = 0; i < kWidth; ++i) pack.lane[i] = from[i];
      return pack;
    }
    void store(double* to) const {
      for (int i = 0; i < kWidth; ++i) to[i] = lane[i];
    }
    void store_doubles(double* to) const { store(to); }
    template <class F>
    static Pack map(F&& f) {
      Pack pack;
      for (int i = 0; i < kWidth; ++i) pack.lane[i] = f(i);
      return pack;
    }
    template <class F>
    static Mask test(F&& f) {
      Mask mask;
      for (int i = 0; i < kWidth; ++i) mask.lane[i] = f(i);
      return mask;
    }
    friend Pack operator+(Pack a, Pack b) {
      return map([&](int i) { return a.lane[i] + b.lane[i]; });
    }
    friend Pack operator-(Pack a, Pack b) {
      return map([&](int i) { return a.lane[i] - b.lane[i]; });
    }
    friend Pack operator*(Pack a, Pack b) {
      return map([&](int i) { return a.lane[i] * b.lane[i]; });
    }
    friend Pack operator/(Pack a, Pack b) {
      return map([&](int i) { return a.lane[i] / b.lane[i]; });
    }
    friend Pack operator-(Pack a) {
      return map([&](int i) { return -a.lane[i]; });
    }
    friend Mask operator<(Pack a, Pack b) {
      return test([&](int i) { return a.lane[i] < b.lane[i]; });
    }
    friend Mask operator<=(Pack a, Pack b) {
      return test([&](int i) { return a.lane[i] <= b.lane[i]; });
    }
    friend Mask operator>(Pack a, Pack b) { return b < a; }
    friend Mask operator>=(Pack a, Pack b) { return b <= a; }
    friend Mask operator!=(Pack a, Pack b) {
      return test([&](int i) { return a.lane[i] != b.lane[i]; });
    }
    friend Pack fused(Pack a, Pack b, Pack c) {
      return map([&](int i) { return kernels::fused(a.lane[i], b.lane[i], c.lane[i]); });
    }
    friend Pack select(Mask mask, Pack a, Pack b) {
      return map([&](int i) { return mask.lane[i] ? a.lane[i] : b.lane[i]; });
    }
    friend Pack larger(Pack a, Pack b) { return select(a > b, a, b); }
    friend Pack smaller(Pack a, Pack b) { return select(a < b, a, b); }
    friend Pack fraction(Pack a) {
      return map([&](int i) { return kernels::fraction(a.lane[i]); });
    }
    friend Pack rounded_down(Pack a) {
      return map([&](int i) { return __builtin_floor(a.lane[i]); });
    }
    friend Pack square_root(Pack a) {
      return map([&](int i) { return kernels::square_root(a.lane[i]); });
    }
    friend Pack magnitude(Pack a) {
      return map([&](int i) { return kernels::magnitude(a.lane[i]); });
    }
    /// Of each lane: a lane of one pack, or kWidth + a lane of another.
    struct Places {
      const std::int64_t* from;
      explicit Places(const std::int64_t* places) : from(places) {}
    };
    friend Pack taken(Pack a, Pack b, Places places) {
      return map([&](int i) {
        const std::int64_t place = places.from[i];
        return place < kWidth ? a.lane[place] : b.lane[place - kWidth];
      });
    }
  };

  /// Unsigned numbers of 32 bits.
  struct Words {
    std::uint32_t lane[kWidth];
    Words() = default;
    /// Of whole numbers from 0 to 2^32 - 1.
    explicit Words(Pack whole) {
      for (int i = 0; i < kWidth; ++i) lane[i] = static_cast<std::uint32_t>(whole.lane[i]);
    }
    template <class F>
    static Words map(F&& f) {
      Words words;
      for (int i = 0; i < kWidth; ++i) words.lane[i] = f(i);
      return words;
    }
    friend Words operator^(Words a, Words b) {
      return map([&](int i) { return a.lane[i] ^ b.lane[i]; });
    }
    friend Words operator*(Words a, std::uint32_t factor) {
      return map([&](int i) { return a.lane[i] * factor; });
    }
    friend Words operator>>(Words a, unsigned places) {
      return map([&](int i) { return a.lane[i] >> places; });
    }
    [[nodiscard]] Pack number() const {
      return Pack::map([&](int i) { return static_cast<double>(lane[i]); });
    }
  };

  /// Draws 2 block and 2 block + 1 of each lane's sample.
  static void uniform_pairs(std::uint64_t seed, std::uint32_t problem, const std::uint64_t* sample,
                            const std::uint64_t* block, Pack& first, Pack& second) {
    for (int i = 0; i < kWidth; ++i) {
      const UniformPair pair =
          uniform_pair(seed, problem, sample[i], static_cast<std::uint32_t>(block[i]));
      first.lane[i] = pair.first;
      second.lane[i] = pair.second;
    }
  }
  static void uniform_pairs(std::uint64_t seed, std::uint32_t problem, const std::uint64_t* sample,
                            Words block, Pack& first, Pack& second) {
    std::uint64_t wide[kWidth];
    for (int i = 0; i < kWidth; ++i) wide[i] = block.lane[i];
    uniform_pairs(seed, problem, sample, wide, first, second);
  }
};

}  // namespace carom::cpu::simd
