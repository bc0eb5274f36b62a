#include "cpu/equilibrium/support_driver.hpp"
#include "emulation/emulation.hpp"

namespace carom::emulation {

namespace {

/// What the lanes of a CUDA warp do, one direction after the other.
struct Emulated {
  static void prepare(const PrepareJob& job) {
    kernels::prepare_support(job.view.contacts, job.view.position, job.view.normal,
                             job.view.friction, job.wrench, *job.rule, job.tolerance,
                             job.max_pivots, *job.prepared, job.contact);
  }
  template <bool Backwards>
  static void probe(const kernels::ProbeJob& job) {
    for (int turn = 0; turn < kernels::kSupportArcs; ++turn) {
      const int arc = Backwards ? kernels::kSupportArcs - 1 - turn : turn;
      kernels::sweep_arcs<double>(job, arc);
    }
  }
};

}  // namespace

SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, bool backwards) {
  const SupportCode code{Emulated::prepare,
                         backwards ? Emulated::probe<true> : Emulated::probe<false>, nullptr};
  return cpu::drive_support(code, batch, directions, settings);
}

}  // namespace carom::emulation
