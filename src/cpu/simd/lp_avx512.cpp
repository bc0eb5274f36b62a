// GCC 12 takes its own intrinsics' undefined operands for mistakes of the caller.
#pragma GCC diagnostic ignored "-Wuninitialized"

#include "cpu/simd/lp_lane.hpp"
#include "cpu/simd/pack_avx512.hpp"

namespace carom::cpu::simd {

void solve_lps_avx512(const LpRange& range) { solve_lp_range(PackedLane<Avx512>{}, range); }

}  // namespace carom::cpu::simd
