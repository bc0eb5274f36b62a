#include <carom/device/lanes.hpp>

#include "cpu/programs/lp_driver.hpp"
#include "emulation/emulation.hpp"

namespace carom::emulation {

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, bool backwards) {
  const auto run = [&](const auto& lanes) {
    return cpu::drive_lp(batch, settings, start, [&](const cpu::simd::LpRange& range) {
      cpu::simd::solve_lp_range(lanes, range);
    });
  };
  if (backwards) return run(kernels::EmulatedLanes<32, true>{});
  return run(kernels::EmulatedLanes<32, false>{});
}

}  // namespace carom::emulation
