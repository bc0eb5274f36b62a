#pragma once

#if defined(__AVX512F__)
#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/programs/qp_pack.hpp"

namespace carom::cpu::simd {

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
