#include CAROM_ISA_HEADER

#include "cpu/simd/event_block.hpp"

namespace carom::cpu::simd {

template void follow_events<CAROM_ISA>(const EventBlock&);

}  // namespace carom::cpu::simd
