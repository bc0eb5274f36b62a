#include "cpu/programs/boxed_driver.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/lcp/boxed_backends.hpp"

namespace carom::cpu {

namespace {

/// Eight boxes of more unknowns leave the second-level cache, four do not.
constexpr int kMostInWidest = 56;

/// The instruction set whose packs take boxes of order m best.
const simd::InstructionSet& set_for(int m) {
  const simd::InstructionSet& widest = simd::instruction_set();
  if (m <= kMostInWidest) return widest;
  for (const simd::InstructionSet* set : simd::instruction_sets()) {
    if (set->name == "avx2") return *set;
  }
  return widest;
}

}  // namespace

BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, WorkspaceState* workspace) {
  const auto solve = simd::box_code(set_for(batch.order + 2 * frictions)).solve;
  const auto follow = simd::box_code(simd::instruction_set()).follow;
  return drive_boxed_lcp(batch, settings, frictions, solve, follow, workspace);
}

template <>
const BoxedLcpEntries& entries() {
  static constexpr BoxedLcpEntries kEntries{solve_boxed_lcp};
  return kEntries;
}

}  // namespace carom::cpu
