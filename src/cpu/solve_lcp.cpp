#include <carom/kernels/lanes.hpp>

#include "backends.hpp"
#include "cpu/lcp_driver.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom {

namespace {

template <class Lanes>
StepResult steps(const StepBatch& batch, const StepSettings& settings, const Lanes& lanes) {
  return batch.dimension == 2 ? cpu::drive_steps<2>(batch, settings, lanes)
                              : cpu::drive_steps<3>(batch, settings, lanes);
}

using Forwards = kernels::EmulatedLanes<32, false>;
using Backwards = kernels::EmulatedLanes<32, true>;

}  // namespace

namespace cpu {

std::string_view instruction_set() { return simd::instruction_set(); }

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings) {
  return drive_lcp(batch, settings, kernels::SingleLane{});
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings) {
  return steps(batch, settings, kernels::SingleLane{});
}

}  // namespace cpu

namespace emulation {

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, bool backwards) {
  return backwards ? cpu::drive_lcp(batch, settings, Backwards{})
                   : cpu::drive_lcp(batch, settings, Forwards{});
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, bool backwards) {
  return backwards ? steps(batch, settings, Backwards{}) : steps(batch, settings, Forwards{});
}

}  // namespace emulation

}  // namespace carom
