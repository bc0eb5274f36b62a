#pragma once

#include <optional>
#include <string>

#include <carom/impact_enclosure.hpp>

namespace carom::enclosure {

/// One planar problem whose numbers are good.
ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings);

/// See decide_impacts; one planar problem whose numbers are good.
ImpactDecision decide(const ImpactProblem& problem, const ImpactEvent& event,
                      const EnclosureSettings& settings);

/// What the invariant `text` proves of the problem: bounds, modes and faces; none where it proves
/// nothing. bounded: it needs the energy, as of status `outer`.
std::optional<ImpactEnclosure> proven(const ImpactProblem& problem, bool bounded,
                                      const std::string& text);
/// See proves_enclosure.
bool proves(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
