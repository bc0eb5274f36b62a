#include <algorithm>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "programs/sliders/backends.hpp"
#include "programs/sliders/kernels/sliders.hpp"

namespace carom::cuda {

namespace {

constexpr int kSliderThreads = 128;

struct SliderLaunch : kernels::SliderView {
  std::int64_t problems;
};

/// A thread solves problems in turn.
__global__ void __launch_bounds__(kSliderThreads)
    slider_kernel(const __grid_constant__ SliderLaunch launch) {
  for (std::int64_t p = Grid::global_thread(); p < launch.problems; p += Grid::global_threads()) {
    launch.solve(p);
  }
}

}  // namespace

SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings) {
  auto result = allocate<SliderResult>(batch, batch.mass.space());
  if (batch.problems == 0) return result;
  const Stream stream;
  const std::int64_t resident = resident_blocks(reinterpret_cast<const void*>(&slider_kernel),
                                                kSliderThreads, 0, device_limits());
  Staging staging(stream, batch.problems);
  SliderLaunch launch{};
  launch.tolerance = settings.tolerance;
  staging.inputs(launch, batch, batch);
  staging.results(launch, result, batch);
  staging.run([&](std::int64_t, std::int64_t count) {
    launch.problems = count;
    const std::int64_t blocks = (count + kSliderThreads - 1) / kSliderThreads;
    launch_kernel("slider_kernel", slider_kernel, {std::min(blocks, resident), kSliderThreads},
                  stream.get(), launch);
  });
  return result;
}

template <>
const SliderEntries& entries() {
  static constexpr SliderEntries kEntries{solve_sliders};
  return kEntries;
}

}  // namespace carom::cuda
