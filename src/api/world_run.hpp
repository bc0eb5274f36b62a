#pragma once

#include <span>
#include <vector>

#include "compliant/backends.hpp"

namespace carom {

/// The worlds of one call of step_worlds and their results: starts, energies, frames.
class WorldRunner {
 public:
  /// parameters: [worlds or 1, count]; refused: [worlds], worlds that stay NaN. Both were
  /// validated, and one world is good.
  WorldRunner(const models::Scenario& scenario, std::int64_t worlds, std::vector<double> parameters,
              std::vector<bool> refused, const kernels::WorldSettings& settings,
              const CompliantSettings& step);

  WorldStates& states() { return states_; }

  /// After `done` steps, [worlds].
  [[nodiscard]] std::vector<double> energies(std::int64_t done) const;
  void add_frame(std::int64_t done, WorldsResult& result) const;
  /// Moves the states into the result, whose steps are done.
  void finish(WorldsResult& result);

 private:
  [[nodiscard]] const double* parameters(std::int64_t world) const {
    return states_.parameters.data() + world * states_.parameter_stride;
  }
  [[nodiscard]] const double* q(std::int64_t world) const {
    return states_.position.data() + world * states_.sizes.positions;
  }
  [[nodiscard]] const double* v(std::int64_t world) const {
    return states_.velocity.data() + world * states_.sizes.velocities;
  }
  [[nodiscard]] std::vector<double> velocities_at_positions(std::int64_t done) const;

  const WorldModel& model_;
  WorldStates states_;
  std::vector<bool> refused_;
  const CompliantSettings& step_;
};

/// The run's worlds at their start, with what the scenario recommends in place of what was left
/// open. Errors: InvalidInput.
WorldRunner set_up_worlds(const models::Scenario& scenario, const WorldRun& run,
                          const CompliantSettings& settings);

}  // namespace carom
