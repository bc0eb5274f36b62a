#pragma once

#include <cstdint>

#include "reference/impact/trajectory.hpp"

namespace carom::reference {

/// Solutions of the inclusion (39), (40) from event to event (docs/explanation/enclosure.md) of
/// spatial impacts and of planar ones with many contacts: a contact's state is the set of friction
/// directions that oppose its slip, every mode a least-squares solution. A sample is a function of
/// only its index.
class PolygonEventSimulator {
 public:
  PolygonEventSimulator(const Mechanism& mechanism, const ImpactSettings& settings,
                        std::uint32_t problem);

  /// As EventSimulator::run.
  [[nodiscard]] Trajectory run(std::int64_t sample, bool keep_path) const;

 private:
  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  std::uint32_t problem_;
};

}  // namespace carom::reference
