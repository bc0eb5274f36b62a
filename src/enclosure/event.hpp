#pragma once

#include <span>
#include <string>
#include <string_view>

#include <carom/impact_enclosure.hpp>

/// Questions to an enclosure: can this event happen? (carom/impact_enclosure.hpp)
namespace carom::enclosure {

ImpactEvent parse_event(std::string_view text, std::span<const std::string> contact_names,
                        int dimension);
/// Whether an outcome of these modes is asked for.
bool has_modes(std::uint64_t modes, const ImpactEvent& event);
bool is_in_doubt(const ImpactEnclosure& enclosure, const ImpactEvent& event,
                 std::span<const std::uint64_t> within_tolerance);
bool never_happens(const ImpactEnclosure& enclosure, const ImpactEvent& event);
std::int64_t first_happening(const ImpactProblem& problem, const ImpactSamples& samples,
                             std::int64_t index, const ImpactEvent& event, double mode_tolerance);

}  // namespace carom::enclosure
