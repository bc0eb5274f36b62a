#pragma once

#include <cstdint>
#include <span>

#include <carom/impact_enclosure.hpp>

/// Comparison of enclosures with samples (carom/impact_enclosure.hpp).
namespace carom::enclosure {

/// Whether it says anything.
bool is_known(const ImpactEnclosure& enclosure);

OutsideSamples compare_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                               std::int64_t index, const ImpactEnclosure& enclosure);

ComparedModes compare_modes(const ImpactProblem& problem, std::span<const std::uint64_t> modes,
                            double mode_tolerance, const ImpactEnclosure& enclosure);

/// Leaves nothing of an enclosure but its status `contradiction`.
void take_back(const ImpactProblem& problem, ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
