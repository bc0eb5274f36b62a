#include <algorithm>

#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "stability/backends.hpp"
#include "stability/certify.hpp"
#include "stability/kernels/cascade.hpp"
#include "stability/prepare.hpp"

namespace carom::cuda {

namespace {

constexpr int kStanceThreads = 128;

struct StanceLaunch : kernels::stability::StabilityView {
  std::int64_t problems;
  std::int64_t first;  ///< index in the batch, which addresses random numbers
};

/// A thread judges stances in turn.
__global__ void __launch_bounds__(kStanceThreads)
    stance_kernel(const __grid_constant__ StanceLaunch launch) {
  for (std::int64_t p = Grid::global_thread(); p < launch.problems; p += Grid::global_threads()) {
    launch.solve(p, static_cast<std::uint32_t>(launch.first + p));
  }
}

}  // namespace

StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace) {
  const MemorySpace space = batch.force.space();
  auto result = allocate<StabilityResult>(batch, space);
  if (batch.problems == 0) return result;
  // Sines and cosines are the host's.
  const StanceBatch fetched =
      space == MemorySpace::host ? StanceBatch{} : batch.to(MemorySpace::host);
  const StanceBatch& here = space == MemorySpace::host ? batch : fetched;
  const Scratch<stability::StanceBlock> host(workspace);
  stability::PreparedStances& prepared = host->prepared;
  stability::prepare(here, settings.threads, prepared);
  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  const std::int64_t resident = resident_blocks(reinterpret_cast<const void*>(&stance_kernel),
                                                kStanceThreads, 0, device_limits());
  Staging staging(stream, batch.problems, &scratch->staging);
  StanceLaunch launch{};
  launch.settings = stability::cascade_settings(settings);
  staging.inputs(launch, prepared, batch);
  staging.results(launch, result, batch);
  staging.run([&](std::int64_t begin, std::int64_t count) {
    launch.first = begin;
    launch.problems = count;
    const std::int64_t blocks = (count + kStanceThreads - 1) / kStanceThreads;
    launch_kernel("stance_kernel", stance_kernel, {std::min(blocks, resident), kStanceThreads},
                  stream.get(), launch);
  });
  // Semidefinite programmes are the host's.
  if (space == MemorySpace::host) {
    stability::certify_undecided(here, prepared, settings, result);
    return result;
  }
  auto settled = allocate<StabilityResult>(batch);
  StabilityResult::each_array(
      batch,
      [](const char*, const Extents&, auto& to, const auto& from) {
        to = from.to(MemorySpace::host);
      },
      settled, result);
  stability::certify_undecided(here, prepared, settings, settled);
  StabilityResult::each_array(
      batch,
      [](const char*, const Extents&, auto& to, const auto& from) {
        to = from.to(MemorySpace::device);
      },
      result, settled);
  return result;
}

}  // namespace carom::cuda
