#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/motion.hpp>

#include "cuda/runtime.hpp"
#include "motion/first_impact.hpp"
#include "motion/kernels/motion_view.hpp"

namespace carom::cuda {

/// The first impacts of a run's problems, prepared on the host as the cpu's are, and on the device
/// a piece at a time.
class FirstImpacts {
 public:
  /// The host's batch outlives it.
  FirstImpacts(const MotionBatch& batch, const MotionSettings& settings);

  /// Those of problem `first` and some after it, `end` at most: into `view`, until the next call.
  /// Waits for what `stream` does. Returns where they end.
  std::int64_t upload(std::int64_t first, std::int64_t end, kernels::motion::MotionView& view,
                      cudaStream_t stream);

 private:
  /// One first impact's arrays, one after the other; pointers are offsets into them.
  struct Packed {
    kernels::motion::FirstImpact first{};
    std::vector<char> bytes;
  };
  struct OnDevice {
    DeviceArray<kernels::motion::FirstImpact> firsts;
    DeviceArray<char> bytes;
  };

  [[nodiscard]] std::vector<Packed> prepare(std::int64_t first, std::int64_t end,
                                            std::int64_t sample) const;
  [[nodiscard]] motion::FirstImpactShape shape() const;
  const kernels::motion::FirstImpact* place(std::vector<Packed> problems, OnDevice& to,
                                            cudaStream_t stream) const;

  const MotionBatch& batch_;
  const MotionSettings& settings_;
  bool wanted_;
  OnDevice narrow_, wide_;
};

}  // namespace carom::cuda
