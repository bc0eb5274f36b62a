// Stands in for the reference backend where it was left out of the build. A family of the library
// has its line here.
#include "compliant/backends.hpp"
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

void reference::require_compiled() {
  throw BackendUnavailable(
      "backend reference: this build leaves it out; cmake -B <build folder> -DCAROM_REFERENCE=ON "
      "and cmake --build <build folder> add it");
}

namespace {

template <class Entries>
const Entries& none() {
  reference::require_compiled();
  static constexpr Entries kNone{};
  return kNone;
}

}  // namespace

template <>
const CompliantEntries& reference::entries() {
  return none<CompliantEntries>();
}
template <>
const PlanarEntries& reference::entries() {
  return none<PlanarEntries>();
}
template <>
const SpatialEntries& reference::entries() {
  return none<SpatialEntries>();
}
template <>
const ImpactEntries& reference::entries() {
  return none<ImpactEntries>();
}
template <>
const MotionEntries& reference::entries() {
  return none<MotionEntries>();
}
template <>
const LcpEntries& reference::entries() {
  return none<LcpEntries>();
}
template <>
const BoxedLcpEntries& reference::entries() {
  return none<BoxedLcpEntries>();
}
template <>
const LpEntries& reference::entries() {
  return none<LpEntries>();
}
template <>
const QpEntries& reference::entries() {
  return none<QpEntries>();
}
template <>
const StabilityEntries& reference::entries() {
  return none<StabilityEntries>();
}

}  // namespace carom
