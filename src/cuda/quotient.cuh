#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include <carom/device/numeric.hpp>

namespace carom::cuda {

/// a / b, to the bit. A device divides 0 the long way, all lanes of a warp waiting: here 0 does not
/// get there.
CAROM_INLINE double quotient(double a, double b) {
  const bool vanishes =
      a == 0.0 && b != 0.0 && kernels::magnitude(b) <= std::numeric_limits<double>::max();
  const double sign = b < 0.0 ? -1.0 : 1.0;
  // A product, not a choice: from that the compiler would see that 0 may be divided after all.
  return (vanishes ? 1.0 : a) / (vanishes ? sign : b) * (vanishes ? a : 1.0);
}

/// 1 / sqrt(x) to 20 bits, for x from 2^-1000 to 2^1000.
CAROM_INLINE double rough_inverse_root(double x) {
#if defined(__CUDA_ARCH__)
  double root;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(root) : "d"(x));
  return root;
#else
  return static_cast<double>(static_cast<float>(1.0 / kernels::square_root(x)));
#endif
}

/// 1 / b to the bit, from an estimate within some units of its last place. Where b has only ones
/// an estimate of a power of two, or a step of second order, would meet a tie.
CAROM_INLINE double reciprocal_from(double estimate, double b) {
  const double odd = std::bit_cast<double>(std::bit_cast<std::uint64_t>(estimate) | 1U);
  const double missing = kernels::fused(-b, odd, 1.0);
  return kernels::fused(odd, kernels::fused(missing, missing, missing), odd);
}
/// a / b to the bit by Markstein's theorem, from 1 / b to the bit.
CAROM_INLINE double quotient_by(double reciprocal, double a, double b) {
  const double near = a * reciprocal;
  return kernels::fused(reciprocal, kernels::fused(-b, near, a), near);
}
/// Whether in such steps nothing over- or underflows, remainders included: of b (or its square) and
/// of a, which may be 0 and for a divisor far from these limits be as small as 2^-800.
CAROM_INLINE bool is_plain_divisor(double b) { return (b >= 0x1p-200) & (b <= 0x1p200); }
CAROM_INLINE bool is_plain_dividend(double a) {
  const double size = kernels::magnitude(a);
  return ((size >= 0x1p-600) | (a == 0.0)) & (size <= 0x1p600);
}

/// A length, and what a vector of it is multiplied by to end in a disk.
struct Shrink {
  double size, factor;
};

/// {sqrt(square), min(1, radius / sqrt(square))} to the bit, for radius >= 0. One estimate of the
/// inverse root begins both, and 0 is divided as any other number: half of what a root and a
/// quotient by themselves take on a device. The root's steps are those of CUDA's own.
CAROM_INLINE Shrink shrink_to(double radius, double square, double estimate) {
  using kernels::fused;
  const double missing = fused(square, -(estimate * estimate), 1.0);
  const double inverse = fused(fused(missing, 0.375, 0.5), estimate * missing, estimate);
  const double root = square * inverse;
  const double size = fused(fused(-root, root, square), 0.5 * inverse, root);
  const double divided = quotient_by(reciprocal_from(inverse, size), radius, size);
  return {size, size > radius ? divided : 1.0};
}
CAROM_INLINE Shrink shrink_to(double radius, double square) {
  // A radius that is too large is not divided.
  if (is_plain_divisor(square) & ((radius >= 0x1p-600) | (radius == 0.0))) {
    return shrink_to(radius, square, rough_inverse_root(square));
  }
  const double size = kernels::square_root(square);
  return {size, size > radius ? radius / size : 1.0};
}

}  // namespace carom::cuda
