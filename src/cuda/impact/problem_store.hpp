#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/impact.hpp>

#include "cuda/impact/host_problems.hpp"
#include "cuda/impact/sample_launch.hpp"
#include "cuda/libraries.hpp"
#include "cuda/runtime.hpp"
#include "impact/accumulate.hpp"
#include "impact/kernels/impact.hpp"

namespace carom::cuda {

/// A piece of a batch's problems, prepared and on the device.
///
/// A host batch is prepared on the host, so that its trajectories are the cpu backend's bit for
/// bit. A device batch is prepared on the device with cuSOLVER and cuBLAS, whose sums round
/// differently.
class ProblemStore {
 public:
  /// Errors: CudaError.
  void take(const HostProblems& piece, cudaStream_t stream);

  /// Looks at problems [begin, end) of a device batch, on the device. Errors: CudaError;
  /// InvalidInput for the first whose numbers are refused, under BadProblem::refuse.
  void screen(const ImpactBatch& batch, const ImpactSettings& settings,
              const kernels::ImpactRun& run, std::int64_t begin, std::int64_t end,
              cudaStream_t stream);

  /// Problems [begin, end) of a device batch. Errors: as of screen.
  void prepare(const ImpactBatch& batch, const ImpactSettings& settings,
               const kernels::ImpactRun& run, std::int64_t begin, std::int64_t end,
               cudaStream_t stream);

  /// With the tables of that breadth, if there are.
  [[nodiscard]] ProblemArrays arrays(TableBreadth breadth) const;
  /// Of problem p of the batch.
  [[nodiscard]] bool valid(std::int64_t p) const { return valid_[place(p)] != 0; }
  [[nodiscard]] StoreKind stores(std::int64_t p) const { return stores_[place(p)]; }
  [[nodiscard]] ProblemFacts facts(std::int64_t p) const { return facts_[place(p)]; }
  /// One after the last.
  [[nodiscard]] std::int64_t end() const {
    return arrays_.first + static_cast<std::int64_t>(valid_.size());
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t p) const {
    return static_cast<std::size_t>(p - arrays_.first);
  }
  struct DeviceTables {
    DeviceArray<TableSlot> slots;
    DeviceArray<double> numbers;
    DeviceArray<int> first;
    int reals = 0, ints = 0;

    void upload(const PackedTables& tables, cudaStream_t stream);
  };

  void take(const BreadthTables& tables, cudaStream_t stream);
  void take_intervals(const ImpactBatch& batch, cudaStream_t stream);
  void factorise(int nv, int rows, int problems, const LibraryHandles& handles);

  ProblemArrays arrays_{};
  std::vector<std::uint8_t> valid_;
  std::vector<StoreKind> stores_;
  std::vector<ProblemFacts> facts_;
  DeviceArray<double> mass_, jacobian_, response_, delassus_, scale_, friction_, velocity_;
  DeviceArray<double> contact_velocity_, energy_, step_size_, closing_;
  DeviceArray<double> restitution_low_, restitution_high_, friction_high_;
  DeviceTables narrow_, wide_;
  // of the preparation on the device
  DeviceArray<double> contact_speed_, epsilon_;
  DeviceArray<double> factor_, solution_, product_;
  DeviceArray<double*> factor_pointers_, solution_pointers_;
  DeviceArray<int> info_;
  DeviceArray<std::uint8_t> device_valid_;
};

}  // namespace carom::cuda
