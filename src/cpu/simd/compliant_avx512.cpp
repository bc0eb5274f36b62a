// GCC 12's own header reads an undefined register in its unmasked square root.
#pragma GCC diagnostic ignored "-Wuninitialized"

#include "cpu/simd/compliant_range.hpp"
#include "cpu/simd/pack_avx512.hpp"

namespace carom::cpu::simd {

const CompliantSet kCompliantAvx512 = compliant_set<Avx512>();

}  // namespace carom::cpu::simd
