#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <carom/impact.hpp>

#include "cuda/impact/sample_launch.hpp"
#include "cuda/runtime.hpp"
#include "impact/body/impact_body.hpp"
#include "impact/mode_table.hpp"

namespace carom::cuda {

/// The problems of a batch, prepared and on the device.
///
/// A host batch is prepared on the host, so that its trajectories are the cpu backend's bit for
/// bit. A device batch is prepared on the device with cuSOLVER and cuBLAS, whose sums round
/// differently; there psi of Algorithm 2 takes the Frobenius norm of M^-1 Jbar' for its largest
/// singular value. That is an upper bound, so the closing step stays within epsilon / 3, only
/// shorter.
class ProblemStore {
 public:
  ProblemStore();
  ~ProblemStore();

  /// Errors: CudaError; InvalidInput where BadProblem::refuse meets a mass matrix that cuSOLVER
  /// cannot factorise.
  void prepare(const ImpactBatch& batch, const ImpactSettings& settings,
               const kernels::ImpactRun& run, cudaStream_t stream);

  /// With the narrow tables.
  [[nodiscard]] const ProblemArrays& arrays() const { return arrays_; }
  /// With the wide tables of problems [first, first + count), until the next call. Waits for
  /// `stream`.
  ProblemArrays widened(std::int64_t first, std::int64_t count, cudaStream_t stream);
  [[nodiscard]] bool valid(std::int64_t p) const {
    return valid_[static_cast<std::size_t>(p)] != 0;
  }

 private:
  struct Handles;
  struct Tables;
  /// What tables are built from, [problems, ..] each, and the device's copy of them.
  struct TableSource {
    int dimension = 0, contacts = 0;
    kernels::ImpactRun run{};
    std::vector<double> delassus, scale, friction, contact_velocity;
  };
  struct DeviceTables {
    DeviceArray<TableSlot> slots;
    DeviceArray<double> numbers;
    DeviceArray<int> first;
  };

  void from_host(const ImpactBatch& batch, const ImpactSettings& settings,
                 const kernels::ImpactRun& run, cudaStream_t stream);
  void from_device(const ImpactBatch& batch, const ImpactSettings& settings,
                   const kernels::ImpactRun& run, cudaStream_t stream);
  /// Builds and uploads the tables of problems [first, first + count) and points `arrays` to them.
  void tabulate(std::int64_t first, std::int64_t count, TableBreadth breadth, DeviceTables& to,
                ProblemArrays& arrays, cudaStream_t stream);
  void factorise(int nv, int rows, int problems, cudaStream_t stream);

  ProblemArrays arrays_{};
  std::vector<std::uint8_t> valid_;
  std::unique_ptr<Handles> handles_;
  DeviceArray<double> mass_, jacobian_, response_, delassus_, scale_, friction_, velocity_;
  DeviceArray<double> contact_velocity_, energy_, closing_;
  TableSource source_;
  DeviceTables narrow_, wide_;
  // of the preparation on the device
  DeviceArray<double> factor_, solution_, product_;
  DeviceArray<double*> factor_pointers_, solution_pointers_;
  DeviceArray<int> info_;
  DeviceArray<std::uint8_t> device_valid_;
};

}  // namespace carom::cuda
