#pragma once

#include <cstdint>

#include "reference/impact/trajectory.hpp"

namespace carom::reference {

/// Solutions of the inclusion (39), (40) from event to event (docs/explanation/enclosure.md), with
/// stores where the problem has restitution. A sample is a function of only its index. steps counts
/// linear pieces, pivots series of events that were summed; `path` holds the velocities at the
/// first max_steps events and v+.
///
/// Of a planar impact, every mode by a dense least-squares solution, without tables. Stores are
/// those of Stronge's law, with numbers for friction.
[[nodiscard]] Trajectory follow_planar_events(const Mechanism& mechanism,
                                              const ImpactSettings& settings, std::uint32_t problem,
                                              std::int64_t sample, bool keep_path);

/// Of spatial impacts and of planar ones with many contacts: a contact's state is the set of
/// friction directions that oppose its slip, every mode a least-squares solution.
[[nodiscard]] Trajectory follow_polygon_events(const Mechanism& mechanism,
                                               const ImpactSettings& settings,
                                               std::uint32_t problem, std::int64_t sample,
                                               bool keep_path);

}  // namespace carom::reference
