#include CAROM_ISA_HEADER

#include "cpu/simd/programs/qp_avx2.hpp"
#include "cpu/simd/programs/qp_avx512.hpp"
#include "cpu/simd/programs/qp_pack.hpp"

namespace carom::cpu::simd {

template void solve_qps<CAROM_ISA>(const QpRange&);

}  // namespace carom::cpu::simd
