#include <cstdlib>

#include "cpu/simd/compliant_range.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/lp_lane.hpp"
#include "cpu/simd/planar_search.hpp"
#include "cpu/simd/qp.hpp"
#include "cpu/simd/qp_settle.hpp"
#include "cpu/simd/support.hpp"

// Entry points of the instruction sets that a build with CAROM_NATIVE_ONLY has no code for: level()
// names none of them, so nothing calls these.
#define CAROM_LEAVE_OUT(set, Isa)                        \
  const InstructionSet k##Isa##Set{};                    \
  const SupportCode k##Isa##Support{};                   \
  const PlanarSearch kPlanar##Isa{};                     \
  const CompliantSet kCompliant##Isa{};                  \
  void solve_lps_##set(const LpRange&) { std::abort(); } \
  void solve_qps_##set(const QpRange&) { std::abort(); } \
  void settle_qp_##set(const kernels::QpTaskArrays&, long, bool, double*) { std::abort(); }

namespace carom::cpu::simd {

#if defined(CAROM_WITHOUT_generic)
CAROM_LEAVE_OUT(generic, Generic)
#endif
#if defined(CAROM_WITHOUT_avx2)
CAROM_LEAVE_OUT(avx2, Avx2)
#endif
#if defined(CAROM_WITHOUT_avx512)
CAROM_LEAVE_OUT(avx512, Avx512)
#endif

}  // namespace carom::cpu::simd
