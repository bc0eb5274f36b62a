#include "cpu/programs/lp_driver.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom {

namespace cpu {

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace) {
  return drive_lp(batch, settings, start, simd::instruction_set().solve_lps, workspace);
}

}  // namespace cpu

}  // namespace carom
