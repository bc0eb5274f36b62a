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
class ImpactWorkspace;
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

/// One backend's entries. Their arguments were validated before (the families' backends.hpp).
struct BackendEntries {
  LcpResult (*solve_lcp)(const LcpBatch&, const LcpSettings&);
  LpResult (*solve_lp)(const LpBatch&, const LpSettings&, const Buffer<BasisStatus>* start);
  QpResult (*solve_qp)(const QpBatch&, const QpSettings&, const QpWarmStart&);
  StepResult (*solve_steps)(const StepBatch&, const StepSettings&);
  ImpactResult (*sample_impacts)(const ImpactBatch&, const ImpactSettings&, ImpactWorkspace&);
  PlanarResult (*planar_equilibrium)(const PostureBatch&, const PlanarSettings&);
  PlanarMargin (*planar_margins)(const PostureBatch&, const Buffer<double>& centre_of_mass,
                                 const PlanarSettings&);
  SupportResult (*support)(const PostureBatch&, std::span<const double> directions,
                           const SpatialSettings&);
  CompliantResult (*solve_compliant)(const CompliantBatch&, const CompliantSettings&);
  std::unique_ptr<WorldStepper> (*make_stepper)(const CompliantSettings&);
  StabilityResult (*analyse_stability)(const StanceBatch&, const StabilitySettings&);
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
