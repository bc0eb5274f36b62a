#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/qp_settle.hpp"

namespace carom::cpu::simd {

void settle_qp_avx512(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                      double* workspace) {
  settle_qp_of<Avx512>(arrays, problem, tried, workspace);
}

}  // namespace carom::cpu::simd
