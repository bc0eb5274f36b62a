#include "cpu/simd/lp_lane.hpp"
#include "cpu/simd/pack_avx2.hpp"

namespace carom::cpu::simd {

void solve_lps_avx2(const LpRange& range) { solve_lp_range(PackedLane<Avx2>{}, range); }

}  // namespace carom::cpu::simd
