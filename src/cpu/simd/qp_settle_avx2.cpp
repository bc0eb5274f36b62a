#include "cpu/simd/pack_avx2.hpp"
#include "cpu/simd/qp_settle.hpp"

namespace carom::cpu::simd {

void settle_qp_avx2(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                    double* workspace) {
  settle_qp_of<Avx2>(arrays, problem, tried, workspace);
}

}  // namespace carom::cpu::simd
