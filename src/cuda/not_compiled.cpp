// Implements the CUDA backend in builds without a CUDA compiler: no entry of any family can be
// called.
#include "core/backends.hpp"
#include "cuda/impact/sample_policy.hpp"

namespace carom {

namespace {

template <class Entries>
const Entries& none() {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace

}  // namespace carom

// From cmake/CaromNotCompiled.cmake; it uses none().
#include "cuda_not_compiled.hpp"

namespace carom {

// By their qualified names: what the headers do not declare does not compile.
const cuda::Device* cuda::device() { return nullptr; }

ImpactResult cuda::sample_impacts_with(const ImpactBatch&, const ImpactSettings&,
                                       const SamplePolicy&, WorkspaceState*) {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace carom
