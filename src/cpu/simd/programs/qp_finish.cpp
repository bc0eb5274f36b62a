#include CAROM_ISA_HEADER

#include "cpu/simd/programs/qp_finish.hpp"

namespace carom::cpu::simd {

template void finish_qp<CAROM_ISA>(const kernels::QpTaskArrays&, long, bool, double*);

}  // namespace carom::cpu::simd
