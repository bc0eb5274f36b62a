#pragma once

#include <cstdint>
#include <vector>

#include <carom/impact.hpp>
#include <carom/motion.hpp>

namespace carom {

/// States that the motions of one problem reach at one time.
struct ReachableSet {
  double time = 0.0;  ///< [s]
  /// Epsilon-net of (q, v), nq + nv numbers a point in EpsilonNet::velocity; its coverage is the
  /// number of points after 1, 2, 4, .. samples. Motions that ended before are counted in
  /// `dropped`.
  EpsilonNet net;
};

struct ReachableSettings {
  double epsilon = 0.1;                           ///< radius of the nets, > 0
  std::int64_t capacity = std::int64_t{1} << 20;  ///< points of a net at most
};

/// Nets of the states at 0, grid, 2 grid, ... and at the duration (settings.grid > 0), of each
/// problem: [problems][times]. The same whatever the order of computation; memory is bounded by a
/// chunk of samples and the nets. Errors: InvalidInput for settings, shapes and problems.
std::vector<std::vector<ReachableSet>> reachable(const MotionBatch& batch,
                                                 const MotionSettings& settings,
                                                 const ReachableSettings& nets = {},
                                                 Backend backend = Backend::automatic);

}  // namespace carom
