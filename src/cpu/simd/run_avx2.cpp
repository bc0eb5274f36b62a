#include "cpu/simd/block.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/lcp_range.hpp"
#include "cpu/simd/pack_avx2.hpp"
#include "impact/mode_pilots.hpp"

namespace carom::cpu::simd {

namespace {

const Ranges<IsaLane<Avx2>>& ranges() {
  static constexpr IsaLane<Avx2> kLane;
  static constexpr Ranges<IsaLane<Avx2>> kRanges{kLane};
  return kRanges;
}

}  // namespace

const InstructionSet kAvx2Set{"avx2",
                              run_block_of<Avx2>,
                              [](const LcpRange& range) { ranges().solve(range); },
                              [](const StepRange& range) { ranges().solve(range); },
                              follow_pilots<IsaLane<Avx2>>,
                              test_conditions<IsaLane<Avx2>>};

}  // namespace carom::cpu::simd
