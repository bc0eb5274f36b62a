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

  /// table[place] of each lane, a whole number below 16.
  static CAROM_INLINE Pack looked_up(const double* table, Pack place) {
#if defined(__AVX512F__)
    if constexpr (kWidth == 8) {
      return _mm512_permutex2var_pd(_mm512_loadu_pd(table), Words(place).value,
                                    _mm512_loadu_pd(table + 8));
    }
#endif
    double at[kWidth];
    place.store(at);
    for (double& x : at) x = table[static_cast<int>(x)];
    return Pack::load(at);
  }
  /// rows[place] of each lane, of [3 kWidth] rows.
  static CAROM_INLINE Pack of_rows(const double* rows, Pack place) {
#if defined(__AVX512F__)
    if constexpr (kWidth == 8) {
      const Pack low = looked_up(rows, place);
      const Pack high = _mm512_permutexvar_pd(Words(place).value, _mm512_loadu_pd(rows + 16));
      return select(place < Pack(16.0), low, high);
    }
#endif
    double at[kWidth];
    place.store(at);
    for (double& x : at) x = rows[static_cast<int>(x)];
    return Pack::load(at);
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
