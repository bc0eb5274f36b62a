#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/impact.hpp>

#include "cuda/impact/sample_launch.hpp"
#include "cuda/runtime.hpp"
#include "impact/accumulate.hpp"

namespace carom::cuda {

/// What the trajectories of one problem did within a chunk.
struct ProblemTotals {
  ImpactSummary summary;     ///< ranges are infinite where no sample terminated
  SummedBooks books;         ///< without stores: none
  std::int64_t dropped = 0;  ///< neither failed nor in the net
  [[nodiscard]] std::int64_t in_net() const { return summary.samples - summary.failed - dropped; }
};

/// Sums a chunk up on the device; what reaches the host does not grow with the number of samples.
class ChunkSummary {
 public:
  /// Totals of the chunk's problems, in order. Waits for the stream.
  std::vector<ProblemTotals> run(int dimension, const SampleLaunch& launch, StoreKind stores,
                                 cudaStream_t stream);

  /// Device bytes needed for each problem of a chunk.
  static std::size_t bytes_per_problem(int velocities, int contact_rows);

 private:
  void count_modes(const SampleLaunch& launch, std::vector<ProblemTotals>& totals,
                   cudaStream_t stream);
  void sum_books(const SampleLaunch& launch, std::vector<ProblemTotals>& totals,
                 cudaStream_t stream);

  DeviceArray<double> ranges_;
  DeviceArray<std::int64_t> counts_;
  DeviceArray<std::uint64_t> keys_, sorted_, unique_;
  DeviceArray<int> lengths_;
  DeviceArray<int> runs_;
  DeviceArray<char> temporary_;
};

}  // namespace carom::cuda
