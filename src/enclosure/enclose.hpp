#pragma once

#include <optional>
#include <string>

#include <carom/impact_enclosure.hpp>

#include "enclosure/rounded_impact.hpp"

namespace carom::enclosure {

/// Enclosure of one planar problem with validated numbers.
ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings);

/// See decide_impacts; one planar problem whose numbers are good.
ImpactDecision decide(const ImpactProblem& problem, const ImpactEvent& event,
                      const EnclosureSettings& settings);

/// The impact that polyhedra follow, with the stores that they include; none if it has none.
std::optional<RoundedImpact> followed_impact(const ImpactProblem& problem,
                                             const EnclosureSettings& settings);

/// What the invariant `text` proves of the problem: bounds, modes and faces; none where it proves
/// nothing. outer: as its status says; without stores it may then need the energy.
std::optional<ImpactEnclosure> proven(const ImpactProblem& problem, RestitutionLaw law, bool outer,
                                      const std::string& text);
/// See proves_enclosure.
bool proves(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
