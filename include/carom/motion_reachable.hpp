#pragma once

#include <cstdint>
#include <vector>

#include <carom/impact.hpp>
#include <carom/motion.hpp>
#include <carom/types/motion_reachable.hpp>

namespace carom {

/// Nets of the states at 0, grid, 2 grid, ... and at the duration (settings.grid > 0), of each
/// problem: [problems][times]. The same whatever the order of computation; memory is bounded by a
/// chunk of samples and the nets. Errors: InvalidInput for settings, shapes and problems.
std::vector<std::vector<ReachableSet>> reachable(const MotionBatch& batch,
                                                 const MotionSettings& settings,
                                                 const ReachableSettings& nets = {},
                                                 Backend backend = Backend::automatic);

}  // namespace carom
