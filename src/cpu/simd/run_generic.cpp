#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/pack_trajectories.hpp"

namespace carom::cpu::simd {

void run_generic(const PackJob& job) { run_pack_job<Generic>(job); }

}  // namespace carom::cpu::simd
