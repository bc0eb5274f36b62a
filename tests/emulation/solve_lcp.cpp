#include <carom/device/lanes.hpp>

#include "cpu/impact/step_driver.hpp"
#include "cpu/programs/lcp_driver.hpp"
#include "emulation/emulation.hpp"

namespace carom::emulation {

namespace {

template <class Call>
auto on_lanes(bool backwards, Call&& call) {
  if (backwards) return call(kernels::EmulatedLanes<32, true>{});
  return call(kernels::EmulatedLanes<32, false>{});
}

}  // namespace

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, bool backwards) {
  return on_lanes(backwards, [&](const auto& lanes) {
    const cpu::simd::LcpRanges ranges(lanes);
    return cpu::drive_lcp(batch, settings,
                          [&](const cpu::simd::LcpRange& range) { ranges.solve(range); });
  });
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, bool backwards) {
  return on_lanes(backwards, [&](const auto& lanes) {
    const cpu::simd::StepRanges ranges(lanes);
    return cpu::drive_steps(batch, settings,
                            [&](const cpu::simd::StepRange& range) { ranges.solve(range); });
  });
}

}  // namespace carom::emulation
