// Stands in for the CUDA backend where no CUDA compiler was present.
#include "core/backends.hpp"
#include "cuda/impact/sample_policy.hpp"

namespace carom::cuda {

const Device* device() { return nullptr; }

ImpactResult sample_impacts_with(const ImpactBatch&, const ImpactSettings&, const SamplePolicy&,
                                 WorkspaceState*) {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace carom::cuda
