#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <carom/types/impact_models.hpp>

#include "reference/impact/mechanism.hpp"
#include "reference/impact/step.hpp"
#include "reference/impact/stores.hpp"

namespace carom::reference {

/// One run of Algorithm 1.
struct Trajectory {
  TrajectoryStatus status = TrajectoryStatus::failed;
  Vector velocity;          ///< v+, [nv]
  Vector contact_velocity;  ///< J v+, [d m]
  Vector impulse;           ///< accumulated, [d m]
  int steps = 0;
  int pivots = 0;
  int nonunique = 0;
  int examined = 0;
  double residual = 0.0;
  std::vector<Vector> path;  ///< v_0..v_K, only when asked for
  // With stores only:
  std::optional<Bounces> bounces;
  std::vector<PathPiece> pieces;  ///< that end at each velocity of the path
};

/// Runs trajectories of one problem of a batch; a sample is a function of only its index.
class Simulator {
 public:
  /// sobol: direction numbers for m * max_steps dimensions, null unless the sampler is sobol.
  /// step_size: h [N s]; epsilon: radius of the net, of the closing step.
  Simulator(const Mechanism& mechanism, const ImpactSettings& settings, double step_size,
            double epsilon, std::uint32_t problem, const std::uint64_t* sobol);

  /// Errors: InvalidInput where selection = random meets too many contact modes.
  [[nodiscard]] Trajectory run(std::int64_t sample, bool keep_path) const;

  /// Closing step of Algorithm 2, f(v, epsilon / (3 psi) 1): true where it was certified and
  /// nothing approaches any more; `trajectory` is then the state after it.
  [[nodiscard]] bool close(std::int64_t sample, Trajectory& trajectory) const;

 private:
  [[nodiscard]] Vector draw(std::int64_t sample, int step) const;
  /// All distinct outcomes of a step, by the family's enumeration, ordered by J v'.
  [[nodiscard]] std::vector<StepSolution> outcomes(const Vector& velocity,
                                                   const Vector& max_impulse) const;
  [[nodiscard]] StepSolution choose(const Vector& max_impulse, std::int64_t sample, int step,
                                    Trajectory& trajectory) const;
  bool advance(const Vector& max_impulse, std::int64_t sample, int step,
               Trajectory& trajectory) const;

  const Mechanism& mechanism_;
  const ImpactSettings& settings_;
  double step_size_;
  double epsilon_;
  std::uint32_t problem_;
  const std::uint64_t* sobol_;
  StepModel model_;
  ImpactModelSettings enumeration_;
};

}  // namespace carom::reference
