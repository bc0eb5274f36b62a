#pragma once

#include <carom/device/numeric.hpp>

#include "cpu/simd/programs/pack_problems.hpp"
#include "cpu/simd/programs/qp_derivatives.hpp"

namespace carom::cpu::simd {

/// One QP per lane in memory, and products with its matrices.
template <class Isa>
class PackQpProblem : protected PackProblems<Isa> {
 protected:
  using Lanes = PackProblems<Isa>;
  using Lanes::fetch;
  using Lanes::get;
  using Lanes::kWidth;
  using Lanes::lanes_;
  using Lanes::p_;
  using Lanes::put;
  using Lanes::share_of;
  using typename Lanes::Mask;
  using typename Lanes::Pack;
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

  /// Of a matrix [rows, n].
  template <class Done>
  CAROM_INLINE void each_product(const double* matrix, int rows, const double* add, const double* v,
                                 Done&& done) const {
    Lanes::each_product(matrix, rows, n_, add, v, done);
  }
  /// The same over columns j of the rows: add_j + sum_i A_ij v_i.
  template <class Done>
  CAROM_INLINE void each_transposed(const double* add, const double* v, Done&& done) {
    int count = 0;
    for (int i = 0; i < all_; ++i) {
      used_[count] = i;
      count += static_cast<int>(any_of(get(v, i) != Pack(0.0)));
    }
    Lanes::each_transposed(
        at_.rows, n_, count, [this](int k) { return used_[k]; }, add, v, done);
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
  int used_[kMostOfQpInPacks + 1];
};

}  // namespace carom::cpu::simd
