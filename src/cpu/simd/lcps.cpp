#include CAROM_ISA_HEADER

#include "cpu/simd/lcp_range.hpp"
#include "cpu/simd/pack_trajectories.hpp"

namespace carom::cpu::simd {

template void solve_lcps<CAROM_ISA>(const LcpRange&);

}  // namespace carom::cpu::simd
