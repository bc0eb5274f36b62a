#include "cpu/simd/compliant_range.hpp"
#include "cpu/simd/pack_avx2.hpp"

namespace carom::cpu::simd {

const CompliantSet kCompliantAvx2 = compliant_set<Avx2>();

}  // namespace carom::cpu::simd
