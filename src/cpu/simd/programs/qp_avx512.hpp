#pragma once

#if defined(__AVX512F__)
#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/programs/qp_pack.hpp"

namespace carom::cpu::simd {

template <>
struct QpEntry<Avx512, Avx512::Pack, 8> {
  static constexpr bool kProximal = true;
  using Pack = Avx512::Pack;
  /// Of each lane, index 8 + lane.
  struct Place {
    __m512i of;
  };

  static CAROM_INLINE __m512i lanes() { return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7); }
  static CAROM_INLINE Place place(Pack index) {
    return {_mm512_add_epi64(_mm512_slli_epi64(_mm512_cvttpd_epi64(index.value), 3), lanes())};
  }
  template <class Memory>
  static CAROM_INLINE Pack take(const Memory& table, Place place) {
    return _mm512_i64gather_pd(place.of, table.data, 8);
  }
  /// Only where `on`.
  template <class Memory>
  static CAROM_INLINE void put(const Memory& table, Avx512::Mask on, Place place, Pack value) {
    _mm512_mask_i64scatter_pd(table.data, on.value, place.of, value.value, 8);
  }
  static CAROM_INLINE void join(Avx512::Mask on, Place place, std::uint64_t& rows) {
    const __m512i one = _mm512_set1_epi64(1);
    rows |= static_cast<std::uint64_t>(_mm512_mask_reduce_or_epi64(
        on.value, _mm512_sllv_epi64(one, _mm512_srli_epi64(place.of, 3))));
  }
  static CAROM_INLINE Place diagonal(Place place) {
    const __m512i row = _mm512_srli_epi64(place.of, 3);
    return {_mm512_add_epi64(start_of(row), _mm512_slli_epi64(row, 3))};
  }
  template <class Memory, class F>
  static CAROM_INLINE void over_column(const Memory& table, Place place, int rows, F&& f) {
    // The larger one is the one in the lower half.
    __m512i mine = start_of(_mm512_srli_epi64(place.of, 3));
    __m512i its = place.of;
    __m512i step = _mm512_setzero_si512();
    const __m512i eight = _mm512_set1_epi64(8);
    for (int i = 0; i < rows; ++i) {
      f(i, take(table, Place{_mm512_max_epi64(mine, its)}));
      mine = _mm512_add_epi64(mine, eight);
      step = _mm512_add_epi64(step, eight);
      its = _mm512_add_epi64(its, step);
    }
  }

 private:
  /// Of a row of a triangle.
  static CAROM_INLINE __m512i start_of(__m512i row) {
    const __m512i next = _mm512_add_epi64(row, _mm512_set1_epi64(1));
    return _mm512_add_epi64(_mm512_slli_epi64(_mm512_mullo_epi64(row, next), 2), lanes());
  }
};

}  // namespace carom::cpu::simd
#endif
