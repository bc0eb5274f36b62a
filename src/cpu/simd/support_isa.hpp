#pragma once

#include "cpu/simd/support.hpp"

namespace carom::cpu::simd {

/// The bodies in one instruction set: functions of a type of its own, into which everything else is
/// inlined, so that no other translation unit shares their code.
template <class Isa>
struct IsaSupport {
  static void prepare(const PrepareJob& job) {
    kernels::prepare_support(job.view.contacts, job.view.position, job.view.normal,
                             job.view.friction, job.wrench, *job.rule, job.tolerance,
                             job.max_pivots, *job.prepared, job.contact);
  }
  static void probe(const kernels::ProbeJob& job) { kernels::run_probes<typename Isa::Pack>(job); }
  static void postures(const kernels::PosturesJob& job) {
    kernels::run_all_postures<typename Isa::Pack>(job);
  }
};

}  // namespace carom::cpu::simd
