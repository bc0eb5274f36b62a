#pragma once

namespace carom::cpu::simd {

/// Largest number of doubles to which an instruction set pads the rows of a tableau.
inline constexpr int kLargestPadding = 8;

}  // namespace carom::cpu::simd
