#include CAROM_ISA_HEADER

#include "cpu/simd/programs/lcp_range.hpp"

namespace carom::cpu::simd {

template void solve_lcps<CAROM_ISA>(const LcpRange&);

}  // namespace carom::cpu::simd
