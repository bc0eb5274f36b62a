#pragma once

#include <carom/impact_enclosure.hpp>

namespace carom::enclosure {

/// One planar problem whose numbers are good.
ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings);

/// See proves_enclosure.
bool proves(const ImpactProblem& problem, const ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
