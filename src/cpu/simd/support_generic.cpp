#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/support_isa.hpp"

namespace carom::cpu::simd {

const SupportCode kGenericSupport{IsaSupport<Generic>::prepare, IsaSupport<Generic>::probe,
                                  IsaSupport<Generic>::postures};

}  // namespace carom::cpu::simd
