#pragma once

#include <carom/device/host_device.hpp>

namespace carom::cpu::simd {

/// A pack as the number of a body that is a template over numbers: with assignments such as +=, and
/// in memory a type that no pointer stands in, so that stores leave the compiler what it knows.
template <class Isa>
struct PackNumber {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  typename Isa::Doubles value;

  PackNumber() = default;
  explicit CAROM_INLINE PackNumber(double x) : value(Pack(x).value) {}
  CAROM_INLINE PackNumber(Pack x) : value(x.value) {}
  [[nodiscard]] CAROM_INLINE Pack pack() const { return Pack(value); }
  CAROM_INLINE void store_doubles(double* to) const { pack().store_doubles(to); }

  friend CAROM_INLINE PackNumber operator+(PackNumber a, PackNumber b) {
    return a.pack() + b.pack();
  }
  friend CAROM_INLINE PackNumber operator-(PackNumber a, PackNumber b) {
    return a.pack() - b.pack();
  }
  friend CAROM_INLINE PackNumber operator*(PackNumber a, PackNumber b) {
    return a.pack() * b.pack();
  }
  friend CAROM_INLINE PackNumber operator/(PackNumber a, PackNumber b) {
    return a.pack() / b.pack();
  }
  friend CAROM_INLINE PackNumber operator-(PackNumber a) { return -a.pack(); }
  friend CAROM_INLINE PackNumber fused(PackNumber a, PackNumber b, PackNumber c) {
    return fused(a.pack(), b.pack(), c.pack());
  }
  CAROM_INLINE PackNumber& operator+=(PackNumber b) { return *this = *this + b; }
  CAROM_INLINE PackNumber& operator-=(PackNumber b) { return *this = *this - b; }
  CAROM_INLINE PackNumber& operator*=(PackNumber b) { return *this = *this * b; }
  friend CAROM_INLINE Mask operator<(PackNumber a, PackNumber b) { return a.pack() < b.pack(); }
  friend CAROM_INLINE Mask operator<=(PackNumber a, PackNumber b) { return a.pack() <= b.pack(); }
  friend CAROM_INLINE Mask operator>(PackNumber a, PackNumber b) { return a.pack() > b.pack(); }
  friend CAROM_INLINE Mask operator>=(PackNumber a, PackNumber b) { return a.pack() >= b.pack(); }
  friend CAROM_INLINE Mask operator!=(PackNumber a, PackNumber b) { return a.pack() != b.pack(); }
  friend CAROM_INLINE PackNumber select(Mask mask, PackNumber a, PackNumber b) {
    return select(mask, a.pack(), b.pack());
  }
  friend CAROM_INLINE PackNumber larger(PackNumber a, PackNumber b) {
    return larger(a.pack(), b.pack());
  }
  friend CAROM_INLINE PackNumber smaller(PackNumber a, PackNumber b) {
    return smaller(a.pack(), b.pack());
  }
  friend CAROM_INLINE PackNumber square_root(PackNumber a) { return square_root(a.pack()); }
  friend CAROM_INLINE PackNumber magnitude(PackNumber a) { return magnitude(a.pack()); }
};

/// What such a body computes with: packs that are arrays are numbers already.
template <class Isa>
struct BodyNumberOf {
  using type = typename Isa::Pack;
};
template <class Isa>
requires(Isa::kInRegisters) struct BodyNumberOf<Isa> {
  using type = PackNumber<Isa>;
};
template <class Isa>
using BodyNumber = typename BodyNumberOf<Isa>::type;

}  // namespace carom::cpu::simd
