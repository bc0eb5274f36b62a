#pragma once

#include <cstdint>

#include "reference/impact/trajectory.hpp"

namespace carom::reference {

/// Steps (75) of contacts with restitution (docs/explanation/restitution.md): Jn v' less release
/// speeds in place of Jn v', each step by Lemke's method. A sample is a function of only its index.
class ReleaseSimulator {
 public:
  /// step_size: h [N s].
  ReleaseSimulator(const Mechanism& mechanism, const ImpactSettings& settings, double step_size,
                   std::uint32_t problem);

  [[nodiscard]] Trajectory run(std::int64_t sample, bool keep_path) const;

 private:
  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  double step_size_;
  std::uint32_t problem_;
};

}  // namespace carom::reference
