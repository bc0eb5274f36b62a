#include CAROM_ISA_HEADER

#include "cpu/simd/programs/box_range.hpp"

namespace carom::cpu::simd {

template void solve_boxes<CAROM_ISA>(const BoxRange&);
template void follow_box<CAROM_ISA>(kernels::BoxLemkeJob&);

}  // namespace carom::cpu::simd
