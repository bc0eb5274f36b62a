#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_avx2.hpp"
#include "cpu/simd/pack_trajectories.hpp"

namespace carom::cpu::simd {

void run_avx2(const PackJob& job) { run_pack_job<Avx2>(job); }

}  // namespace carom::cpu::simd
