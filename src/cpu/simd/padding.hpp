#pragma once

namespace carom::cpu::simd {

/// Largest number of doubles to which an instruction set pads the rows of a tableau.
inline constexpr int kLargestPadding = 8;
/// Lanes of two packs side by side (PairOf).
inline constexpr int kLargestPair = 2 * kLargestPadding;

}  // namespace carom::cpu::simd
