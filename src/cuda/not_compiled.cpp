// Stands in for the CUDA backend where no CUDA compiler was present.
#include "core/backends.hpp"
#include "cuda/impact/sample_policy.hpp"
#include "impact/backends.hpp"
#include "programs/lcp/backends.hpp"

namespace carom::cuda {

namespace {
[[noreturn]] void refuse() {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}
}  // namespace

bool compiled() { return false; }
std::vector<DeviceInfo> devices() { return {}; }
void* allocate(std::size_t) { refuse(); }
void release(void*) noexcept {}
void copy(void*, MemorySpace, const void*, MemorySpace, std::size_t) { refuse(); }
LcpResult solve_lcp(const LcpBatch&, const LcpSettings&) { refuse(); }
StepResult solve_steps(const StepBatch&, const StepSettings&) { refuse(); }
ImpactResult sample_impacts(const ImpactBatch&, const ImpactSettings&, ImpactWorkspace&) {
  refuse();
}
ImpactResult sample_impacts_with(const ImpactBatch&, const ImpactSettings&, ImpactWorkspace&,
                                 const SamplePolicy&) {
  refuse();
}

}  // namespace carom::cuda
