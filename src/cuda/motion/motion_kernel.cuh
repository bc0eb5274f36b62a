#pragma once

#include <algorithm>

#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/motion/run_motions.hpp"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "motion/kernels/any_mechanism.hpp"
#include "motion/kernels/motion.hpp"
#include "motion/prepare.hpp"

namespace carom::cuda {

constexpr int kMotionThreads = 64;

struct MotionLaunch : kernels::motion::MotionView {
  std::int64_t begin, end;  ///< problems of the piece on the device
};

/// A thread simulates motions in turn.
template <int kDim>
__global__ void __launch_bounds__(kMotionThreads)
    motion_kernel(const __grid_constant__ MotionLaunch launch) {
  const std::int64_t end = launch.end * launch.samples;
  for (std::int64_t row = launch.begin * launch.samples + Grid::global_thread(); row < end;
       row += Grid::global_threads()) {
    kernels::motion::simulate<kernels::motion::AnyMechanism<kDim>>(launch, static_cast<long>(row));
  }
}

template <int kDim>
void run_motions(const MotionBatch& batch, const MotionSettings& settings, FirstImpacts& first,
                 MotionResult& result, WorkspaceState* workspace) {
  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  const auto kernel = &motion_kernel<kDim>;
  const std::int64_t resident =
      resident_blocks(reinterpret_cast<const void*>(kernel), kMotionThreads, 0, device_limits());
  Staging staging(stream, batch.problems, &scratch->staging);
  MotionLaunch launch{};
  static_cast<kernels::motion::MotionView&>(launch) = motion::view_of(batch, settings, result);
  staging.inputs(launch.batch, batch, batch);
  staging.results(launch.result, result, result);
  staging.run([&](std::int64_t begin, std::int64_t count) {
    launch.first_problem = static_cast<long>(settings.first_problem + begin);
    for (launch.begin = 0; launch.begin < count; launch.begin = launch.end) {
      launch.end = first.upload(begin + launch.begin, begin + count, launch, stream.get()) - begin;
      launch.first_of -= static_cast<long>(begin);
      const std::int64_t motions = (launch.end - launch.begin) * settings.samples;
      const std::int64_t blocks = (motions + kMotionThreads - 1) / kMotionThreads;
      launch_kernel("motion_kernel", kernel, {std::min(blocks, resident), kMotionThreads},
                    stream.get(), launch);
    }
  });
}

}  // namespace carom::cuda
