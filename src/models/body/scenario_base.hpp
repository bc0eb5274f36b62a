#pragma once

#include <cmath>
#include <cstdint>

#include <carom/device/constraint_rows.hpp>
#include <carom/device/numeric.hpp>

/// Scenarios as functors: M, f, G, (dG/dt) v, phi from (q, v), on host and device. Parameters come
/// in the order of the enumerations; names, units and ranges stand in src/models/scenarios.cpp. All
/// masses are diagonal in the chosen velocities; positions follow q' = q + h N v'.
namespace carom::kernels {

struct WorldSizes {
  int positions, velocities, rows;
};

/// Scenarios whose worlds are all of one size, for any parameters.
template <class Scenario>
concept SizedAlike = requires {
  Scenario::kSizes.rows;
};

inline constexpr double kPi = 3.14159265358979323846;

/// What a scenario that leaves a hook alone gets.
struct ScenarioBase {
  static constexpr int kTangents = 1;  ///< rows behind a normal row
  static constexpr int kContacts = 0;  ///< usual number of spatial contacts, if CompliantPack shall
                                       ///< be compiled for it
  static constexpr bool kMany = false;  ///< CompliantMany instead of CompliantStep
  /// Without impacts: energies are those of the positions' time, where the velocity is the mean of
  /// those half a step before and half a step after it.
  static constexpr bool kSmooth = false;
  static CAROM_INLINE bool direct(const double*, double, double*, double*) { return false; }
  static CAROM_INLINE bool finished(const double*, const double*, const double*) { return false; }
};

/// A row ahead of its contact is there where the gap may close within the step.
CAROM_INLINE bool may_touch(double gap, double speed, double h, double fall) {
  return gap + h * (speed - h * fall) <= 0.0 || gap <= 0.0;
}

}  // namespace carom::kernels
