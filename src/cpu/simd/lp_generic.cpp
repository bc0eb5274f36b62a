#include "cpu/simd/lp_lane.hpp"
#include "cpu/simd/pack_generic.hpp"

namespace carom::cpu::simd {

void solve_lps_generic(const LpRange& range) { solve_lp_range(PackedLane<Generic>{}, range); }

}  // namespace carom::cpu::simd
