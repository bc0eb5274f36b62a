#pragma once

#include "cuda/impact/sample_launch.hpp"
#include "cuda/runtime.hpp"
#include "impact/mode_entry.hpp"

/// Mode tables of all combinations, made on the device.
namespace carom::cuda {

/// Whether the device makes the tables of so many problems of this shape; the host makes the
/// others.
bool makes_tables(int dimension, int contacts, std::int64_t problems, const SamplePolicy& policy);

/// Doubles and ints that each table has room for.
struct TableRoom {
  long reals;
  long ints;
};
TableRoom complete_table_room(int contacts);

/// What a launch reads and writes.
struct CompleteTables {
  kernels::ImpactRun run;
  int problems;
  const double *delassus, *scale, *friction, *contact_velocity, *step_size;  ///< as ProblemArrays
  const std::uint8_t* valid;                                                 ///< [problems]
  TableRoom room;
  TableSlot* slots;  ///< [problems]
  double* numbers;   ///< [problems, room.reals]
  int* first;        ///< [problems, room.ints]
  int* sizes;        ///< [problems, 2]: doubles and ints in use
  // Memory of the warps, [warps, ..].
  double* reals;
  std::uint64_t* leading;
  long* longs;
  int* ints;
  ModeCodes* codes;
};

/// Memory of the warps, kept for the next call.
class CompleteTableMaker {
 public:
  /// `launch`: all but the memory of the warps, for which there are `bytes` (or what one needs).
  /// Errors: CudaError.
  void make(CompleteTables launch, std::size_t bytes, cudaStream_t stream);

 private:
  DeviceArray<double> reals_;
  DeviceArray<std::uint64_t> leading_;
  DeviceArray<long> longs_;
  DeviceArray<int> ints_;
  DeviceArray<ModeCodes> codes_;
};

}  // namespace carom::cuda
