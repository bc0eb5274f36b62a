#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/qp_settle.hpp"

namespace carom::cpu::simd {

void settle_qp_generic(const kernels::QpTaskArrays& arrays, long problem, bool tried,
                       double* workspace) {
  settle_qp_of<Generic>(arrays, problem, tried, workspace);
}

}  // namespace carom::cpu::simd
