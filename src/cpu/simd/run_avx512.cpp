#include "cpu/simd/block.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/lcp_range.hpp"
#include "cpu/simd/pack_avx512.hpp"
#include "impact/mode_pilots.hpp"

namespace carom::cpu::simd {

namespace {

const Ranges<IsaLane<Avx512>>& ranges() {
  static constexpr IsaLane<Avx512> kLane;
  static constexpr Ranges<IsaLane<Avx512>> kRanges{kLane};
  return kRanges;
}

}  // namespace

const InstructionSet kAvx512Set{"avx512",
                                run_block_of<Avx512>,
                                [](const LcpRange& range) { ranges().solve(range); },
                                [](const StepRange& range) { ranges().solve(range); },
                                follow_pilots<IsaLane<Avx512>>,
                                test_conditions<IsaLane<Avx512>>};

}  // namespace carom::cpu::simd
