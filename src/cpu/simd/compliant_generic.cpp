#include "cpu/simd/compliant_range.hpp"

namespace carom::cpu::simd {

namespace {
struct GenericTarget {};
}  // namespace

const CompliantSet kCompliantGeneric = compliant_set<GenericTarget>();

}  // namespace carom::cpu::simd
