#include <carom/device/lanes.hpp>

#include "cpu/impact/impact_driver.hpp"
#include "emulation/emulation.hpp"
#include "impact/backends.hpp"

namespace carom::emulation {

namespace {

template <int Dim, class Lanes>
void run(const cpu::simd::BlockJob& job) {
  cpu::simd::run_lanes<Dim>(job, Lanes{});
}

// Without packs: the body alone is what emulation is there to check.
template <class Lanes>
ImpactResult sample(const ImpactBatch& batch, const ImpactSettings& settings) {
  return batch.dimension == 2 ? cpu::drive_impacts<2>(batch, settings, false, run<2, Lanes>)
                              : cpu::drive_impacts<3>(batch, settings, false, run<3, Lanes>);
}

}  // namespace

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            bool backwards) {
  return backwards ? sample<kernels::EmulatedLanes<32, true>>(batch, settings)
                   : sample<kernels::EmulatedLanes<32, false>>(batch, settings);
}

}  // namespace carom::emulation
