#pragma once

#include <cstdint>
#include <type_traits>

#include <carom/certificate.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/pack_pairs.hpp"

namespace carom::cpu::simd {

/// Problems whose derivatives are found side by side, one a lane: their arrays to and from lanes,
/// and products with the rows of their matrices.
template <class Isa>
class PackProblems {
 protected:
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;

  static CAROM_INLINE Pack get(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store_doubles(array + i * kWidth);
  }
  /// Lanes beyond the problems repeat the first.
  template <class Array>
  CAROM_INLINE void fetch(const Array* from, long count, double* to) const {
    const double* at[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      at[lane] = from + (p_ + (lane < lanes_ ? lane : 0)) * count;
    }
    spread_lanes<Isa>(at, static_cast<int>(count), to);
  }
  /// At most kMost values of good lanes to their problems.
  template <int kMost>
  CAROM_INLINE void bring(Mask good, const double* from, int count, double* to) const {
    double* at[kWidth];
    double memory[kMost];
    const unsigned bits = good.bits();
    for (int lane = 0; lane < lanes_; ++lane) {
      at[lane] = (bits >> lane & 1U) != 0 ? to + (p_ + lane) * count : memory;
    }
    collect_lanes<Isa>(from, count, lanes_, at);
  }

  /// call(i, count): i to i + count of [0, n) at a time, so that chains of sums run side by side.
  template <class Call>
  static CAROM_INLINE void each_four(int n, Call&& call) {
    int i = 0;
    for (; i + 4 <= n; i += 4) call(i, std::integral_constant<int, 4>());
    for (; i < n; ++i) call(i, std::integral_constant<int, 1>());
  }
  /// done(i, sum, size): sum = add_i + sum_j M_ij v_j over the rows of M [rows, n], and the
  /// magnitudes of its terms; add may be null.
  template <class Done>
  static CAROM_INLINE void each_product(const double* matrix, int rows, int n, const double* add,
                                        const double* v, Done&& done) {
    const long stride = static_cast<long>(n) * kWidth;
    each_four(rows, [&](int i, auto count) {
      constexpr int kRows = decltype(count)::value;
      Pack sum[kRows], size[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = add != nullptr ? get(add, i + r) : Pack(0.0);
      for (int r = 0; r < kRows; ++r) size[r] = magnitude(sum[r]);
      const double* row = matrix + i * stride;
      for (int j = 0; j < n; ++j) {
        const Pack by = get(v, j);
        for (int r = 0; r < kRows; ++r) {
          const Pack term = get(row + r * stride, j) * by;
          sum[r] = sum[r] + term;
          size[r] = size[r] + magnitude(term);
        }
      }
      for (int r = 0; r < kRows; ++r) done(i + r, sum[r], size[r]);
    });
  }
  /// The same over the columns of M, as far as they have rows row(0), ..., row(count - 1): done(j,
  /// sum, size) with sum = add_j + sum_k M_row(k),j v_row(k).
  template <class Row, class Done>
  static CAROM_INLINE void each_transposed(const double* matrix, int n, int count, Row&& row,
                                           const double* add, const double* v, Done&& done) {
    const long stride = static_cast<long>(n) * kWidth;
    each_four(n, [&](int j, auto columns) {
      constexpr int kColumns = decltype(columns)::value;
      Pack sum[kColumns], size[kColumns];
      for (int c = 0; c < kColumns; ++c) sum[c] = get(add, j + c);
      for (int c = 0; c < kColumns; ++c) size[c] = magnitude(sum[c]);
      for (int k = 0; k < count; ++k) {
        const int i = row(k);
        const Pack by = get(v, i);
        const double* from = matrix + i * stride;
        for (int c = 0; c < kColumns; ++c) {
          const Pack term = get(from, j + c) * by;
          sum[c] = sum[c] + term;
          size[c] = size[c] + magnitude(term);
        }
      }
      for (int c = 0; c < kColumns; ++c) done(j + c, sum[c], size[c]);
    });
  }
  /// What is missing of a sum whose terms have this size; zero where nothing is.
  static CAROM_INLINE Pack share_of(Pack sum, Pack size) {
    const Pack missing = magnitude(sum);
    const Pack share = missing / larger(size, Pack(certificate::kTiny));
    return select(missing <= Pack(0.0), Pack(0.0), share);
  }

  std::int64_t p_ = 0;  ///< the first problem
  int lanes_ = 0;
};

}  // namespace carom::cpu::simd
