#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/mechanism.hpp"

namespace carom::kernels {

/// A number and its derivatives along some directions, a lane of Slope each; Slope has +, -, * and
/// a constructor from a double. Comparisons are those of the numbers, so that a branch is
/// differentiated as it is taken.
template <class Slope>
struct alignas(sizeof(Slope)) DualNumber {
  Slope slope;  // first, so that none lies in two cache lines
  double value;

  DualNumber() = default;
  CAROM_INLINE DualNumber(double constant) : slope(0.0), value(constant) {}
  CAROM_INLINE DualNumber(double number, Slope change) : slope(change), value(number) {}

  friend CAROM_INLINE DualNumber operator-(DualNumber a) { return {-a.value, -a.slope}; }
  friend CAROM_INLINE DualNumber operator+(DualNumber a, DualNumber b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend CAROM_INLINE DualNumber operator-(DualNumber a, DualNumber b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend CAROM_INLINE DualNumber operator*(DualNumber a, DualNumber b) {
    return {a.value * b.value, Slope(a.value) * b.slope + Slope(b.value) * a.slope};
  }
  friend CAROM_INLINE DualNumber operator/(DualNumber a, DualNumber b) {
    const double quotient = a.value / b.value;
    return {quotient, Slope(1.0 / b.value) * (a.slope - Slope(quotient) * b.slope)};
  }
  CAROM_INLINE DualNumber& operator+=(DualNumber b) { return *this = *this + b; }
  CAROM_INLINE DualNumber& operator-=(DualNumber b) { return *this = *this - b; }
  CAROM_INLINE DualNumber& operator/=(DualNumber b) { return *this = *this / b; }
  friend CAROM_INLINE bool operator<(DualNumber a, DualNumber b) { return a.value < b.value; }
  friend CAROM_INLINE bool operator>(DualNumber a, DualNumber b) { return a.value > b.value; }
  friend CAROM_INLINE bool operator<=(DualNumber a, DualNumber b) { return a.value <= b.value; }
  friend CAROM_INLINE bool operator==(DualNumber a, DualNumber b) { return a.value == b.value; }

  friend CAROM_INLINE DualNumber fused(DualNumber a, DualNumber b, DualNumber c) {
    return {kernels::fused(a.value, b.value, c.value),
            Slope(a.value) * b.slope + Slope(b.value) * a.slope + c.slope};
  }
  /// NaN at zero along directions that move it.
  friend CAROM_INLINE DualNumber square_root(DualNumber a) {
    const double root = kernels::square_root(a.value);
    return {root, root > 0.0 ? Slope(0.5 / root) * a.slope : none_of(a.slope)};
  }
  friend CAROM_INLINE DualNumber sine(DualNumber a) {
    const SineCosine both = sine_cosine(a.value);
    return {both.sine, Slope(both.cosine) * a.slope};
  }
  friend CAROM_INLINE DualNumber cosine(DualNumber a) {
    const SineCosine both = sine_cosine(a.value);
    return {both.cosine, Slope(-both.sine) * a.slope};
  }
  /// Of a base above zero.
  friend CAROM_INLINE DualNumber power(DualNumber base, DualNumber exponent) {
    const double whole = kernels::power(base.value, exponent.value);
    return {whole, Slope(exponent.value * whole / base.value) * base.slope +
                       Slope(whole * std::log(base.value)) * exponent.slope};
  }
  friend CAROM_INLINE DualNumber larger(DualNumber a, DualNumber b) {
    if (a.value == b.value) return tie(a, b);
    return a.value > b.value ? a : b;
  }
  friend CAROM_INLINE DualNumber smaller(DualNumber a, DualNumber b) {
    if (a.value == b.value) return tie(a, b);
    return a.value < b.value ? a : b;
  }
  friend CAROM_INLINE double number_of(DualNumber x) { return x.value; }
  friend CAROM_INLINE int whole(DualNumber count) { return kernels::whole(count.value); }

 private:
  /// NaN where a slope is not zero.
  static CAROM_INLINE Slope none_of(Slope slope) {
    const Slope infinite = Slope(1e300) * (Slope(1e300) * slope);
    return infinite - infinite;
  }
  /// Of two equal numbers, where they part.
  static CAROM_INLINE DualNumber tie(DualNumber a, DualNumber b) {
    return {a.value, a.slope + none_of(a.slope - b.slope)};
  }
};

}  // namespace carom::kernels
