#pragma once

#include <algorithm>

#include "cuda/impact/sample_launch.hpp"
#include "cuda/launch.cuh"

/// Passes whose workers, warps or threads, have a piece of global memory each.
namespace carom::cuda {

template <int Dim>
struct WorkerSize {
  long reals;  ///< of the trajectory and its path
  long ints;
  long fallback_reals;
  long fallback_ints;

  static WorkerSize of(const kernels::ImpactRun& run) {
    const int order = kernels::step_lcp_order<Dim>(run.contacts, run.polygon.count);
    return {kernels::ImpactScratch<Dim>::real_count(run.velocities, run.contacts),
            kernels::ImpactScratch<Dim>::int_count(run.contacts),
            order + kernels::lemke_real_workspace(order), kernels::lemke_int_workspace(order)};
  }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(reals) * sizeof(double) +
           static_cast<std::size_t>(ints) * sizeof(int);
  }
  [[nodiscard]] std::size_t fallback_bytes() const {
    return static_cast<std::size_t>(fallback_reals) * sizeof(double) +
           static_cast<std::size_t>(fallback_ints) * sizeof(int);
  }
};

/// Workers that run at once: no more than are resident, than there is work for and than the memory
/// for their fallback allows.
inline int workers(int resident, int work, std::size_t bytes_each, std::size_t bytes_allowed) {
  const std::size_t affordable = std::max<std::size_t>(1, bytes_allowed / bytes_each);
  const std::size_t wanted = static_cast<std::size_t>(std::max(1, std::min(resident, work)));
  return static_cast<int>(std::min(wanted, affordable));
}

inline constexpr int kWorkerThreads = 64;  ///< of a block

/// Scratch of this thread, one of those that launch_threads starts.
template <int Dim>
CAROM_INLINE kernels::ImpactScratch<Dim> thread_scratch(const SampleLaunch& launch,
                                                        const FallbackMemory& memory,
                                                        const WorkerSize<Dim>& size,
                                                        long outcomes) {
  const long worker = Grid::global_thread();
  double* reals = memory.reals + worker * (size.reals + size.fallback_reals);
  int* ints = memory.ints + worker * (size.ints + size.fallback_ints);
  kernels::ImpactScratch<Dim> scratch =
      kernels::ImpactScratch<Dim>::carve(launch.run.velocities, launch.run.contacts, reals, ints);
  scratch.fallback_reals = reals + size.reals;
  scratch.fallback_ints = ints + size.ints;
  if (outcomes > 0) scratch.outcomes = memory.outcomes + worker * outcomes;
  return scratch;
}

/// One thread a trajectory. outcomes: numbers for Selection::random, 0 elsewhere.
template <int Dim, class Kernel>
void launch_threads(const char* name, Kernel kernel, long outcomes, const SampleLaunch& launch,
                    const SamplePolicy& policy, DeviceArray<double>& reals, DeviceArray<int>& ints,
                    cudaStream_t stream) {
  const WorkerSize<Dim> size = WorkerSize<Dim>::of(launch.run);
  const int resident =
      resident_blocks(reinterpret_cast<const void*>(kernel), kWorkerThreads, 0, device_limits());
  const std::size_t bytes_each =
      kWorkerThreads *
      (size.bytes() + size.fallback_bytes() + static_cast<std::size_t>(outcomes) * sizeof(double));
  const int blocks = workers(resident, (launch.chunk.slots() + kWorkerThreads - 1) / kWorkerThreads,
                             bytes_each, policy.fallback_bytes);
  const long threads = static_cast<long>(blocks) * kWorkerThreads;
  const long reals_each = size.reals + size.fallback_reals;
  FallbackMemory memory{};
  memory.reals =
      reals.reserve(static_cast<std::size_t>(std::max(1L, threads * (reals_each + outcomes))));
  memory.outcomes = memory.reals + threads * reals_each;
  memory.ints = ints.reserve(static_cast<std::size_t>(threads * (size.ints + size.fallback_ints)));
  launch_kernel(name, kernel, {blocks, kWorkerThreads}, stream, launch, memory, size, outcomes);
}

}  // namespace carom::cuda
