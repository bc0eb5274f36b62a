#include "cpu/simd/compliant_range.hpp"

namespace carom::cpu::simd {

namespace {
struct Avx2Target {};
}  // namespace

const CompliantSet kCompliantAvx2 = compliant_set<Avx2Target>();

}  // namespace carom::cpu::simd
