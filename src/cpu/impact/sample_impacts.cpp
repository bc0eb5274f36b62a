#include "cpu/impact/impact_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "impact/backends.hpp"

namespace carom {

namespace cpu {

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace) {
  const simd::InstructionSet& set = simd::instruction_set();
  const ImpactCode code{set.run_block, set.follow_events, set.follow_any_events};
  return batch.dimension == 2 ? drive_impacts<2>(batch, settings, true, code, workspace)
                              : drive_impacts<3>(batch, settings, true, code, workspace);
}

template <>
const ImpactEntries& entries() {
  static constexpr ImpactEntries kEntries{solve_steps, sample_impacts};
  return kEntries;
}

}  // namespace cpu

}  // namespace carom
