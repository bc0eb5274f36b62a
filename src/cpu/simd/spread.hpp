#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <carom/device/host_device.hpp>

namespace carom::cpu::simd {

#if defined(__AVX512F__)
/// Transposes eight rows of eight doubles.
CAROM_INLINE void transpose(const __m512d* row, __m512d* column) {
  __m512d pair[8];  // entries 2 q + parity of four rows each
  for (int half = 0; half < 4; ++half) {
    pair[half] = _mm512_unpacklo_pd(row[2 * half], row[2 * half + 1]);
    pair[half + 4] = _mm512_unpackhi_pd(row[2 * half], row[2 * half + 1]);
  }
  for (int parity = 0; parity < 2; ++parity) {
    const __m512d* p = pair + 4 * parity;
    const __m512d a = _mm512_shuffle_f64x2(p[0], p[1], 0x88);
    const __m512d b = _mm512_shuffle_f64x2(p[2], p[3], 0x88);
    const __m512d c = _mm512_shuffle_f64x2(p[0], p[1], 0xdd);
    const __m512d d = _mm512_shuffle_f64x2(p[2], p[3], 0xdd);
    column[parity] = _mm512_shuffle_f64x2(a, b, 0x88);
    column[parity + 2] = _mm512_shuffle_f64x2(c, d, 0x88);
    column[parity + 4] = _mm512_shuffle_f64x2(a, b, 0xdd);
    column[parity + 6] = _mm512_shuffle_f64x2(c, d, 0xdd);
  }
}
#endif
#if defined(__AVX2__)
/// Four rows of four doubles to their columns.
CAROM_INLINE void transpose(const __m256d* row, __m256d* column) {
  const __m256d a = _mm256_unpacklo_pd(row[0], row[1]);
  const __m256d b = _mm256_unpackhi_pd(row[0], row[1]);
  const __m256d c = _mm256_unpacklo_pd(row[2], row[3]);
  const __m256d d = _mm256_unpackhi_pd(row[2], row[3]);
  column[0] = _mm256_permute2f128_pd(a, c, 0x20);
  column[1] = _mm256_permute2f128_pd(b, d, 0x20);
  column[2] = _mm256_permute2f128_pd(a, c, 0x31);
  column[3] = _mm256_permute2f128_pd(b, d, 0x31);
}
#endif

/// As many packs as they have lanes to their columns.
template <int Width, class Pack>
CAROM_INLINE void transpose_packs(const Pack* row, Pack* column) {
  if constexpr (requires { row->lane; }) {  // Generic
    for (int k = 0; k < Width; ++k) {
      for (int i = 0; i < Width; ++i) column[k].lane[i] = row[i].lane[k];
    }
  } else if constexpr (Width > 1) {
    decltype(Pack::value) rows[Width], columns[Width];
    for (int k = 0; k < Width; ++k) rows[k] = row[k].value;
    transpose(rows, columns);
    for (int k = 0; k < Width; ++k) column[k] = Pack(columns[k]);
  } else {
    column[0] = row[0];
  }
}

/// to[e Stride + lane] = from[lane][e] for e in [0, count).
template <int Width, int Stride = Width>
CAROM_INLINE void spread(const double* const* from, int count, double* to) {
  int e = 0;
#if defined(__AVX512F__)
  if constexpr (Width == 8) {
    // Blocks of 8 x 8 transposed in registers; what a last block lacks is neither read nor written.
    __m512d row[8];
    __m512d column[8];
    for (; e + 8 <= count; e += 8) {
      for (int lane = 0; lane < 8; ++lane) row[lane] = _mm512_loadu_pd(from[lane] + e);
      transpose(row, column);
      for (int k = 0; k < 8; ++k) _mm512_storeu_pd(to + long{Stride} * (e + k), column[k]);
    }
    if (const int left = count - e; left > 0) {
      const __mmask8 there = static_cast<__mmask8>((1U << left) - 1U);
      for (int lane = 0; lane < 8; ++lane) row[lane] = _mm512_maskz_loadu_pd(there, from[lane] + e);
      transpose(row, column);
      for (int k = 0; k < left; ++k) _mm512_storeu_pd(to + long{Stride} * (e + k), column[k]);
    }
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (Width == 4) {
    for (; e + 4 <= count; e += 4) {
      __m256d row[4];
      for (int lane = 0; lane < 4; ++lane) row[lane] = _mm256_loadu_pd(from[lane] + e);
      __m256d column[4];
      transpose(row, column);
      for (int k = 0; k < 4; ++k) _mm256_storeu_pd(to + long{Stride} * (e + k), column[k]);
    }
  }
#endif
  for (; e < count; ++e) {
    for (int lane = 0; lane < Width; ++lane)
      to[static_cast<long>(e) * Stride + lane] = from[lane][e];
  }
}

/// to[lane][e] = from[e Stride + lane] for e in [0, count) and lanes [0, lanes).
template <int Width, int Stride = Width>
CAROM_INLINE void collect(const double* from, int count, int lanes, double* const* to) {
#if defined(__AVX512F__)
  if constexpr (Width == 8) {
    for (int e = 0; e < count; e += 8) {
      const int left = count - e < 8 ? count - e : 8;
      const __mmask8 there = static_cast<__mmask8>((1U << left) - 1U);
      __m512d row[8];
      for (int k = 0; k < 8; ++k) {
        row[k] = k < left ? _mm512_loadu_pd(from + long{Stride} * (e + k)) : _mm512_setzero_pd();
      }
      __m512d column[8];
      transpose(row, column);
      for (int lane = 0; lane < 8; ++lane) {
        if (lane < lanes) _mm512_mask_storeu_pd(to[lane] + e, there, column[lane]);
      }
    }
    return;
  }
#endif
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < count; ++e) to[lane][e] = from[static_cast<long>(e) * Stride + lane];
  }
}

}  // namespace carom::cpu::simd
