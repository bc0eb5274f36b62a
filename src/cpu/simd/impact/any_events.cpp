#include CAROM_ISA_HEADER

#include "cpu/simd/impact/any_event_block.hpp"

namespace carom::cpu::simd {

template void follow_any_events<CAROM_ISA>(const AnyEventBlock&);

}  // namespace carom::cpu::simd
