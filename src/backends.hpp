#pragma once

// What each backend offers to the families. Shapes and numbers were validated before.

#include <carom/impact.hpp>
#include <carom/lcp.hpp>

namespace carom {

namespace cpu {
std::string_view instruction_set();
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings);
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            ImpactWorkspace& workspace);
}  // namespace cpu

/// The bodies on a warp's worth of host lanes, run forwards or backwards.
namespace emulation {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, bool backwards);
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, bool backwards);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            bool backwards);
}  // namespace emulation

namespace reference {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings);
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            ImpactWorkspace& workspace);
}  // namespace reference

namespace cuda {
bool compiled();
std::vector<DeviceInfo> devices();
void* allocate(std::size_t bytes);
void release(void* data) noexcept;
void copy(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
          std::size_t bytes);
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings);
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            ImpactWorkspace& workspace);
}  // namespace cuda

}  // namespace carom
