#pragma once

#include <bit>
#include <cstdint>

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>

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
  using Reals = WorkspaceReals<Lanes>;

  /// columns: padded. matrix: [m, np] out; scale: [np + mp] out, x = scale x_scaled of columns,
  /// then the factors of the rows; unit: [np + mp] out, what bounds are multiplied by.
  CAROM_HOST_DEVICE SimplexScaling(const Lanes& lanes, int rows, int columns, Reals matrix,
                                   Reals scale, Reals unit)
      : lanes_(lanes),
        m_(rows),
        np_(columns),
        mp_(padded(rows, kPackPadding)),
        matrix_(matrix),
        scale_(scale),
        unit_(unit) {}

  /// from: [m, np]; row_size: max|a_ij|, [mp].
  CAROM_INLINE void load(const double* from, const double* row_size) const {
    lanes_.for_each(mp_, [&](int i) {
      const double factor = i < m_ ? inverse_power_of_two(power_of_two_below(row_size[i])) : 1.0;
      scale_[np_ + i] = factor;
      unit_[np_ + i] = factor;
    });
    each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      V most(0.0);
      for (int i = 0; i < m_; ++i) {
        const V entry = magnitude(kernels::load<V>(from + static_cast<long>(i) * np_ + j));
        most = larger(entry * V(scale_[np_ + i]), most);
      }
      store(unit_ + j, most);
    });
    lanes_.for_each(np_, [&](int j) {
      unit_[j] = power_of_two_below(unit_[j]);
      scale_[j] = inverse_power_of_two(unit_[j]);
    });
    each_packed_2d(lanes_, m_, np_, [&](auto number, int i, int j) {
      using V = decltype(number);
      const long at = static_cast<long>(i) * np_ + j;
      store(matrix_ + at,
            kernels::load<V>(from + at) * (V(scale_[np_ + i]) * kernels::load<V>(scale_ + j)));
    });
  }

 private:
  const Lanes& lanes_;
  int m_, np_, mp_;
  Reals matrix_;
  Reals scale_;
  Reals unit_;
};

}  // namespace carom::kernels
