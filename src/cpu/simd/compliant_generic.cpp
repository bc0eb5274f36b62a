#include "cpu/simd/compliant_range.hpp"
#include "cpu/simd/pack_generic.hpp"

namespace carom::cpu::simd {

const CompliantSet kCompliantGeneric = compliant_set<Generic>();

}  // namespace carom::cpu::simd
