#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <carom/device/host_device.hpp>

namespace carom::cpu::simd {

/// Gathers rows of lanes: to[i, lane] = from[at[lane] + i stride] for i in [0, count).
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

/// from[at[lane] Width + lane] in each lane.
template <class Isa>
CAROM_INLINE typename Isa::Pack gather_lanes(const double* from, const int* at) {
  constexpr int kWidth = Isa::kWidth;
#if defined(__AVX512F__)
  if constexpr (kWidth == 8) {
    const __m256i row = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i place =
        _mm256_add_epi32(_mm256_slli_epi32(row, 3), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm512_i32gather_pd(place, from, 8);
  }
#endif
  double entry[kWidth];
  for (int lane = 0; lane < kWidth; ++lane) {
    entry[lane] = from[static_cast<long>(at[lane]) * kWidth + lane];
  }
  return Isa::Pack::load(entry);
}

/// from[at[e] Width] of the elements e of a register that `marked` has a bit of, zeros elsewhere;
/// at: readable for a whole register.
template <class Isa>
CAROM_INLINE typename Isa::Pack gather_marked(const double* from, const int* at, unsigned marked) {
  constexpr int kWidth = Isa::kWidth;
#if defined(__AVX512F__)
  if constexpr (kWidth == 8) {
    const __m256i place = _mm256_slli_epi32(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), 3);  // of rows of eight
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), static_cast<__mmask8>(marked), place, from,
                                    8);
  }
#endif
  double entry[kWidth];
  for (int e = 0; e < kWidth; ++e) {
    entry[e] = (marked >> e & 1U) != 0 ? from[static_cast<long>(at[e]) * kWidth] : 0.0;
  }
  return Isa::Pack::load(entry);
}

/// from[a[lane] + b[lane]] in each lane.
template <class Isa>
CAROM_INLINE typename Isa::Pack gather_sums(const double* from, const int* a, const int* b) {
  constexpr int kWidth = Isa::kWidth;
#if defined(__AVX512F__)
  if constexpr (kWidth == 8) {
    const __m256i place = _mm256_add_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)),
                                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
    return _mm512_i32gather_pd(place, from, 8);
  }
#endif
  double entry[kWidth];
  for (int lane = 0; lane < kWidth; ++lane)
    entry[lane] = from[static_cast<long>(a[lane]) + b[lane]];
  return Isa::Pack::load(entry);
}

/// from[at[e]] of the first `count` elements of a register, zeros elsewhere; at: readable for a
/// whole register.
template <class Isa>
CAROM_INLINE typename Isa::Pack gather_first(const double* from, const int* at, int count) {
  constexpr int kWidth = Isa::kWidth;
#if defined(__AVX512F__)
  if constexpr (kWidth == 8) {
    const auto marked = static_cast<__mmask8>(count < 8 ? (1U << count) - 1U : 0xffU);
    const __m256i place = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), marked, place, from, 8);
  }
#endif
  double entry[kWidth];
  for (int e = 0; e < kWidth; ++e) entry[e] = e < count ? from[at[e]] : 0.0;
  return Isa::Pack::load(entry);
}

}  // namespace carom::cpu::simd
