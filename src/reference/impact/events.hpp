#pragma once

#include <cstdint>

#include "reference/impact/trajectory.hpp"

namespace carom::reference {

/// Solutions of the inclusion (39), (40) of a planar impact from event to event
/// (docs/explanation/enclosure.md): every mode by a dense least-squares solution of its own,
/// without tables. A sample is a function of only its index.
class EventSimulator {
 public:
  EventSimulator(const Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem);

  /// With stores where the problem has restitution: those of Stronge's law, and numbers for
  /// friction. steps counts linear pieces, pivots series of events that were summed; `path` holds
  /// the velocities at the first max_steps events and v+.
  [[nodiscard]] Trajectory run(std::int64_t sample, bool keep_path) const;

 private:
  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  std::uint32_t problem_;
};

}  // namespace carom::reference
