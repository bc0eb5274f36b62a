#pragma once

namespace carom::cpu::simd {

/// No instruction set pads the rows of a tableau to more doubles than this.
inline constexpr int kLargestPadding = 8;

}  // namespace carom::cpu::simd
