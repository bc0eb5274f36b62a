#pragma once

#include <algorithm>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/motion/run_motions.hpp"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "motion/body/any_mechanism.hpp"
#include "motion/body/motion_body.hpp"
#include "motion/prepare.hpp"

namespace carom::cuda {

constexpr int kMotionThreads = 64;

struct MotionLaunch : kernels::motion::MotionView {
  std::int64_t problems;
};

/// A thread simulates motions in turn.
template <int kDim>
__global__ void __launch_bounds__(kMotionThreads)
    motion_kernel(const __grid_constant__ MotionLaunch launch) {
  const std::int64_t motions = launch.problems * launch.samples;
  for (std::int64_t row = Grid::global_thread(); row < motions; row += Grid::global_threads()) {
    kernels::motion::simulate<kernels::motion::AnyMechanism<kDim>>(launch, static_cast<long>(row));
  }
}

template <int kDim>
void run_motions(const MotionBatch& batch, const MotionSettings& settings, MotionResult& result) {
  const Stream stream;
  const auto kernel = &motion_kernel<kDim>;
  const std::int64_t resident =
      resident_blocks(reinterpret_cast<const void*>(kernel), kMotionThreads, 0, device_limits());
  Staging staging(stream, batch.problems);
  MotionLaunch launch{};
  static_cast<kernels::motion::MotionView&>(launch) = motion::view_of(batch, settings, result);
  staging.inputs(launch.batch, batch, batch);
  staging.results(launch.result, result, result);
  staging.run([&](std::int64_t begin, std::int64_t count) {
    launch.first_problem = static_cast<long>(settings.first_problem + begin);
    launch.problems = count;
    const std::int64_t blocks = (count * settings.samples + kMotionThreads - 1) / kMotionThreads;
    launch_kernel("motion_kernel", kernel, {std::min(blocks, resident), kMotionThreads},
                  stream.get(), launch);
  });
}

}  // namespace carom::cuda
