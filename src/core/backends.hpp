#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>

// What the backends offer and say of themselves, and the device's memory.
namespace carom {

enum class BasisStatus : std::uint8_t;
class WorldStepper;
struct CompliantBatch;
struct CompliantResult;
struct CompliantSettings;
struct ImpactBatch;
struct ImpactResult;
struct ImpactSettings;
struct LcpBatch;
struct LcpResult;
struct LcpSettings;
struct LpBatch;
struct LpResult;
struct LpSettings;
struct MotionBatch;
struct MotionResult;
struct MotionSettings;
struct PlanarMargin;
struct PlanarResult;
struct PlanarSettings;
struct PostureBatch;
struct QpBatch;
struct QpResult;
struct QpSettings;
struct QpWarmStart;
struct SpatialSettings;
struct StabilityResult;
struct StabilitySettings;
struct StanceBatch;
struct StepBatch;
struct StepResult;
struct StepSettings;
struct SupportResult;
struct WorkspaceState;

/// One backend's entries. Their arguments were validated before (the families' backends.hpp); the
/// last is the workspace that the call has leased (core/workspace.hpp), or null.
struct BackendEntries {
  LcpResult (*solve_lcp)(const LcpBatch&, const LcpSettings&, WorkspaceState*);
  LpResult (*solve_lp)(const LpBatch&, const LpSettings&, const Buffer<BasisStatus>* start,
                       WorkspaceState*);
  QpResult (*solve_qp)(const QpBatch&, const QpSettings&, const QpWarmStart&, WorkspaceState*);
  StepResult (*solve_steps)(const StepBatch&, const StepSettings&, WorkspaceState*);
  ImpactResult (*sample_impacts)(const ImpactBatch&, const ImpactSettings&, WorkspaceState*);
  PlanarResult (*planar_equilibrium)(const PostureBatch&, const PlanarSettings&, WorkspaceState*);
  PlanarMargin (*planar_margins)(const PostureBatch&, const Buffer<double>& centre_of_mass,
                                 const PlanarSettings&, WorkspaceState*);
  SupportResult (*support)(const PostureBatch&, std::span<const double> directions,
                           const SpatialSettings&, WorkspaceState*);
  CompliantResult (*solve_compliant)(const CompliantBatch&, const CompliantSettings&,
                                     WorkspaceState*);
  std::unique_ptr<WorldStepper> (*make_stepper)(const CompliantSettings&, WorkspaceState*);
  StabilityResult (*analyse_stability)(const StanceBatch&, const StabilitySettings&,
                                       WorkspaceState*);
  /// Null where a backend has none.
  MotionResult (*simulate_motions)(const MotionBatch&, const MotionSettings&,
                                   WorkspaceState*) = nullptr;
};

/// `chosen` is not automatic, and cuda only where a device was found: what `resolve` returns.
const BackendEntries& entries(Backend chosen);

namespace cpu {
const BackendEntries& entries();
std::string_view instruction_set();
}  // namespace cpu
namespace reference {
const BackendEntries& entries();
}
namespace cuda {
struct Device {
  BackendEntries entries;
  std::vector<DeviceInfo> (*devices)();
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* data) noexcept;
  void (*copy)(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
               std::size_t bytes);
};
inline constexpr const char* kWithoutCuda =
    "backend cuda: carom was built without CUDA; use cpu or reference";
/// Null where carom was built without CUDA.
const Device* device();
}  // namespace cuda

}  // namespace carom
