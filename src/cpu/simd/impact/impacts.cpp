#include CAROM_ISA_HEADER

#include "cpu/simd/impact/block.hpp"
#include "cpu/simd/impact/step_range.hpp"
#include "impact/kernels/enumerated_pilots.hpp"
#include "impact/kernels/mode_entries.hpp"
#include "impact/mode_pilots.hpp"

namespace carom::cpu::simd {

template <class Isa>
void follow_pilots(const PilotJob& job) {
  carom::follow_pilots<IsaLane<Isa>>(job);
}
template <class Isa>
void order_conditions(const OrderJob& job) {
  carom::order_conditions<typename Isa::Pack, Isa::kWidth>(job);
}
template <class Isa>
void build_entries(const EntryJob& job) {
  job.dimension == 2 ? ModeEntries<Isa, 2>{job}() : ModeEntries<Isa, 3>{job}();
}
template <class Isa>
void enumerate_pilots(const EnumerationJob& job) {
  static_assert(kEnumeratedContacts == 3);
  switch (job.run->contacts) {
    case 1:
      return EnumeratedPilots<Isa, 1>{job}();
    case 2:
      return EnumeratedPilots<Isa, 2>{job}();
    default:
      return EnumeratedPilots<Isa, 3>{job}();
  }
}

template void run_block<CAROM_ISA>(const BlockJob&);
template void solve_steps<CAROM_ISA>(const StepRange&);
template void follow_pilots<CAROM_ISA>(const PilotJob&);
template void order_conditions<CAROM_ISA>(const OrderJob&);
template void build_entries<CAROM_ISA>(const EntryJob&);
template void enumerate_pilots<CAROM_ISA>(const EnumerationJob&);

}  // namespace carom::cpu::simd
