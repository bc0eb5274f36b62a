#pragma once

#include <cmath>
#include <limits>

#include <carom/device/host_device.hpp>

namespace carom::kernels {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// a b + c with one rounding, on every backend: the only fused operation of the kernels.
CAROM_INLINE double fused(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return ::fma(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}
CAROM_INLINE float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return ::fmaf(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

template <class Real>
CAROM_INLINE Real magnitude(Real x) {
  return x < Real(0) ? -x : x;
}
template <class Real>
CAROM_INLINE Real at_least_zero(Real x) {
  return x > Real(0) ? x : Real(0);
}
template <class Real>
CAROM_INLINE Real larger(Real a, Real b) {
  return a > b ? a : b;
}
template <class Real>
CAROM_INLINE Real smaller(Real a, Real b) {
  return a < b ? a : b;
}

/// Correctly rounded on every backend.
CAROM_INLINE double square_root(double x) {
#if defined(__CUDA_ARCH__)
  return ::sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}

/// mask ? a : b without a branch. Bodies that also run on packs of problems (src/cpu/simd) call
/// this, fused, magnitude and larger by their plain names and find the pack's own.
CAROM_INLINE double select(bool mask, double a, double b) { return mask ? a : b; }
CAROM_INLINE bool all_of(bool mask) { return mask; }
CAROM_INLINE bool any_of(bool mask) { return mask; }
/// Index of the lowest bit set in x != 0.
CAROM_INLINE int lowest_bit(unsigned x) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(x)) - 1;
#else
  return __builtin_ctz(x);
#endif
}
/// x - floor(x), in [0, 1).
CAROM_INLINE double fraction(double x) {
#if defined(__CUDA_ARCH__)
  return x - ::floor(x);
#else
  return x - __builtin_floor(x);
#endif
}

template <class Real>
CAROM_INLINE bool is_finite(Real x) {
  return magnitude(x) <= std::numeric_limits<Real>::max();
}

}  // namespace carom::kernels

#if defined(__CUDA_ARCH__)
namespace carom::kernels {

/// As above. In a choice between what has been compared and a constant the compiler sees a maximum,
/// for which it has eight instructions instead of three: here it does not know what it chooses.
CAROM_INLINE double larger(double a, double b) {
  double chosen = a;
  asm("" : "+d"(chosen));
  return a > b ? chosen : b;
}
CAROM_INLINE double smaller(double a, double b) {
  double chosen = a;
  asm("" : "+d"(chosen));
  return a < b ? chosen : b;
}
CAROM_INLINE double at_least_zero(double x) { return larger(x, 0.0); }
CAROM_INLINE double magnitude(double x) { return ::fabs(x); }  // no instruction of its own

}  // namespace carom::kernels
#endif
