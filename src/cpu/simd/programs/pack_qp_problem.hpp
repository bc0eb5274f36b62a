#pragma once

#include <cstdint>
#include <type_traits>

#include <carom/device/numeric.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/programs/qp_derivatives.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// A QP a lane in memory, and products with its matrices.
template <class Isa>
class PackQpProblem {
 protected:
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  explicit PackQpProblem(const QpDerivativeRange& range)
      : r_(range),
        n_(range.variables),
        m_(range.rows),
        all_(range.rows + range.cone_rows),
        at_(kernels::placed<PackQpLayout>(range.reals, static_cast<long>(n_),
                                          static_cast<long>(all_), static_cast<long>(kWidth))),
        factors_(at_.factors, symmetric_order(n_ + all_)) {
    for (double* array : {at_.low, at_.up, at_.y, at_.sign, at_.slack, at_.unit, at_.feel, at_.mode,
                          at_.e, at_.wish, at_.gain, at_.asked, at_.edge, at_.tau}) {
      put(array, all_, Pack(0.0));
    }
  }

  static CAROM_INLINE Pack get(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store_doubles(array + i * kWidth);
  }
  template <class Array>
  CAROM_INLINE void fetch(const Array* from, long count, double* to) const {
    const double* at[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      at[lane] = from + (p_ + (lane < lanes_ ? lane : 0)) * count;
    }
    spread<kWidth>(at, static_cast<int>(count), to);
  }
  /// Of rows and of cone rows behind them; zeros where an array is missing.
  CAROM_INLINE void fetch_rows(const double* rows, const double* cone_rows, double* to) const {
    if (rows != nullptr) {
      fetch(rows, m_, to);
    } else {
      for (int i = 0; i < m_; ++i) put(to, i, Pack(0.0));
    }
    double* behind = to + static_cast<long>(m_) * kWidth;
    if (cone_rows != nullptr) {
      fetch(cone_rows, all_ - m_, behind);
    } else {
      for (int i = m_; i < all_; ++i) put(to, i, Pack(0.0));
    }
  }
  static CAROM_INLINE Mask none() { return Mask::from_bits(0); }
  static CAROM_INLINE Mask every() { return Pack(0.0) <= Pack(0.0); }

  /// call(i, count): i to i + count of [0, n) at a time, so that chains of sums run side by side.
  template <class Call>
  static CAROM_INLINE void each_four(int n, Call&& call) {
    int i = 0;
    for (; i + 4 <= n; i += 4) call(i, std::integral_constant<int, 4>());
    for (; i < n; ++i) call(i, std::integral_constant<int, 1>());
  }
  /// done(i, sum, size): sum = add_i + sum_j M_ij v_j over the rows of M [rows, n], and the
  /// magnitudes of its terms.
  template <class Done>
  CAROM_INLINE void each_product(const double* matrix, int rows, const double* add, const double* v,
                                 Done&& done) const {
    const long stride = static_cast<long>(n_) * kWidth;
    each_four(rows, [&](int i, auto count) {
      constexpr int kRows = decltype(count)::value;
      Pack sum[kRows], size[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = add != nullptr ? get(add, i + r) : Pack(0.0);
      for (int r = 0; r < kRows; ++r) size[r] = magnitude(sum[r]);
      const double* row = matrix + i * stride;
      for (int j = 0; j < n_; ++j) {
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
  /// The same over columns j of the rows: add_j + sum_i A_ij v_i.
  template <class Done>
  CAROM_INLINE void each_transposed(const double* add, const double* v, Done&& done) {
    int count = 0;
    for (int i = 0; i < all_; ++i) {
      used_[count] = i;
      count += static_cast<int>(any_of(get(v, i) != Pack(0.0)));
    }
    const long stride = static_cast<long>(n_) * kWidth;
    each_four(n_, [&](int j, auto columns) {
      constexpr int kColumns = decltype(columns)::value;
      Pack sum[kColumns], size[kColumns];
      for (int c = 0; c < kColumns; ++c) sum[c] = get(add, j + c);
      for (int c = 0; c < kColumns; ++c) size[c] = magnitude(sum[c]);
      for (int k = 0; k < count; ++k) {
        const Pack by = get(v, used_[k]);
        const double* row = at_.rows + used_[k] * stride;
        for (int c = 0; c < kColumns; ++c) {
          const Pack term = get(row, j + c) * by;
          sum[c] = sum[c] + term;
          size[c] = size[c] + magnitude(term);
        }
      }
      for (int c = 0; c < kColumns; ++c) done(j + c, sum[c], size[c]);
    });
  }

  [[nodiscard]] CAROM_INLINE Mask is_held(int i) const { return get(at_.mode, i) > Pack(0.0); }
  [[nodiscard]] CAROM_INLINE Mask is_equation(int i) const {
    return !(get(at_.sign, i) != Pack(0.0));
  }
  [[nodiscard]] CAROM_INLINE Mask is_bounded(int i) const {
    return get(at_.slack, i) < Pack(kernels::kInfinity);
  }
  [[nodiscard]] CAROM_INLINE Pack side(int i) const {
    return select(get(at_.sign, i) < Pack(0.0), Pack(-1.0), Pack(1.0));
  }
  /// Of the multiplier, in the row's unit.
  [[nodiscard]] CAROM_INLINE Pack closed(int i) const {
    return get(at_.sign, i) * get(at_.y, i) * get(at_.feel, i);
  }

  const QpDerivativeRange& r_;
  int n_, m_, all_;
  PackQpLayout<double*> at_;
  PackSymmetric<Isa> factors_;
  std::int64_t p_ = 0;
  int lanes_ = 0;
  int used_[kMostOfQpInPacks + 1];
};

}  // namespace carom::cpu::simd
