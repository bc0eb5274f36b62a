#include "cpu/simd/pack_avx2.hpp"
#include "cpu/simd/qp_pack.hpp"

namespace carom::cpu::simd {

void solve_qps_avx2(const QpRange& range) { solve_qps_of<Avx2>(range); }

}  // namespace carom::cpu::simd
