#pragma once

#include <carom/device/lanes.hpp>

namespace carom::cpu::simd {

/// A single lane of one instruction set. It is a separate type for each set, so that translation
/// units of different sets do not share template instances.
template <class Isa>
struct IsaLane : kernels::SingleLane {
  static constexpr int kRowPadding = Isa::kWidth;
};
template <class Isa>
requires Isa::kInRegisters struct IsaLane<Isa> : kernels::SingleLane {
  static constexpr int kRowPadding = Isa::kWidth;
  using Register = typename Isa::Pack;
};

/// The instruction set of a single lane; none for the emulation's.
template <class Lanes>
struct IsaOf {
  static constexpr bool kKnown = false;
};
template <class Instructions>
struct IsaOf<IsaLane<Instructions>> {
  static constexpr bool kKnown = true;
  using Isa = Instructions;
};

}  // namespace carom::cpu::simd
