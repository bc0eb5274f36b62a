#include "cpu/programs/lp_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/lp/backends.hpp"

namespace carom {

namespace cpu {

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace) {
  return drive_lp(batch, settings, start, simd::instruction_set().solve_lps, workspace);
}

template <>
const LpEntries& entries() {
  static constexpr LpEntries kEntries{solve_lp};
  return kEntries;
}

}  // namespace cpu

}  // namespace carom
