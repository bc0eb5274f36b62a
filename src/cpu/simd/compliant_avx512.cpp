#include "cpu/simd/compliant_range.hpp"

namespace carom::cpu::simd {

namespace {
struct Avx512Target {};
}  // namespace

const CompliantSet kCompliantAvx512 = compliant_set<Avx512Target>();

}  // namespace carom::cpu::simd
