#pragma once

#include <cstdint>
#include <vector>

#define R123_USE_SSE 0  // Philox needs none of the intrinsics, whose header is half a second a unit
#include <Random123/philox.h>

#include <carom/device/host_device.hpp>

/// Numbers addressed by (seed, problem, sample, draw): no state, no order, no stream.
namespace carom {

/// Uniform doubles on [0, 1) with 53 bits, from Philox4x32-10. Draws 2i and 2i+1 share one block.
struct UniformPair {
  double first, second;
};

CAROM_INLINE double uniform_from_words(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

CAROM_INLINE UniformPair uniform_pair(std::uint64_t seed, std::uint32_t problem,
                                      std::uint64_t sample, std::uint32_t block) {
  const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(sample),
                                               static_cast<std::uint32_t>(sample >> 32), block,
                                               problem}};
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const r123::Philox4x32::ctr_type word = r123::Philox4x32{}(counter, key);
  return {uniform_from_words(word.v[1], word.v[0]), uniform_from_words(word.v[3], word.v[2])};
}

/// f(seed, problem, sample, draw) on [0, 1).
CAROM_INLINE double uniform(std::uint64_t seed, std::uint32_t problem, std::uint64_t sample,
                            std::uint32_t draw) {
  const UniformPair pair = uniform_pair(seed, problem, sample, draw >> 1);
  return (draw & 1U) == 0U ? pair.first : pair.second;
}

/// Draws at and above this one are kept for choices other than lambda_max (Selection::random, the
/// digital shift of the Sobol sequence).
inline constexpr std::uint32_t kChoiceDraws = 0x80000000U;

/// Sobol direction numbers with kSobolBits binary digits: [dimensions, kSobolBits].
inline constexpr int kSobolBits = 52;
inline constexpr int kMaxSobolDimensions = 3667;
std::vector<std::uint64_t> sobol_directions(int dimensions);

/// Coordinate `draw` of Sobol point `sample` in Gray-code order, digitally shifted by (seed,
/// problem); `directions` as from sobol_directions.
CAROM_INLINE double sobol(const std::uint64_t* directions, std::uint64_t seed,
                          std::uint32_t problem, std::uint64_t sample, std::uint32_t draw) {
  const std::uint64_t* direction = directions + static_cast<std::size_t>(draw) * kSobolBits;
  std::uint64_t gray = sample ^ (sample >> 1);
  std::uint64_t point = 0;
  for (int bit = 0; gray != 0 && bit < kSobolBits; ++bit, gray >>= 1) {
    if ((gray & 1U) != 0U) point ^= direction[bit];
  }
  const double shift = uniform(seed, problem, ~std::uint64_t{0}, draw);
  point ^= static_cast<std::uint64_t>(shift * 0x1.0p52);
  return static_cast<double>(point) * 0x1.0p-52;
}

}  // namespace carom
