#pragma once

#include <functional>
#include <vector>

#include <carom/types/impact.hpp>

#include "cuda/devices.hpp"
#include "impact/accumulate.hpp"

/// Impacts on several devices.
namespace carom::cuda {

/// What a shard of a call's samples leaves to be joined, [problems].
struct SampleShard {
  std::vector<ImpactAccumulator> sums;
  std::vector<std::vector<std::vector<double>>> paths;  ///< of the shard's kept ones
  std::vector<kernels::PathRow> rows;                   ///< of those paths
};

/// One call on one device; the shard is null where all samples of the part are its own.
using SolveShard = std::function<ImpactResult(const ImpactBatch&, const ImpactSettings&,
                                              WorkspaceState*, SampleShard*)>;

/// The call on the chosen devices: by problems where there are enough, else by samples. Batch and
/// rows in host memory.
ImpactResult sample_divided(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace, const SolveShard& solve);

}  // namespace carom::cuda
