// GCC 12's own header reads an undefined register in its unmasked square root.
#pragma GCC diagnostic ignored "-Wuninitialized"

#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/qp_pack.hpp"

namespace carom::cpu::simd {

void solve_qps_avx512(const QpRange& range) { solve_qps_of<Avx512>(range); }

}  // namespace carom::cpu::simd
