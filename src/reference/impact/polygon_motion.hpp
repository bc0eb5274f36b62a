#pragma once

#include <optional>
#include <vector>

#include "reference/impact/friction_polygon.hpp"

namespace carom::reference {

/// Modes of contacts at a velocity: which friction directions oppose the slip of closed contacts.
struct PolygonState {
  Vector u;
  std::vector<Arc> slip;
};

/// Impulse and rate of u for one unit of a stretch, and the slips' directions while it lasts.
struct PolygonMotion {
  Vector impulse, rate;
  std::vector<Arc> slip;
};

/// A motion that keeps the laws of the inclusion under these weights, looked for from the mode on
/// that `first` names; none after 96 modes.
std::optional<PolygonMotion> find_motion(const Mechanism& mechanism, const FrictionPolygon& polygon,
                                         const PolygonState& state, const Vector& weight,
                                         unsigned first);

}  // namespace carom::reference
