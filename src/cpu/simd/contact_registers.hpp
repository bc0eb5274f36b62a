#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <carom/device/host_device.hpp>

#include "impact/kernels/event_slip_packs.hpp"

namespace carom::kernels {

template <class Isa>
requires Isa::kInRegisters struct ContactRegisters<Isa> {
  static constexpr bool kAny = true;
  static constexpr int kWidth = Isa::kWidth;
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  using Words = typename Isa::Words;

  /// Pairs of doubles that lanes look up by whole numbers below 16.
  class Pairs {
   public:
    CAROM_INLINE void set(int place, double first, double second) {
      double* const to = at_ + (kApart ? place : 2 * place);
      to[0] = first;
      to[kApart ? kEntries : 1] = second;
    }
    CAROM_INLINE void look_up(Pack place, Pack& first, Pack& second) const {
      if constexpr (kApart) {
#if defined(__AVX512F__)
        const __m512i places = Words(place).value;
        const auto of = [&](const double* table) {
          return _mm512_permutex2var_pd(_mm512_loadu_pd(table), places, _mm512_loadu_pd(table + 8));
        };
        first = of(at_);
        second = of(at_ + kEntries);
#endif
      } else {
#if defined(__AVX2__)
        alignas(16) int places[4];
        _mm_store_si128(reinterpret_cast<__m128i*>(places), _mm256_cvttpd_epi32(place.value));
        const auto pair = [&](int lane) { return _mm_loadu_pd(at_ + 2 * places[lane]); };
        const __m256d even = _mm256_set_m128d(pair(2), pair(0));
        const __m256d odd = _mm256_set_m128d(pair(3), pair(1));
        first = _mm256_unpacklo_pd(even, odd);
        second = _mm256_unpackhi_pd(even, odd);
#endif
      }
    }

   private:
    static constexpr int kEntries = 16;
    static constexpr bool kApart = kWidth == 8;  // all first ones, then all second ones
    double at_[2 * kEntries] = {};
  };

  /// Rows that of_rows takes at most.
  static constexpr int kMostRows = kWidth == 8 ? 24 : 48;
  /// rows[place[lane]] of each lane.
  static CAROM_INLINE Pack of_rows(const double* rows, const int* place) {
    if constexpr (kWidth == 8) {
#if defined(__AVX512F__)
      const __m512i places =
          _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(place)));
      const __m512d low =
          _mm512_permutex2var_pd(_mm512_loadu_pd(rows), places, _mm512_loadu_pd(rows + 8));
      const __m512d high = _mm512_permutexvar_pd(places, _mm512_loadu_pd(rows + 16));
      const __mmask8 first = _mm512_cmplt_epi64_mask(places, _mm512_set1_epi64(16));
      return _mm512_mask_blend_pd(first, high, low);
#endif
    } else {
#if defined(__AVX2__)
      return _mm256_set_pd(rows[place[3]], rows[place[2]], rows[place[1]], rows[place[0]]);
#endif
    }
  }
  /// Whole numbers below 256 as bytes, the first lane's lowest.
  static CAROM_INLINE std::uint64_t bytes(Pack whole) {
#if defined(__AVX512F__)
    if constexpr (kWidth == 8) {
      return static_cast<std::uint64_t>(
          _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(Words(whole).value)));
    }
#endif
    double at[kWidth];
    whole.store(at);
    std::uint64_t all = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      all |= static_cast<std::uint64_t>(at[lane]) << (8 * lane);
    }
    return all;
  }
};

}  // namespace carom::kernels
