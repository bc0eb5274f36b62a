#pragma once

#include <cstdint>
#include <string_view>

#include <immintrin.h>

#include <carom/device/host_device.hpp>

namespace carom::cpu::simd {

/// Four doubles in an AVX2 register, masks as bit patterns.
struct Avx2 {
  static constexpr std::string_view kName = "avx2";
  static constexpr bool kInRegisters = true;
  static constexpr int kWidth = 4;
  static constexpr bool kPacksPay = true;  ///< against one lane with the same table

  struct Mask {
    __m256d value;
    Mask() = default;
    CAROM_INLINE Mask(__m256d x) : value(x) {}
    friend CAROM_INLINE Mask operator|(Mask a, Mask b) { return _mm256_or_pd(a.value, b.value); }
    friend CAROM_INLINE Mask operator&(Mask a, Mask b) { return _mm256_and_pd(a.value, b.value); }
    friend CAROM_INLINE Mask operator!(Mask a) {
      return _mm256_xor_pd(a.value, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
    }
    friend CAROM_INLINE bool all_of(Mask a) { return _mm256_movemask_pd(a.value) == 0xf; }
    friend CAROM_INLINE bool any_of(Mask a) { return _mm256_movemask_pd(a.value) != 0; }
    [[nodiscard]] CAROM_INLINE unsigned bits() const {
      return static_cast<unsigned>(_mm256_movemask_pd(value));
    }
    static CAROM_INLINE Mask from_bits(unsigned bits) {
      const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
      const __m256i set = _mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(bits)), lane);
      return _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lane));
    }
  };

  using Doubles [[gnu::vector_size(32), gnu::aligned(8)]] = double;

  struct Pack {
    __m256d value;
    Pack() = default;
    explicit CAROM_INLINE Pack(double x) : value(_mm256_set1_pd(x)) {}
    CAROM_INLINE Pack(__m256d x) : value(x) {}
    static CAROM_INLINE Pack load(const double* from) { return _mm256_loadu_pd(from); }
    CAROM_INLINE void store(double* to) const { _mm256_storeu_pd(to, value); }
    CAROM_INLINE void store_doubles(double* to) const { *reinterpret_cast<Doubles*>(to) = value; }
    friend CAROM_INLINE Pack operator+(Pack a, Pack b) { return _mm256_add_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator-(Pack a, Pack b) { return _mm256_sub_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator*(Pack a, Pack b) { return _mm256_mul_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator/(Pack a, Pack b) { return _mm256_div_pd(a.value, b.value); }
    friend CAROM_INLINE Pack operator-(Pack a) { return -a.value; }  // folds into fused
    friend CAROM_INLINE Mask operator<(Pack a, Pack b) {
      return _mm256_cmp_pd(a.value, b.value, _CMP_LT_OQ);
    }
    friend CAROM_INLINE Mask operator<=(Pack a, Pack b) {
      return _mm256_cmp_pd(a.value, b.value, _CMP_LE_OQ);
    }
    friend CAROM_INLINE Mask operator>(Pack a, Pack b) {
      return _mm256_cmp_pd(a.value, b.value, _CMP_GT_OQ);
    }
    friend CAROM_INLINE Mask operator>=(Pack a, Pack b) {
      return _mm256_cmp_pd(a.value, b.value, _CMP_GE_OQ);
    }
    friend CAROM_INLINE Mask operator!=(Pack a, Pack b) {
      return _mm256_cmp_pd(a.value, b.value, _CMP_NEQ_UQ);
    }
    friend CAROM_INLINE Pack fused(Pack a, Pack b, Pack c) {
      return _mm256_fmadd_pd(a.value, b.value, c.value);
    }
    friend CAROM_INLINE Pack select(Mask mask, Pack a, Pack b) {
      return _mm256_blendv_pd(b.value, a.value, mask.value);
    }
    // max and min return their second operand where the comparison fails, as a > b ? a : b does.
    friend CAROM_INLINE Pack larger(Pack a, Pack b) { return _mm256_max_pd(a.value, b.value); }
    friend CAROM_INLINE Pack smaller(Pack a, Pack b) { return _mm256_min_pd(a.value, b.value); }
    friend CAROM_INLINE Pack fraction(Pack a) { return a - rounded_down(a); }
    friend CAROM_INLINE Pack rounded_down(Pack a) { return _mm256_floor_pd(a.value); }
    friend CAROM_INLINE double least_of(Pack a) {
      const __m128d two =
          _mm_min_pd(_mm256_castpd256_pd128(a.value), _mm256_extractf128_pd(a.value, 1));
      return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
    }
    friend CAROM_INLINE Pack square_root(Pack a) { return _mm256_sqrt_pd(a.value); }
    friend CAROM_INLINE Pack magnitude(Pack a) {
      return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a.value);
    }
    /// Of each lane: a lane of one pack, or kWidth + a lane of another.
    struct Places {
      __m256i halves;   // of 32 bits
      __m256d another;  // mask
      explicit CAROM_INLINE Places(const std::int64_t* from) {
        const __m256i place = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        const __m256i low = _mm256_slli_epi64(place, 1);
        const __m256i high = _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32);
        halves = _mm256_or_si256(low, high);
        another = _mm256_castsi256_pd(_mm256_cmpgt_epi64(place, _mm256_set1_epi64x(kWidth - 1)));
      }
    };
    friend CAROM_INLINE Pack taken(Pack a, Pack b, const Places& places) {
      const auto lanes = [&](__m256d x) {
        return _mm256_castsi256_pd(
            _mm256_permutevar8x32_epi32(_mm256_castpd_si256(x), places.halves));
      };
      return _mm256_blendv_pd(lanes(a.value), lanes(b.value), places.another);
    }
  };

  /// Unsigned numbers of 32 bits, in the low halves of 64-bit lanes; what stands above is
  /// nothing's.
  struct Words {
    __m256i value;
    Words() = default;
    CAROM_INLINE Words(__m256i x) : value(x) {}
    /// Of whole numbers from 0 to 2^32 - 1.
    explicit CAROM_INLINE Words(Pack whole)
        : value(_mm256_castpd_si256(_mm256_add_pd(whole.value, _mm256_set1_pd(0x1.0p52)))) {}
    friend CAROM_INLINE Words operator^(Words a, Words b) {
      return _mm256_xor_si256(a.value, b.value);
    }
    friend CAROM_INLINE Words operator*(Words a, std::uint32_t factor) {
      return _mm256_mul_epu32(a.value, _mm256_set1_epi64x(factor));
    }
    friend CAROM_INLINE Words operator>>(Words a, unsigned places) {
      return _mm256_srl_epi32(a.value, _mm_cvtsi32_si128(static_cast<int>(places)));
    }
    [[nodiscard]] CAROM_INLINE Pack number() const {
      const __m256i word = _mm256_and_si256(value, _mm256_set1_epi64x(0xffffffff));
      const __m256i two52 = _mm256_set1_epi64x(0x4330000000000000);
      return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(word, two52)),
                           _mm256_castsi256_pd(two52));
    }
  };

  /// Draws 2 block and 2 block + 1 of each lane's sample: Philox4x32-10 with one counter a lane,
  /// its words in the low halves of 64-bit lanes (what stands above them is ignored until the end).
  static CAROM_INLINE void uniform_pairs(std::uint64_t seed, std::uint32_t problem,
                                         const std::uint64_t* sample, const std::uint64_t* block,
                                         Pack& first, Pack& second) {
    uniform_pairs(seed, problem, sample,
                  Words(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block))), first,
                  second);
  }
  static CAROM_INLINE void uniform_pairs(std::uint64_t seed, std::uint32_t problem,
                                         const std::uint64_t* sample, Words block, Pack& first,
                                         Pack& second) {
    __m256i c0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sample));
    __m256i c1 = _mm256_srli_epi64(c0, 32);
    __m256i c2 = block.value;
    __m256i c3 = _mm256_set1_epi64x(problem);
    std::uint32_t k0 = static_cast<std::uint32_t>(seed);
    std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
    const __m256i m0 = _mm256_set1_epi64x(0xD2511F53);
    const __m256i m1 = _mm256_set1_epi64x(0xCD9E8D57);
    for (int round = 0; round < 10; ++round) {
      const __m256i p0 = _mm256_mul_epu32(m0, c0);
      const __m256i p1 = _mm256_mul_epu32(m1, c2);
      c0 =
          _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1), _mm256_set1_epi64x(k0));
      c2 =
          _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3), _mm256_set1_epi64x(k1));
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
  static CAROM_INLINE Pack unit(__m256i high, __m256i low) {
    const __m256i word = _mm256_and_si256(low, _mm256_set1_epi64x(0xffffffff));
    const __m256i bits = _mm256_srli_epi64(_mm256_or_si256(_mm256_slli_epi64(high, 32), word), 11);
    // No 64-bit conversion in AVX2: both halves become doubles through the exponent of 2^52.
    const __m256i magic = _mm256_set1_epi64x(0x4330000000000000);
    const __m256d two52 = _mm256_set1_pd(0x1.0p52);
    const __m256i low_half = _mm256_and_si256(bits, _mm256_set1_epi64x(0xffffffff));
    const __m256d high_part = _mm256_sub_pd(
        _mm256_castsi256_pd(_mm256_or_si256(_mm256_srli_epi64(bits, 32), magic)), two52);
    const __m256d low_part =
        _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(low_half, magic)), two52);
    const __m256d whole =
        _mm256_add_pd(_mm256_mul_pd(high_part, _mm256_set1_pd(0x1.0p32)), low_part);
    return _mm256_mul_pd(whole, _mm256_set1_pd(0x1.0p-53));
  }
};

}  // namespace carom::cpu::simd
