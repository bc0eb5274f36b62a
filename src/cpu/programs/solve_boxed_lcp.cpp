#include "cpu/programs/boxed_driver.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/lcp/boxed_backends.hpp"

namespace carom::cpu {

BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, WorkspaceState* workspace) {
  const simd::BoxCode code = simd::box_code(simd::instruction_set());
  return drive_boxed_lcp(batch, settings, frictions, code.solve, code.follow, workspace);
}

template <>
const BoxedLcpEntries& entries() {
  static constexpr BoxedLcpEntries kEntries{solve_boxed_lcp};
  return kEntries;
}

}  // namespace carom::cpu
