#include CAROM_ISA_HEADER

#include "cpu/simd/dispatch.hpp"

namespace carom::cpu::simd {

template <class Isa>
const InstructionSet& entries() {
  static const InstructionSet kEntries{Isa::kName,
                                       run_block<Isa>,
                                       follow_events<Isa>,
                                       follow_any_events<Isa>,
                                       solve_steps<Isa>,
                                       follow_pilots<Isa>,
                                       build_entries<Isa>,
                                       enumerate_pilots<Isa>,
                                       order_conditions<Isa>,
                                       solve_lcps<Isa>,
                                       solve_lps<Isa>,
                                       solve_qps<Isa>,
                                       warm_qps<Isa>,
                                       pool_lps<Isa>,
                                       finish_qp<Isa>,
                                       step_worlds<Isa>,
                                       solve_compliant<Isa>,
                                       simulate_motions<Isa>,
                                       planar_search<Isa>(),
                                       support_code<Isa>()};
  return kEntries;
}
template const InstructionSet& entries<CAROM_ISA>();

}  // namespace carom::cpu::simd
