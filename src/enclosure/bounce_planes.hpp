#pragma once

#include <cstdint>
#include <vector>

#include "enclosure/rounded_impact.hpp"

namespace carom::enclosure {

/// The plane on which rows of two contacts' velocities have a ratio: 2^kRatioBits first - share
/// second = 0, of RoundedImpact::row.
struct PlaneBetween {
  int first, second;
  std::int64_t share;
};
inline constexpr unsigned kRatioBits = 20;

/// Planes on which extreme outcomes are likely to lie: of every contact's bounce from the start the
/// velocities that it leaves, and the direction in which it ends. A guess: forms prove bounds with
/// any planes.
std::vector<PlaneBetween> bounce_planes(const RoundedImpact& impact);

}  // namespace carom::enclosure
