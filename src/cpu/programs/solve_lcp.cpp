#include "cpu/programs/lcp_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/lcp/backends.hpp"

namespace carom::cpu {

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, WorkspaceState* workspace) {
  return drive_lcp(batch, settings, simd::instruction_set().solve_lcps, workspace);
}

template <>
const LcpEntries& entries() {
  static constexpr LcpEntries kEntries{solve_lcp};
  return kEntries;
}

}  // namespace carom::cpu
