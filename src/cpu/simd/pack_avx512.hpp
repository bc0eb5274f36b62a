#pragma once

#include <cstdint>
#include <string_view>

#include <immintrin.h>

#include <carom/device/host_device.hpp>

#include "cpu/simd/packed_lane.hpp"

namespace carom::cpu::simd {

/// Eight doubles in an AVX-512 register, masks in mask registers.
struct Avx512 {
  static constexpr std::string_view kName = "avx512";
  static constexpr bool kInRegisters = true;
  static constexpr int kWidth = 8;
  static constexpr bool kPacksPay = true;  ///< against one lane with the same table

  struct Mask {
    __mmask8 value;
    Mask() = default;
    CAROM_INLINE Mask(__mmask8 x) : value(x) {}
    friend CAROM_INLINE Mask operator|(Mask a, Mask b) {
      return static_cast<__mmask8>(a.value | b.value);
    }
    friend CAROM_INLINE Mask operator&(Mask a, Mask b) {
      return static_cast<__mmask8>(a.value & b.value);
    }
    friend CAROM_INLINE Mask operator!(Mask a) { return static_cast<__mmask8>(~a.value); }
    friend CAROM_INLINE bool all_of(Mask a) { return a.value == 0xff; }
    friend CAROM_INLINE bool any_of(Mask a) { return a.value != 0; }
    [[nodiscard]] CAROM_INLINE unsigned bits() const { return value; }
    static CAROM_INLINE Mask from_bits(unsigned bits) { return static_cast<__mmask8>(bits); }
  };

  using Doubles [[gnu::vector_size(64), gnu::aligned(8)]] = double;

  struct Pack {
    __m512d value;
    Pack() = default;
    explicit CAROM_INLINE Pack(double x) : value(_mm512_set1_pd(x)) {}
    CAROM_INLINE Pack(__m512d x) : value(x) {}
    static CAROM_INLINE Pack load(const double* from) { return _mm512_loadu_pd(from); }
    CAROM_INLINE void store(double* to) const { _mm512_storeu_pd(to, value); }
    CAROM_INLINE void store_doubles(double* to) const { *reinterpret_cast<Doubles*>(to) = value; }
    friend CAROM_INLINE Pack operator+(Pack a, Pack b) { return _mm512_add_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator-(Pack a, Pack b) { return _mm512_sub_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator*(Pack a, Pack b) { return _mm512_mul_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator/(Pack a, Pack b) { return _mm512_div_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator-(Pack a) { return -a.value; }  // folds into fused
    friend CAROM_INLINE Mask operator<(Pack a, Pack b) {
      return _mm512_cmp_pd_mask(a.value, b.value, _CMP_LT_OQ);
    }
    friend CAROM_INLINE Mask operator<=(Pack a, Pack b) {
      return _mm512_cmp_pd_mask(a.value, b.value, _CMP_LE_OQ);
    }
    friend CAROM_INLINE Mask operator>(Pack a, Pack b) {
      return _mm512_cmp_pd_mask(a.value, b.value, _CMP_GT_OQ);
    }
    friend CAROM_INLINE Mask operator>=(Pack a, Pack b) {
      return _mm512_cmp_pd_mask(a.value, b.value, _CMP_GE_OQ);
    }
    friend CAROM_INLINE Mask operator!=(Pack a, Pack b) {
      return _mm512_cmp_pd_mask(a.value, b.value, _CMP_NEQ_UQ);
    }
    friend CAROM_INLINE Pack fused(Pack a, Pack b, Pack c) {
      return _mm512_fmadd_pd(a.value, b.value, c.value);
    }
    friend CAROM_INLINE Pack select(Mask mask, Pack a, Pack b) {
      return _mm512_mask_blend_pd(mask.value, b.value, a.value);
    }
    // max and min return their second operand where the comparison fails, as a > b ? a : b does.
    friend CAROM_INLINE Pack larger(Pack a, Pack b) { return _mm512_max_pd(a.value, b.value); }
    friend CAROM_INLINE Pack smaller(Pack a, Pack b) { return _mm512_min_pd(a.value, b.value); }
    friend CAROM_INLINE Pack fraction(Pack a) { return a - rounded_down(a); }
    friend CAROM_INLINE Pack rounded_down(Pack a) {
      return _mm512_roundscale_pd(a.value, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    }
    friend CAROM_INLINE double least_of(Pack a) { return _mm512_reduce_min_pd(a.value); }
    friend CAROM_INLINE Pack square_root(Pack a) { return _mm512_sqrt_pd(a.value); }
    friend CAROM_INLINE Pack magnitude(Pack a) {
      return _mm512_andnot_pd(_mm512_set1_pd(-0.0), a.value);
    }
    /// Of each lane: a lane of one pack, or kWidth + a lane of another.
    struct Places {
      __m512i value;
      explicit CAROM_INLINE Places(const std::int64_t* from) : value(_mm512_loadu_si512(from)) {}
    };
    friend CAROM_INLINE Pack taken(Pack a, Pack b, Places places) {
      return _mm512_permutex2var_pd(a.value, places.value, b.value);
    }
  };

  /// Unsigned numbers of 32 bits, in the low halves of 64-bit lanes; what stands above is
  /// nothing's.
  struct Words {
    __m512i value;
    Words() = default;
    CAROM_INLINE Words(__m512i x) : value(x) {}
    /// Of whole numbers from 0 to 2^32 - 1.
    explicit CAROM_INLINE Words(Pack whole)
        : value(_mm512_castpd_si512(_mm512_add_pd(whole.value, _mm512_set1_pd(0x1.0p52)))) {}
    friend CAROM_INLINE Words operator^(Words a, Words b) {
      return _mm512_xor_si512(a.value, b.value);
    }
    friend CAROM_INLINE Words operator*(Words a, std::uint32_t factor) {
      return _mm512_mul_epu32(a.value, _mm512_set1_epi64(factor));
    }
    friend CAROM_INLINE Words operator>>(Words a, unsigned places) {
      return _mm512_srl_epi32(a.value, _mm_cvtsi32_si128(static_cast<int>(places)));
    }
    [[nodiscard]] CAROM_INLINE Pack number() const {
      const __m512i word = _mm512_and_si512(value, _mm512_set1_epi64(0xffffffff));
      return _mm512_cvtepu64_pd(word);
    }
  };

  /// Draws 2 block and 2 block + 1 of each lane's sample: Philox4x32-10 with one counter a lane,
  /// its words in the low halves of 64-bit lanes (what stands above them is ignored until the end).
  static CAROM_INLINE void uniform_pairs(std::uint64_t seed, std::uint32_t problem,
                                         const std::uint64_t* sample, const std::uint64_t* block,
                                         Pack& first, Pack& second) {
    uniform_pairs(seed, problem, sample,
                  Words(_mm512_loadu_si512(reinterpret_cast<const void*>(block))), first, second);
  }
  static CAROM_INLINE void uniform_pairs(std::uint64_t seed, std::uint32_t problem,
                                         const std::uint64_t* sample, Words block, Pack& first,
                                         Pack& second) {
    __m512i c0 = _mm512_loadu_si512(reinterpret_cast<const void*>(sample));
    __m512i c1 = _mm512_srli_epi64(c0, 32);
    __m512i c2 = block.value;
    __m512i c3 = _mm512_set1_epi64(static_cast<long long>(problem));
    std::uint32_t k0 = static_cast<std::uint32_t>(seed);
    std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
    const __m512i m0 = _mm512_set1_epi64(0xD2511F53);
    const __m512i m1 = _mm512_set1_epi64(0xCD9E8D57);
    for (int round = 0; round < 10; ++round) {
      const __m512i p0 = _mm512_mul_epu32(m0, c0);
      const __m512i p1 = _mm512_mul_epu32(m1, c2);
      c0 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p1, 32), c1), _mm512_set1_epi64(k0));
      c2 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p0, 32), c3), _mm512_set1_epi64(k1));
      c1 = p1;
      c3 = p0;
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    first = unit(c1, c0);
    second = unit(c3, c2);
  }

 private:
  /// ((high << 32 | low) >> 11) * 2^-53 of the words in the low halves.
  static CAROM_INLINE Pack unit(__m512i high, __m512i low) {
    const __m512i word = _mm512_and_si512(low, _mm512_set1_epi64(0xffffffff));
    const __m512i bits = _mm512_srli_epi64(_mm512_or_si512(_mm512_slli_epi64(high, 32), word), 11);
    return _mm512_mul_pd(_mm512_cvtepu64_pd(bits), _mm512_set1_pd(0x1.0p-53));
  }
};

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

}  // namespace carom::cpu::simd
