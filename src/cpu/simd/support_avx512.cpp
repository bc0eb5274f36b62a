#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/support_isa.hpp"

namespace carom::cpu::simd {

const SupportCode kAvx512Support{IsaSupport<Avx512>::prepare, IsaSupport<Avx512>::probe,
                                 IsaSupport<Avx512>::postures};

}  // namespace carom::cpu::simd
