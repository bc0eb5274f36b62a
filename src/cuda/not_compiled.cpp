// Stands in for the CUDA backend where no CUDA compiler was present.
#include "core/backends.hpp"
#include "cuda/impact/sample_policy.hpp"

namespace carom {

// By their qualified names: what the headers do not declare does not compile.
const cuda::Device* cuda::device() { return nullptr; }

ImpactResult cuda::sample_impacts_with(const ImpactBatch&, const ImpactSettings&,
                                       const SamplePolicy&, WorkspaceState*) {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace carom
