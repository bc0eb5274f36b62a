#include CAROM_ISA_HEADER

#include "cpu/simd/programs/lp_lane.hpp"

namespace carom::cpu::simd {

template void solve_lps<CAROM_ISA>(const LpRange&);

}  // namespace carom::cpu::simd
