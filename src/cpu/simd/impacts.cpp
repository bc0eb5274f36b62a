#include CAROM_ISA_HEADER

#include "cpu/simd/block.hpp"
#include "cpu/simd/lcp_range.hpp"
#include "impact/mode_pilots.hpp"

namespace carom::cpu::simd {

template <class Isa>
void follow_pilots(const PilotJob& job) {
  carom::follow_pilots<IsaLane<Isa>>(job);
}
template <class Isa>
void test_conditions(const ConditionJob& job) {
  carom::test_conditions<IsaLane<Isa>>(job);
}

template void run_block<CAROM_ISA>(const BlockJob&);
template void solve_steps<CAROM_ISA>(const StepRange&);
template void solve_lcps<CAROM_ISA>(const LcpRange&);
template void follow_pilots<CAROM_ISA>(const PilotJob&);
template void test_conditions<CAROM_ISA>(const ConditionJob&);

}  // namespace carom::cpu::simd
