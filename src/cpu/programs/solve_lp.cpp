#include "cpu/programs/lp_driver.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom {

namespace cpu {

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start) {
#if defined(__x86_64__)
  const simd::Level level = simd::level();
  if (level == simd::Level::avx512) return drive_lp(batch, settings, start, simd::solve_lps_avx512);
  if (level == simd::Level::avx2) return drive_lp(batch, settings, start, simd::solve_lps_avx2);
#endif
  return drive_lp(batch, settings, start, simd::solve_lps_generic);
}

}  // namespace cpu

}  // namespace carom
