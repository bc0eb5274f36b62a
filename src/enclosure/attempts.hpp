#pragma once

#include <algorithm>
#include <cstdint>

#include <carom/impact_enclosure.hpp>

#include "enclosure/reach.hpp"

/// Searches for the set of one problem: they run one after another until one succeeds.
namespace carom::enclosure {

/// Where hulls feed on themselves, more polyhedra a face may not. Runs that close do so soon, of
/// more than two contacts some when nearly nothing is hulled; the last one takes what it gets.
struct Attempt {
  int polyhedra;      // times those of the settings
  std::int64_t most;  // made
  bool last;
  int contacts = 0;  // of the problem, more than these
};
inline constexpr Attempt kAttempts[] = {
    {1, 96, false}, {2, 192, false}, {16, 1024, false, 2}, {2, std::int64_t{1} << 40, true}};
/// Polyhedra made before it is worthwhile to make a rough search first.
inline constexpr Attempt kSmallAttempt = {1, 8, false};

/// length: RoundedImpact::length.
inline ReachLimits limits_of(const EnclosureSettings& settings, const Attempt& attempt,
                             std::int64_t made, unsigned length) {
  constexpr unsigned kLongest = 400;  // bits of a vertex with which no hull is made any more ...
  constexpr unsigned kLongestLast = 128;  // ... and in the last run
  constexpr std::int64_t kWork = 2000;    // about a millisecond, for each of the budget, ...
  constexpr std::int64_t kLeast = 512;    // ... or of so many
  return {settings.tolerance,
          std::min(settings.budget - made, attempt.most),
          static_cast<std::size_t>(settings.polyhedra * attempt.polyhedra),
          !attempt.last,
          (attempt.last ? kLongestLast : kLongest) * length,
          length,
          std::max(settings.budget, kLeast) * kWork};
}

inline RoughLimits rough_limits_of(const EnclosureSettings& settings, const Attempt& attempt,
                                   int contacts) {
  const ReachLimits limits = limits_of(settings, attempt, 0, 1);
  return {limits.tolerance, limits.budget, limits.pieces, contacts > 2};
}

/// Whether a problem of so many contacts gets this attempt after `made` polyhedra.
inline bool is_due(const Attempt& attempt, const EnclosureSettings& settings, int contacts,
                   std::int64_t made) {
  return contacts > attempt.contacts &&
         (!attempt.last || settings.budget - made >= Reach::kUnbounded);
}

/// Whether a plan has many fewer polyhedra than a search that goes on after `made` of `planned`.
inline bool saves(const std::vector<RoughPiece>& plan, std::int64_t planned, std::int64_t made) {
  return planned - made >= static_cast<std::int64_t>(plan.size()) * 5 / 4;
}

/// What a finished family says.
void describe(const RoundedImpact& impact, const Reach& reach, double largest_rounding,
              ImpactEnclosure& enclosure);

}  // namespace carom::enclosure
