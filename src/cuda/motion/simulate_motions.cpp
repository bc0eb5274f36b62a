#include <vector>

#include "core/arrays.hpp"
#include "cuda/motion/run_motions.hpp"
#include "motion/backends.hpp"
#include "motion/mechanisms.hpp"
#include "motion/prepare.hpp"

namespace carom::cuda {

namespace {

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

MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              WorkspaceState* workspace) {
  MotionResult result = motion::empty_result(batch, settings, batch.parameters.space());
  if (batch.problems == 0) return result;
  const bool here = batch.parameters.space() == MemorySpace::host;
  const MotionBatch copy = here ? MotionBatch() : batch.to(MemorySpace::host);
  const MotionBatch& host = here ? batch : copy;
  FirstImpacts first(host, settings);
  if (motion::dimension_of(batch.mechanism) == 2) {
    run_motions<2>(batch, settings, first, result, workspace);
  } else {
    run_motions<3>(batch, settings, first, result, workspace);
  }
  mark(host, result);
  return result;
}

}  // namespace carom::cuda
