#include CAROM_ISA_HEADER

#include "cpu/simd/compliant/compliant_range.hpp"

namespace carom::cpu::simd {

template void step_worlds<CAROM_ISA>(const WorldsRange&);
template void solve_compliant<CAROM_ISA>(const CompliantRange&);

}  // namespace carom::cpu::simd
