#include CAROM_ISA_HEADER

#include "cpu/simd/programs/box_range.hpp"

namespace carom::cpu::simd {

template void solve_boxes<CAROM_ISA>(const BoxRange&);

}  // namespace carom::cpu::simd
