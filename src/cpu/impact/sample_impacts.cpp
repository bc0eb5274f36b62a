#include "cpu/impact/impact_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "impact/backends.hpp"

namespace carom {

namespace cpu {

PilotCode pilot_code() {
  const simd::InstructionSet& set = simd::instruction_set();
  return {set.follow_pilots, set.build_entries, set.enumerate_pilots, set.order_conditions,
          simd::kLargestPadding};
}

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace) {
  const simd::InstructionSet& set = simd::instruction_set();
  const ImpactCode code{set.run_block, set.follow_events, set.follow_any_events};
  return batch.dimension == 2 ? drive_impacts<2>(batch, settings, true, code, workspace)
                              : drive_impacts<3>(batch, settings, true, code, workspace);
}

}  // namespace cpu

}  // namespace carom
