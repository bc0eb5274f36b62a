#include "cpu/simd/pack_avx2.hpp"
#include "cpu/simd/support_isa.hpp"

namespace carom::cpu::simd {

const SupportCode kAvx2Support{IsaSupport<Avx2>::prepare, IsaSupport<Avx2>::probe,
                               IsaSupport<Avx2>::postures};

}  // namespace carom::cpu::simd
