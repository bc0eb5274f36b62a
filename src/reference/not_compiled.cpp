// Stands in for the reference backend where it was left out of the build.
#include "core/backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "motion/backends.hpp"

const carom::BackendEntries& carom::reference::entries() {
  throw BackendUnavailable(
      "backend reference: this build leaves it out; cmake -B <build folder> -DCAROM_REFERENCE=ON "
      "and cmake --build <build folder> add it");
}

carom::MotionReplay carom::reference::replay_motion(const MotionProblem&, const MotionResult&,
                                                    std::int64_t, const ReplaySettings&) {
  entries();
  return {};
}

std::vector<carom::SpatialRegion> carom::reference::spatial_equilibrium(const PostureBatch&,
                                                                        const SpatialSettings&) {
  entries();
  return {};
}
