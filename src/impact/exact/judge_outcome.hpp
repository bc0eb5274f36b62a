#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "impact/exact/kept_mechanics.hpp"

/// An outcome that a file keeps of an impact, judged again by intervals that hold the true numbers
/// (docs/howto/check_a_proof.md). Nothing of what made it takes part.
namespace carom::exact {

/// Velocity after the impact, with the impulses that are said to make it. Arrays without owner.
struct KeptOutcome {
  const double* velocity = nullptr;  ///< [nv]
  const double* impulse = nullptr;   ///< [dimension*m], normals first
  /// Constants of the sample [m], NaN where they vary within it; null: those of the problem.
  const double *restitution = nullptr, *friction = nullptr;
  /// Work of each contact [J], [m], and what was lost; null without.
  const double *stored = nullptr, *released = nullptr;
  const double *lost_compression = nullptr, *lost_friction = nullptr;
  std::optional<std::uint64_t> modes;
};

/// What the settings of its run say.
struct OutcomeSettings {
  ImpactMethod method = ImpactMethod::lcp;
  RestitutionLaw law = RestitutionLaw::stronge;
  int friction_directions = 4;
  double velocity_tolerance = 0.0, residual_tolerance = 0.0, mode_tolerance = 0.0;
};

/// Why it is none that the problem can have; empty where momentum, the cones of friction, energy,
/// the work of each contact and the modes agree and no contact approaches. That a path leads to
/// it is another statement.
std::string refutation(const KeptMechanics& mechanics, const OutcomeSettings& settings,
                       const KeptOutcome& outcome);

}  // namespace carom::exact
