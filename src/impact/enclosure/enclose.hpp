#pragma once

#include <carom/impact_enclosure.hpp>

namespace carom::enclosure {

/// One planar problem whose numbers are good.
ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings);

/// See decide_impacts; one planar problem whose numbers are good.
ImpactDecision decide(const ImpactProblem& problem, const ImpactEvent& event,
                      const EnclosureSettings& settings);

/// See proves_enclosure.
bool proves(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
