#pragma once

// What each backend offers to compliant steps. Shapes and settings were validated before.

#include <functional>
#include <memory>
#include <vector>

#include <carom/types/compliant.hpp>

#include "compliant/kernels/compliant_array.hpp"
#include "compliant/kernels/world.hpp"
#include "core/backends.hpp"

namespace carom {

/// A scenario (src/models/mechanisms) for those who step one world at a time: the functor's hooks.
class WorldModel {
 public:
  WorldModel(int tangent_rows, bool is_many, bool is_smooth)
      : tangents(tangent_rows), many(is_many), smooth(is_smooth) {}
  WorldModel(const WorldModel&) = delete;
  WorldModel& operator=(const WorldModel&) = delete;
  virtual ~WorldModel() = default;

  virtual void start(const double* parameters, double* q, double* v) const = 0;
  virtual bool direct(const double* parameters, double h, double* q, double* v) const = 0;
  virtual void evaluate(const double* parameters, double time, double h, const double* q,
                        const double* v, double* inverse_mass, double* force,
                        kernels::ConstraintRows& rows) const = 0;
  virtual void advance(const double* parameters, double h, double* q, const double* v) const = 0;
  virtual bool finished(const double* parameters, const double* q, const double* v) const = 0;
  virtual double energy(const double* parameters, const double* q, const double* v) const = 0;
  virtual double displacement(const double* parameters, const double* q) const = 0;

  const int tangents;  ///< as of ScenarioBase
  const bool many;
  const bool smooth;
};

const WorldModel& world_model(models::ScenarioKind kind);

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

/// Pointers into a batch and its result, whose memory the caller chose.
kernels::CompliantArrays compliant_arrays(const CompliantBatch& batch, CompliantResult& result);

/// Of the contact solver.
inline int contact_iterations(const CompliantSettings& settings) {
  return settings.max_iterations > 0 ? settings.max_iterations : 100;
}
kernels::CompliantOptions compliant_options(const CompliantBatch& batch,
                                            const CompliantSettings& settings);

/// The first number or row of a problem of a host batch that cannot be worked with.
std::optional<Refusal> problem_refusal(const CompliantBatch& batch, std::int64_t problem);
/// Whether there is none.
bool acceptable(const CompliantBatch& batch, std::int64_t problem);
/// Writes NaN and the status.
void refuse(const CompliantBatch& batch, std::int64_t problem, Status status,
            CompliantResult& result);

using SolveQp = std::function<QpResult(const QpBatch&, const QpSettings&)>;
/// The convex programme; host batches only.
CompliantResult solve_programme(const CompliantBatch& batch, const CompliantSettings& settings,
                                const SolveQp& solve_qp);

struct CompliantEntries {
  CompliantResult (*solve)(const CompliantBatch&, const CompliantSettings&, WorkspaceState*);
  std::unique_ptr<WorldStepper> (*make_stepper)(const CompliantSettings&, WorkspaceState*);
};

namespace cpu {
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                WorkspaceState* workspace = nullptr);
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings,
                                           WorkspaceState* workspace = nullptr);
template <>
const CompliantEntries& entries();
}  // namespace cpu

namespace reference {
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                WorkspaceState* workspace = nullptr);
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings,
                                           WorkspaceState* workspace = nullptr);
template <>
const CompliantEntries& entries();
}  // namespace reference

namespace cuda {
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                WorkspaceState* workspace = nullptr);
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings& settings,
                                           WorkspaceState* workspace = nullptr);
template <>
const CompliantEntries& entries();
}  // namespace cuda

}  // namespace carom
