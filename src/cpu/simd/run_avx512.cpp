#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/pack_trajectories.hpp"

namespace carom::cpu::simd {

void run_avx512(const PackJob& job) { run_pack_job<Avx512>(job); }

}  // namespace carom::cpu::simd
