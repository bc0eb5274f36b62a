#pragma once

#if defined(__AVX2__) && !defined(__AVX512F__)
#include "cpu/simd/pack_avx2.hpp"
#include "cpu/simd/programs/qp_pack.hpp"

namespace carom::cpu::simd {

template <>
struct QpEntry<Avx2, Avx2::Pack, 4> {
  static constexpr bool kProximal = true;
  using Pack = Avx2::Pack;
  /// Of each lane, index 4 + lane.
  struct Place {
    __m128i of;
  };

  static CAROM_INLINE __m128i lanes() { return _mm_setr_epi32(0, 1, 2, 3); }
  static CAROM_INLINE Place place(Pack index) {
    return {_mm_add_epi32(_mm_slli_epi32(_mm256_cvttpd_epi32(index.value), 2), lanes())};
  }
  template <class Memory>
  static CAROM_INLINE Pack take(const Memory& table, Place place) {
    const auto* values = reinterpret_cast<const double*>(table.data);
    const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(place.of));
    const auto high = static_cast<std::uint64_t>(_mm_extract_epi64(place.of, 1));
    return _mm256_setr_pd(values[static_cast<std::uint32_t>(low)], values[low >> 32],
                          values[static_cast<std::uint32_t>(high)], values[high >> 32]);
  }
  /// Only where `on`.
  template <class Memory>
  static CAROM_INLINE void put(const Memory& table, Avx2::Mask on, Place place, Pack value) {
    auto* values = reinterpret_cast<double*>(table.data);
    alignas(16) std::uint32_t at[4];
    alignas(32) double entry[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(at), place.of);
    value.store(entry);
    kernels::over_bits(on.bits(), [&](int lane) { values[at[lane]] = entry[lane]; });
  }
  static CAROM_INLINE void join(Avx2::Mask on, Place place, std::uint64_t& rows) {
    alignas(16) std::uint32_t at[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(at), place.of);
    kernels::over_bits(on.bits(), [&](int lane) { rows |= std::uint64_t{1} << at[lane] / 4; });
  }
  static CAROM_INLINE Place diagonal(Place place) {
    const __m128i row = _mm_srli_epi32(place.of, 2);
    return {_mm_add_epi32(start_of(row), _mm_slli_epi32(row, 2))};
  }
  template <class Memory, class F>
  static CAROM_INLINE void over_column(const Memory& table, Place place, int rows, F&& f) {
    // The larger one is the one in the lower half.
    __m128i mine = start_of(_mm_srli_epi32(place.of, 2));
    __m128i its = place.of;
    __m128i step = _mm_setzero_si128();
    const __m128i four = _mm_set1_epi32(4);
    for (int i = 0; i < rows; ++i) {
      f(i, take(table, Place{_mm_max_epi32(mine, its)}));
      mine = _mm_add_epi32(mine, four);
      step = _mm_add_epi32(step, four);
      its = _mm_add_epi32(its, step);
    }
  }

 private:
  /// Of a row of a triangle.
  static CAROM_INLINE __m128i start_of(__m128i row) {
    const __m128i next = _mm_add_epi32(row, _mm_set1_epi32(1));
    return _mm_add_epi32(_mm_slli_epi32(_mm_mullo_epi32(row, next), 1), lanes());
  }
};

}  // namespace carom::cpu::simd
#endif
