#include <carom/kernels/lanes.hpp>

#include "cpu/qp_driver.hpp"
#include "cpu/simd/qp_pack.hpp"
#include "qp_backends.hpp"

namespace carom::emulation {

namespace {

template <bool Backwards>
struct Emulation {};

template <bool Backwards>
void solve_range(const cpu::simd::QpRange& range) {
  using Lanes = kernels::EmulatedLanes<32, Backwards>;
  cpu::simd::QpPackRun<Emulation<Backwards>, double, 1, Lanes>(range).run();
}

}  // namespace

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, bool backwards) {
  return cpu::drive_qp(batch, settings, {}, backwards ? solve_range<true> : solve_range<false>);
}

}  // namespace carom::emulation
