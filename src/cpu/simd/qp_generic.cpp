#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/qp_pack.hpp"

namespace carom::cpu::simd {

void solve_qps_generic(const QpRange& range) { solve_qps_of<Generic>(range); }

}  // namespace carom::cpu::simd
