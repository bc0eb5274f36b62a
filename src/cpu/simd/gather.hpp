#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <carom/device/host_device.hpp>

namespace carom::cpu::simd {

/// to[i, lane] = from[at[lane] + i stride] for i in [0, count), for the lanes of each width.
template <int Width>
CAROM_INLINE void gather_rows(const double* from, const std::int64_t* at, long stride, int count,
                              double* to) {
#if defined(__AVX512F__)
  if constexpr (Width == 8) {
    __m512i place = _mm512_loadu_si512(at);
    const __m512i next = _mm512_set1_epi64(stride);
    for (int i = 0; i < count; ++i) {
      _mm512_storeu_pd(to + 8L * i, _mm512_i64gather_pd(place, from, 8));
      place = _mm512_add_epi64(place, next);
    }
    return;
  }
#endif
  for (int lane = 0; lane < Width; ++lane) {
    const double* source = from + at[lane];
    double* target = to + lane;
    for (int i = 0; i < count; ++i) target[static_cast<long>(i) * Width] = source[i * stride];
  }
}

}  // namespace carom::cpu::simd
