#include <algorithm>
#include <vector>

#include "core/arrays.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "motion/backends.hpp"
#include "motion/body/motion_body.hpp"
#include "motion/mechanisms.hpp"
#include "motion/prepare.hpp"

namespace carom::cuda {

namespace {

constexpr int kMotionThreads = 64;

struct MotionLaunch : kernels::motion::MotionView {
  std::int64_t problems;
  std::int64_t first;  ///< index in the batch, which addresses random numbers
};

/// A thread simulates motions in turn.
template <class T>
__global__ void __launch_bounds__(kMotionThreads)
    motion_kernel(const __grid_constant__ MotionLaunch launch) {
  const std::int64_t motions = launch.problems * launch.samples;
  for (std::int64_t row = Grid::global_thread(); row < motions; row += Grid::global_threads()) {
    kernels::motion::simulate<T>(launch, static_cast<long>(row), static_cast<long>(launch.first));
  }
}

template <class T>
void run(const MotionBatch& batch, const MotionSettings& settings, MotionResult& result) {
  const Stream stream;
  const auto kernel = &motion_kernel<T>;
  const std::int64_t resident =
      resident_blocks(reinterpret_cast<const void*>(kernel), kMotionThreads, 0, device_limits());
  Staging staging(stream, batch.problems);
  MotionLaunch launch{};
  static_cast<kernels::motion::MotionView&>(launch) = motion::view_of(batch, settings, result);
  staging.inputs(launch.batch, batch, batch);
  staging.results(launch.result, result, result);
  staging.run([&](std::int64_t begin, std::int64_t count) {
    launch.first = begin;
    launch.problems = count;
    const std::int64_t blocks = (count * settings.samples + kMotionThreads - 1) / kMotionThreads;
    launch_kernel("motion_kernel", kernel, {std::min(blocks, resident), kMotionThreads},
                  stream.get(), launch);
  });
}

/// Problems whose numbers are refused, by the host's checks.
void mark(const MotionBatch& batch, MotionResult& result) {
  std::vector<std::int64_t> refused;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (!motion::refused(batch, p).field.empty()) refused.push_back(p);
  }
  if (refused.empty()) return;
  const MemorySpace space = result.end.space();
  MotionResult host = copy_to(result, MemorySpace::host);
  for (const std::int64_t p : refused) motion::mark_refused(host, p);
  result = copy_to(host, space);
}

}  // namespace

MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings) {
  MotionResult result = motion::empty_result(batch, settings, batch.parameters.space());
  if (batch.problems == 0) return result;
  motion::with_mechanism(batch.mechanism, [&]<class T>() { run<T>(batch, settings, result); });
  mark(batch.to(MemorySpace::host), result);
  return result;
}

}  // namespace carom::cuda
