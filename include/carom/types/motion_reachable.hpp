#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/impact.hpp>
#include <carom/types/motion.hpp>

/// The plain structs of carom/motion_reachable.hpp.
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

}  // namespace carom
