// GCC 12 takes its own intrinsics' undefined operands for mistakes of the caller.
#pragma GCC diagnostic ignored "-Wuninitialized"

#include "cpu/simd/lp_lane.hpp"
#include "cpu/simd/pack_avx512.hpp"

namespace carom::cpu::simd {

template <>
struct Joined<Avx512> {
  using Pack = Avx512::Pack;

  static CAROM_INLINE kernels::ArgMin<double> first_smallest(Pack best, Pack place) {
    const double key = -largest(-best);
    unsigned equal = (best <= Pack(key)).bits();
    if (!(key < kernels::kInfinity)) return {key, -1};
    alignas(64) double places[Avx512::kWidth];
    place.store(places);
    int index = -1;
    do {
      const int lane = __builtin_ctz(equal);
      const int candidate = static_cast<int>(places[lane]) + lane;
      if (index < 0 || candidate < index) index = candidate;
      equal &= equal - 1;
    } while (equal != 0U);
    return {key, index};
  }
  static CAROM_INLINE Pack first_of(const double* from, int count) {
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << count) - 1U), from);
  }
  static CAROM_INLINE double largest(Pack values) {
    const __m256d four = _mm256_max_pd(low(values), high(values));
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static CAROM_INLINE double sum(const Pack* parts) {
    const __m256d four = _mm256_add_pd(low(*parts), high(*parts));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  static CAROM_INLINE __m256d low(Pack x) { return _mm512_maskz_extractf64x4_pd(0xf, x.value, 0); }
  static CAROM_INLINE __m256d high(Pack x) { return _mm512_maskz_extractf64x4_pd(0xf, x.value, 1); }
};

void solve_lps_avx512(const LpRange& range) { solve_lp_range(LpLane<Avx512>{}, range); }

}  // namespace carom::cpu::simd
