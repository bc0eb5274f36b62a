#pragma once

#include <cstddef>
#include <cstdint>

#include <carom/types/impact.hpp>

namespace carom::cuda {

/// Which sampling kernels run and with which chunk sizes. Plain numbers, so that a test or a
/// benchmark can set others; the answers do not depend on them.
struct SamplePolicy {
  bool tables = true;          ///< sample_by_tables first, where it has a kernel
  int thread_rows = 12;        ///< one thread a trajectory up to so many contact rows ...
  int thread_velocities = 12;  ///< ... and velocities, at most 12 each; one warp beyond
  int chunk = 1 << 22;         ///< trajectories of a chunk at most
  std::size_t chunk_bytes = std::size_t{1} << 31;     ///< device memory of a chunk at most
  std::size_t problem_bytes = std::size_t{1} << 30;   ///< of the problems that lie there at once
  std::size_t fallback_bytes = std::size_t{1} << 29;  ///< of the workers that can fall back
};

/// sample_impacts with another policy. Errors: as sample_impacts, and BackendUnavailable.
ImpactResult sample_impacts_with(const ImpactBatch& batch, const ImpactSettings& settings,
                                 const SamplePolicy& policy, WorkspaceState* workspace = nullptr);

}  // namespace carom::cuda
