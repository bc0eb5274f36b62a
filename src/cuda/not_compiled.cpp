// Stands in for the CUDA backend where no CUDA compiler was present. A family of the library has
// its line here.
#include "compliant/backends.hpp"
#include "cuda/impact/sample_policy.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "impact/backends.hpp"
#include "motion/backends.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lcp/boxed_backends.hpp"
#include "programs/lp/backends.hpp"
#include "programs/qp/backends.hpp"
#include "stability/backends.hpp"

namespace carom {

namespace {

template <class Entries>
const Entries& none() {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace

// By their qualified names: what the headers do not declare does not compile.
const cuda::Device* cuda::device() { return nullptr; }

template <>
const CompliantEntries& cuda::entries() {
  return none<CompliantEntries>();
}
template <>
const PlanarEntries& cuda::entries() {
  return none<PlanarEntries>();
}
template <>
const SpatialEntries& cuda::entries() {
  return none<SpatialEntries>();
}
template <>
const ImpactEntries& cuda::entries() {
  return none<ImpactEntries>();
}
template <>
const MotionEntries& cuda::entries() {
  return none<MotionEntries>();
}
template <>
const LcpEntries& cuda::entries() {
  return none<LcpEntries>();
}
template <>
const BoxedLcpEntries& cuda::entries() {
  return none<BoxedLcpEntries>();
}
template <>
const LpEntries& cuda::entries() {
  return none<LpEntries>();
}
template <>
const QpEntries& cuda::entries() {
  return none<QpEntries>();
}
template <>
const StabilityEntries& cuda::entries() {
  return none<StabilityEntries>();
}

ImpactResult cuda::sample_impacts_with(const ImpactBatch&, const ImpactSettings&,
                                       const SamplePolicy&, WorkspaceState*) {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace carom
