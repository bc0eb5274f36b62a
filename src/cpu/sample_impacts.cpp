#include <carom/kernels/lanes.hpp>

#include "backends.hpp"
#include "cpu/impact_driver.hpp"

namespace carom {

namespace cpu {

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            ImpactWorkspace&) {
  const kernels::SingleLane lane;
  return batch.dimension == 2 ? drive_impacts<2>(batch, settings, lane)
                              : drive_impacts<3>(batch, settings, lane);
}

}  // namespace cpu

namespace emulation {

namespace {
template <class Lanes>
ImpactResult sample(const ImpactBatch& batch, const ImpactSettings& settings) {
  const Lanes lanes;
  return batch.dimension == 2 ? cpu::drive_impacts<2>(batch, settings, lanes)
                              : cpu::drive_impacts<3>(batch, settings, lanes);
}
}  // namespace

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            bool backwards) {
  return backwards ? sample<kernels::EmulatedLanes<32, true>>(batch, settings)
                   : sample<kernels::EmulatedLanes<32, false>>(batch, settings);
}

}  // namespace emulation

}  // namespace carom
