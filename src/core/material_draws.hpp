#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>

#include "core/random.hpp"

namespace carom {

/// Random draws at and above this index are reserved for restitution and friction in intervals, so
/// that a run with fixed values has the same bits as code without intervals.
inline constexpr std::uint32_t kMaterialDraws = 0xC0000000U;

/// A number of [low, high] by one of [0, 1): a quarter of the draws are ends.
CAROM_INLINE double material_draw(double low, double high, double number) {
  if (number < 0.125 || low == high) return low;
  if (number >= 0.875) return high;
  return low + (high - low) * ((number - 0.125) / 0.75);
}

/// Restitution and friction of contact i of m in stretch `stretch` of a sample; 0 where they do not
/// vary within it.
struct MaterialNumbers {
  std::uint64_t seed;
  std::uint32_t problem;
  std::uint64_t sample;

  [[nodiscard]] CAROM_INLINE double number(std::uint32_t draw) const {
    return uniform(seed, problem, sample, kMaterialDraws + draw);
  }
  [[nodiscard]] CAROM_INLINE double restitution(int i, int m, std::uint32_t stretch) const {
    return number(static_cast<std::uint32_t>(i) + 2 * static_cast<std::uint32_t>(m) * stretch);
  }
  [[nodiscard]] CAROM_INLINE double friction(int i, int m, std::uint32_t stretch) const {
    return restitution(i + m, m, stretch);
  }
};

}  // namespace carom
