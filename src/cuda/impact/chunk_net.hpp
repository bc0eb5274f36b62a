#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/impact/sample_launch.hpp"
#include "cuda/runtime.hpp"
#include "impact/epsilon_net.hpp"

namespace carom::cuda {

/// A sample that stands for all samples of a chunk that share its problem and its net cell.
struct NetPoint {
  int problem;          ///< within the chunk
  std::int64_t sample;  ///< absolute, the lowest of the cell
  std::int64_t multiplicity;
  std::uint64_t modes;
  const double* velocity;  ///< [nv]
  const double* impulse;   ///< [rows]
};

/// Cells of one problem's net, as NetBuilder has them.
struct NetCells {
  double edge;  ///< of the cubes of level 0
  int level;
};

/// Thins a chunk on the device to one sample a net cell. Two cells whose keys collide may come out
/// in several points each, which NetBuilder joins again.
class ChunkNet {
 public:
  /// Passes every point on. `cells`: of each problem of the chunk; `in_net`: slots of the chunk
  /// that have a net velocity. Waits for the stream.
  void run(int dimension, const SampleLaunch& launch, const std::vector<NetCells>& cells,
           std::int64_t in_net, cudaStream_t stream,
           const std::function<void(const NetPoint&)>& take);

 private:
  DeviceArray<std::uint64_t> keys_, sorted_keys_;
  DeviceArray<int> slots_, sorted_slots_, heads_;
  DeviceArray<std::uint8_t> flags_;
  DeviceArray<int> selected_;
  DeviceArray<char> temporary_;
  DeviceArray<double> velocity_, impulse_;
  DeviceArray<std::uint64_t> modes_;
  DeviceArray<NetCells> cells_;
  DeviceArray<int> slot_of_, multiplicity_;
};

}  // namespace carom::cuda
