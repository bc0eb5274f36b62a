#include CAROM_ISA_HEADER

#include "cpu/simd/impact/event_block.hpp"

namespace carom::cpu::simd {

template void follow_events<CAROM_ISA>(const EventBlock&);

}  // namespace carom::cpu::simd
