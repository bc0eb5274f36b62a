#include CAROM_ISA_HEADER

#include <type_traits>

#include "cpu/simd/dispatch.hpp"

namespace carom::cpu::simd {

namespace {

/// The bodies in one instruction set: functions of a type of its own, into which everything else is
/// inlined, so that no other translation unit shares their code.
template <class Isa>
struct IsaSupport {
  /// Without vector registers one direction after the other: what packs in loops would do, without
  /// their cost.
  using Pack = std::conditional_t<Isa::kInRegisters, typename Isa::Pack, double>;

  static void prepare(const PrepareJob& job) {
    kernels::prepare_support(job.view.contacts, job.view.position, job.view.normal,
                             job.view.friction, job.wrench, *job.rule, job.tolerance,
                             job.max_pivots, *job.prepared, job.contact);
  }
  static void probe(const kernels::ProbeJob& job) { kernels::run_probes<Pack>(job); }
  static void postures(const kernels::PosturesJob& job) { kernels::run_all_postures<Pack>(job); }
};

}  // namespace

template <class Isa>
SupportCode support_code() {
  using Code = IsaSupport<Isa>;
  if constexpr (Isa::kInRegisters) {
    return {Code::prepare, Code::probe, Code::postures};
  } else {
    return {Code::prepare, Code::probe, nullptr};
  }
}
template SupportCode support_code<CAROM_ISA>();

}  // namespace carom::cpu::simd
