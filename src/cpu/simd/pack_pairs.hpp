#pragma once

#include "cpu/simd/pack_number.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// Two packs of an instruction set side by side, where a body's operations wait for each other and
/// its loops and branches cost as much as its arithmetic.
template <class Isa>
requires(Isa::kInRegisters) struct PairOf {
  using Half = Isa;
  static constexpr bool kInRegisters = true;
  static constexpr int kWidth = 2 * Isa::kWidth;

  struct Mask {
    typename Isa::Mask low, high;

    friend CAROM_INLINE Mask operator|(Mask a, Mask b) { return {a.low | b.low, a.high | b.high}; }
    friend CAROM_INLINE Mask operator&(Mask a, Mask b) { return {a.low & b.low, a.high & b.high}; }
    friend CAROM_INLINE Mask operator!(Mask a) { return {!a.low, !a.high}; }
    friend CAROM_INLINE bool all_of(Mask a) { return all_of(a.low & a.high); }
    friend CAROM_INLINE bool any_of(Mask a) { return any_of(a.low | a.high); }
    [[nodiscard]] CAROM_INLINE unsigned bits() const {
      return low.bits() | high.bits() << Isa::kWidth;
    }
    static CAROM_INLINE Mask from_bits(unsigned bits) {
      return {Isa::Mask::from_bits(bits & ((1U << Isa::kWidth) - 1U)),
              Isa::Mask::from_bits(bits >> Isa::kWidth)};
    }
  };

  struct Number {
    using One = PackNumber<Isa>;
    One low, high;

    Number() = default;
    explicit CAROM_INLINE Number(double x) : low(x), high(x) {}
    CAROM_INLINE Number(One a, One b) : low(a), high(b) {}
    // Copied register by register: as a block of memory it would be copied by halves of a register,
    // and the loads of whole ones wait until these have been written.
    CAROM_INLINE Number(const Number& other) : low(other.low), high(other.high) {}
    CAROM_INLINE Number& operator=(const Number& other) {
      low = other.low;
      high = other.high;
      return *this;
    }
    static CAROM_INLINE Number load(const double* from) {
      return {Isa::Pack::load(from), Isa::Pack::load(from + Isa::kWidth)};
    }
    [[nodiscard]] CAROM_INLINE Number pack() const { return *this; }
    CAROM_INLINE void store_doubles(double* to) const {
      low.store_doubles(to);
      high.store_doubles(to + Isa::kWidth);
    }

    friend CAROM_INLINE Number operator+(Number a, Number b) {
      return {a.low + b.low, a.high + b.high};
    }
    friend CAROM_INLINE Number operator-(Number a, Number b) {
      return {a.low - b.low, a.high - b.high};
    }
    friend CAROM_INLINE Number operator*(Number a, Number b) {
      return {a.low * b.low, a.high * b.high};
    }
    friend CAROM_INLINE Number operator/(Number a, Number b) {
      return {a.low / b.low, a.high / b.high};
    }
    friend CAROM_INLINE Number operator-(Number a) { return {-a.low, -a.high}; }
    friend CAROM_INLINE Number fused(Number a, Number b, Number c) {
      return {fused(a.low, b.low, c.low), fused(a.high, b.high, c.high)};
    }
    CAROM_INLINE Number& operator+=(Number b) { return *this = *this + b; }
    CAROM_INLINE Number& operator-=(Number b) { return *this = *this - b; }
    CAROM_INLINE Number& operator*=(Number b) { return *this = *this * b; }
    friend CAROM_INLINE Mask operator<(Number a, Number b) {
      return {a.low < b.low, a.high < b.high};
    }
    friend CAROM_INLINE Mask operator<=(Number a, Number b) {
      return {a.low <= b.low, a.high <= b.high};
    }
    friend CAROM_INLINE Mask operator>(Number a, Number b) {
      return {a.low > b.low, a.high > b.high};
    }
    friend CAROM_INLINE Mask operator>=(Number a, Number b) {
      return {a.low >= b.low, a.high >= b.high};
    }
    friend CAROM_INLINE Mask operator!=(Number a, Number b) {
      return {a.low != b.low, a.high != b.high};
    }
    friend CAROM_INLINE Number select(Mask mask, Number a, Number b) {
      return {select(mask.low, a.low, b.low), select(mask.high, a.high, b.high)};
    }
    friend CAROM_INLINE Number larger(Number a, Number b) {
      return {larger(a.low, b.low), larger(a.high, b.high)};
    }
    friend CAROM_INLINE Number smaller(Number a, Number b) {
      return {smaller(a.low, b.low), smaller(a.high, b.high)};
    }
    friend CAROM_INLINE Number square_root(Number a) {
      return {square_root(a.low), square_root(a.high)};
    }
    friend CAROM_INLINE Number magnitude(Number a) { return {magnitude(a.low), magnitude(a.high)}; }
  };
  using Pack = Number;
};
template <class Isa>
struct BodyNumberOf<PairOf<Isa>> {
  using type = typename PairOf<Isa>::Number;
};

/// The instruction set itself of a pair of its packs.
template <class Isa>
struct SingleOf {
  using type = Isa;
};
template <class Isa>
struct SingleOf<PairOf<Isa>> {
  using type = Isa;
};

/// spread and collect of packs or pairs of them.
template <class Isa>
CAROM_INLINE void spread_lanes(const double* const* from, int count, double* to) {
  constexpr int kPack = SingleOf<Isa>::type::kWidth;
  for (int first = 0; first < Isa::kWidth; first += kPack) {
    spread<kPack, Isa::kWidth>(from + first, count, to + first);
  }
}
template <class Isa>
CAROM_INLINE void collect_lanes(const double* from, int count, int lanes, double* const* to) {
  using Single = typename SingleOf<Isa>::type;
  constexpr int kPack = Single::kWidth;
  for (int first = 0; first < lanes; first += kPack) {
    const int here = lanes - first < kPack ? lanes - first : kPack;
    if constexpr (kPack == 8) {  // transposes by itself
      collect<kPack, Isa::kWidth>(from + first, count, here, to + first);
    } else {
      int e = 0;
      for (; e + kPack <= count; e += kPack) {
        typename Single::Pack row[kPack], column[kPack];
        for (int k = 0; k < kPack; ++k) {
          row[k] = Single::Pack::load(from + first + static_cast<long>(e + k) * Isa::kWidth);
        }
        transpose_packs<kPack>(row, column);
        for (int lane = 0; lane < here; ++lane) column[lane].store(to[first + lane] + e);
      }
      for (; e < count; ++e) {
        for (int lane = 0; lane < here; ++lane) {
          to[first + lane][e] = from[first + lane + static_cast<long>(e) * Isa::kWidth];
        }
      }
    }
  }
}

}  // namespace carom::cpu::simd
