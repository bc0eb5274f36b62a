#pragma once

#if defined(__AVX512F__)
#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/programs/qp_pack.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// Transposes blocks of 8 x 8 doubles in registers.
template <>
struct QpSpread<Avx512, Avx512::Pack, 8> {
  static CAROM_INLINE void run(const double* from, long stride, long count, double* to,
                               Avx512::Pack& refused) {
    const __m512d zero = _mm512_setzero_pd();
    __m512d sum[4] = {refused.value, zero, zero, zero};
    long e = 0;
    for (; e + 8 <= count; e += 8) {
      __m512d row[8];
      for (int lane = 0; lane < 8; ++lane) row[lane] = _mm512_loadu_pd(from + lane * stride + e);
      __m512d column[8];
      transpose(row, column);
      for (int k = 0; k < 8; ++k) {
        _mm512_storeu_pd(to + (e + k) * 8, column[k]);
        sum[k / 2] = _mm512_fmadd_pd(column[k], zero, sum[k / 2]);
      }
    }
    for (; e < count; ++e) {
      for (int lane = 0; lane < 8; ++lane) to[e * 8 + lane] = from[lane * stride + e];
      sum[0] = _mm512_fmadd_pd(_mm512_loadu_pd(to + e * 8), zero, sum[0]);
    }
    refused = _mm512_add_pd(_mm512_add_pd(sum[0], sum[1]), _mm512_add_pd(sum[2], sum[3]));
  }
};

template <>
struct QpEntry<Avx512, Avx512::Pack, 8> {
  static constexpr bool kProximal = true;
  using Pack = Avx512::Pack;
  static CAROM_INLINE __m512i place(Pack index) {
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_add_epi64(_mm512_slli_epi64(_mm512_cvttpd_epi64(index.value), 3), lane);
  }
  template <class Memory>
  static CAROM_INLINE Pack take(const Memory& table, Pack index) {
    return _mm512_i64gather_pd(place(index), table.data, 8);
  }
  template <class Memory>
  static CAROM_INLINE void put(const Memory& table, Avx512::Mask on, Pack index, Pack value) {
    _mm512_mask_i64scatter_pd(table.data, on.value, place(index), value.value, 8);
  }
};

}  // namespace carom::cpu::simd
#endif
