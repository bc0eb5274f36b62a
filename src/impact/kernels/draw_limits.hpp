#pragma once

#include <cstdint>

#include "impact/kernels/impact.hpp"

namespace carom {

/// lambda_max [m] of each lane's sample and step, uniform on [0, h): draws m step .. m step + m - 1
/// of core/random.hpp.
template <class Isa>
CAROM_INLINE void draw_limits(std::uint64_t seed, std::uint32_t problem,
                              const std::uint64_t* sample, const std::uint64_t* step, int m,
                              double h, typename Isa::Pack* limit) {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  constexpr int kWidth = Isa::kWidth;
  const int blocks = (m + 1) / 2;
  Pack drawn[2 * ((kernels::kMaxPlanarTableContacts + 1) / 2)];
  std::uint64_t block[kWidth];
  for (int b = 0; b < blocks; ++b) {
    for (int lane = 0; lane < kWidth; ++lane) {
      block[lane] =
          (step[lane] * static_cast<std::uint64_t>(m) >> 1) + static_cast<std::uint64_t>(b);
    }
    Isa::uniform_pairs(seed, problem, sample, block, drawn[2 * b], drawn[2 * b + 1]);
  }
  if (m % 2 == 0) {
    for (int i = 0; i < m; ++i) limit[i] = Pack(h) * drawn[i];
    return;
  }
  unsigned odd = 0;
  for (int lane = 0; lane < kWidth; ++lane) odd |= static_cast<unsigned>(step[lane] & 1U) << lane;
  for (int i = 0; i < m; ++i) {
    limit[i] = Pack(h) * select(Mask::from_bits(odd), drawn[i + 1], drawn[i]);
  }
}

}  // namespace carom
