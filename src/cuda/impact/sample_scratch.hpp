#pragma once

#include "core/workspace.hpp"
#include "cuda/impact/chunk_net.hpp"
#include "cuda/impact/chunk_summary.hpp"
#include "cuda/impact/problem_store.hpp"
#include "cuda/impact/sample_launch.hpp"
#include "cuda/runtime.hpp"

namespace carom::cuda {

/// Arrays of one chunk's trajectories.
class ChunkArrays {
 public:
  /// Device bytes of one slot, summary and net included. stored: contacts with an energy balance.
  static std::size_t bytes_per_slot(int velocities, int contact_rows, bool net, int stored);

  TrajectoryArrays reserve(int slots, int velocities, int contact_rows, bool net, int stored);

  /// Room for `paths` whole paths.
  double* reserve_paths(std::size_t reals) { return path_.reserve(reals); }

 private:
  DeviceArray<double> velocity_, contact_velocity_, impulse_, closed_velocity_, closed_impulse_;
  DeviceArray<double> residual_, energy_ratio_, path_;
  DeviceArray<double> restitution_, friction_, put_by_, released_, lost_compression_,
      lost_friction_;
  DeviceArray<std::uint64_t> modes_, net_modes_;
  DeviceArray<std::int32_t> steps_, fallback_, pivots_, nonunique_, examined_;
  DeviceArray<TrajectoryStatus> status_;
  DeviceArray<std::uint8_t> in_net_, ended_by_;
};

/// What a workspace keeps between calls on one device.
struct SampleScratch : ScratchBlock {
  explicit SampleScratch(int device_index) : device(device_index) {}

  int device;
  Stream stream;
  ProblemStore problems;
  ChunkArrays chunk;
  ChunkSummary summary;
  ChunkNet net;
  DeviceArray<std::uint64_t> sobol;
  DeviceArray<double> event_modes;
  DeviceArray<unsigned char> event_known;
  DeviceArray<int> unfinished, unfinished_count;
  DeviceArray<double> fallback_reals;
  DeviceArray<int> fallback_ints;
};

}  // namespace carom::cuda
