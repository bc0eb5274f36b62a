#include "cpu/simd/block.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/lcp_range.hpp"
#include "cpu/simd/pack_generic.hpp"
#include "impact/mode_pilots.hpp"

namespace carom::cpu::simd {

namespace {

const Ranges<IsaLane<Generic>>& ranges() {
  static constexpr IsaLane<Generic> kLane;
  static constexpr Ranges<IsaLane<Generic>> kRanges{kLane};
  return kRanges;
}

}  // namespace

const InstructionSet kGenericSet{"generic",
                                 run_block_of<Generic>,
                                 [](const LcpRange& range) { ranges().solve(range); },
                                 [](const StepRange& range) { ranges().solve(range); },
                                 follow_pilots<IsaLane<Generic>>,
                                 test_conditions<IsaLane<Generic>>};

}  // namespace carom::cpu::simd
