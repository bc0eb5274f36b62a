#pragma once

// What each backend offers to compliant steps. Shapes and settings were validated before.

#include <memory>
#include <vector>

#include <carom/compliant.hpp>

#include "compliant/body/compliant_array_body.hpp"
#include "compliant/body/world_body.hpp"

namespace carom {

/// Worlds between two chunks of steps, on the host; a backend takes them through `count` steps.
struct WorldStates {
  const models::Scenario* scenario = nullptr;
  kernels::WorldSizes sizes{};
  std::int64_t worlds = 0;
  std::vector<double> parameters;  ///< [worlds or 1, count]
  std::int64_t parameter_stride = 0;
  kernels::WorldSettings settings{};
  std::vector<double> position;  ///< [worlds, positions]
  std::vector<double> velocity;  ///< [worlds, velocities]
  std::vector<double> impulse;   ///< [worlds, rows], by slot
  std::vector<kernels::WorldRecord> record;
};

/// Runs the chunks of one call; the states are on the host whenever it returns from `advance`.
class WorldStepper {
 public:
  WorldStepper() = default;
  WorldStepper(const WorldStepper&) = delete;
  WorldStepper& operator=(const WorldStepper&) = delete;
  virtual ~WorldStepper() = default;
  virtual void advance(WorldStates& states, std::int64_t first, std::int64_t count) = 0;
};

/// Result arrays of `batch` in its memory space.
CompliantResult make_compliant_result(const CompliantBatch& batch);
/// Pointers into a batch and its result, whose memory the caller chose.
kernels::CompliantArrays compliant_arrays(const CompliantBatch& batch, CompliantResult& result);

kernels::CompliantOptions compliant_options(const CompliantBatch& batch,
                                            const CompliantSettings& settings);

/// The convex programme, by solve_qp on `backend`; host batches only.
CompliantResult solve_programme(const CompliantBatch& batch, const CompliantSettings& settings,
                                Backend backend);

namespace cpu {
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings);
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings);
}  // namespace cpu

namespace reference {
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings);
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings);
}  // namespace reference

namespace cuda {
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings);
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings);
}  // namespace cuda

}  // namespace carom
