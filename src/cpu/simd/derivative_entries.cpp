#include CAROM_ISA_HEADER

#include "cpu/simd/derivative_code.hpp"

namespace carom::cpu::simd {

template <class Isa>
const DerivativeCode& derivative_entries() {
  static const DerivativeCode kEntries{differentiate_lcps<Isa>, differentiate_qps<Isa>,
                                       differentiate_steps<Isa>, pull_back_world<Isa>,
                                       differentiate_world_steps<Isa>};
  return kEntries;
}
template const DerivativeCode& derivative_entries<CAROM_ISA>();

}  // namespace carom::cpu::simd
