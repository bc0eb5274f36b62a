#pragma once

#include <bit>
#include <cstdint>

#include <carom/certificate_lp.hpp>
#include <carom/kernels/host_device.hpp>
#include <carom/kernels/numeric.hpp>
#include <carom/kernels/packed.hpp>

namespace carom::kernels {

/// The power of two in (x/2, x], within 2^-200..2^200; 1 for x = 0.
CAROM_INLINE double power_of_two_below(double x) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000ULL;
  const double power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & kExponent);
  const double least = x > 0.0 ? 0x1p-200 : 1.0;
  return power > least ? (power < 0x1p200 ? power : 0x1p200) : least;
}
/// 1 / x of a power of two within the range above.
CAROM_INLINE double inverse_power_of_two(double x) {
  return std::bit_cast<double>(0x7fe0000000000000ULL - std::bit_cast<std::uint64_t>(x));
}

/// Brings the largest entry of every row and then of every column into [1, 2). Largest entries, not
/// means: what rounding left in place of a zero must not count.
template <class Lanes>
class SimplexScaling {
 public:
  /// matrix: [m, np] out, padded with zeros; scale: [np + mp] out, columns, then rows.
  CAROM_HOST_DEVICE SimplexScaling(const Lanes& lanes, int rows, int columns, double* matrix,
                                   double* scale)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        np_(padded(columns, kPackPadding)),
        matrix_(matrix),
        scale_(scale) {}

  CAROM_HOST_DEVICE void load(const certificate::LpData& lp) const {
    lanes_.for_each_2d(m_, np_, [&](int i, int j) {
      at(i, j) = j < n_ ? lp.matrix[static_cast<long>(i) * n_ + j] : 0.0;
    });
    lanes_.for_each(padded(m_, kPackPadding), [&](int i) {
      double most[kPackPadding] = {};
      for (int j = 0; i < m_ && j < np_; j += kPackPadding) {
        for (int l = 0; l < kPackPadding; ++l) most[l] = larger(magnitude(at(i, j + l)), most[l]);
      }
      for (int l = 1; l < kPackPadding; ++l) most[0] = larger(most[l], most[0]);
      scale_[np_ + i] = inverse_power_of_two(power_of_two_below(most[0]));
    });
    each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      V most(0.0);
      for (int i = 0; i < m_; ++i) {
        const V entry = kernels::load<V>(&at(i, j)) * V(scale_[np_ + i]);
        store(&at(i, j), entry);
        most = larger(magnitude(entry), most);
      }
      store(scale_ + j, most);
    });
    lanes_.for_each(
        np_, [&](int j) { scale_[j] = inverse_power_of_two(power_of_two_below(scale_[j])); });
    each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V factor = kernels::load<V>(scale_ + j);
      for (int i = 0; i < m_; ++i) store(&at(i, j), kernels::load<V>(&at(i, j)) * factor);
    });
  }

 private:
  CAROM_INLINE double& at(int i, int j) const { return matrix_[static_cast<long>(i) * np_ + j]; }

  const Lanes& lanes_;
  int m_, n_, np_;
  double* matrix_;
  double* scale_;
};

}  // namespace carom::kernels
