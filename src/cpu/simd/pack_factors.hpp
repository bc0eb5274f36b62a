#pragma once

#include <cstdint>
#include <cstring>

#include <carom/device/numeric.hpp>

#include "cpu/simd/padding.hpp"
#include "programs/derivatives/kernels/dense.hpp"

namespace carom::cpu::simd {

/// Numbers of a problem a lane, [.., lane].
template <class Isa>
CAROM_INLINE typename Isa::Pack pack_at(const double* array, long i) {
  return Isa::Pack::load(array + i * Isa::kWidth);
}
template <class Isa>
CAROM_INLINE void put_pack(double* array, long i, typename Isa::Pack value) {
  value.store_doubles(array + i * Isa::kWidth);
}

/// Of the widest instruction set.
constexpr long pack_factors_reals(long n) { return (2 * n * n + 6 * n) * kLargestPadding; }

/// derivatives::Factors with a problem a lane: the same operations in the same order, so that a
/// lane has the bits that its problem has alone. A lane of fewer rows than its pack has unit rows
/// behind them.
template <class Isa>
class PackFactors {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;

 public:
  /// memory: pack_factors_reals.
  PackFactors(double* memory, int capacity) {
    const long n = capacity;
    matrix_ = memory;
    lu_ = matrix_ + n * n * kWidth;
    row_scale_ = lu_ + n * n * kWidth;
    column_scale_ = row_scale_ + n * kWidth;
    given_ = column_scale_ + n * kWidth;
    rest_ = given_ + n * kWidth;
    swaps_ = reinterpret_cast<Swap*>(rest_ + n * kWidth);
  }

  /// Row-major [n, n, lane], to be filled before factor(n, ..).
  [[nodiscard]] double* matrix() const { return matrix_; }
  [[nodiscard]] CAROM_INLINE Pack entry(int i, int j) const {
    return pack_at<Isa>(matrix_, static_cast<long>(i) * n_ + j);
  }
  /// Lanes that have a row k.
  [[nodiscard]] CAROM_INLINE Mask within(int k) const {
    return Pack(static_cast<double>(k)) < count_;
  }

  /// n: rows of the largest lane; count: of each. Lanes whose matrix is regular.
  Mask factor(int n, Pack count) {
    n_ = n;
    count_ = count;
    Mask regular = Mask::from_bits(~0U);
    for (int i = 0; i < n; ++i) {
      Pack size(0.0);
      for (int j = 0; j < n; ++j) size = larger(size, magnitude(entry(i, j)));
      regular = regular & inverse_powers(size, row_scale_ + static_cast<long>(i) * kWidth);
    }
    Pack norm(0.0);
    for (int j = 0; j < n; ++j) {
      Pack size(0.0);
      for (int i = 0; i < n; ++i) {
        size = larger(size, magnitude(entry(i, j)) * pack_at<Isa>(row_scale_, i));
      }
      regular = regular & inverse_powers(size, column_scale_ + static_cast<long>(j) * kWidth);
    }
    for (int j = 0; j < n; ++j) {
      const Pack by = pack_at<Isa>(column_scale_, j);
      Pack sum(0.0);
      for (int i = 0; i < n; ++i) {
        const Pack value = entry(i, j) * pack_at<Isa>(row_scale_, i) * by;
        put_pack<Isa>(lu_, static_cast<long>(i) * n + j, value);
        sum = sum + magnitude(value);
      }
      norm = select(within(j), larger(norm, sum), norm);
    }
    norm_ = norm;
    sign_ = Pack(1.0);
    swap_count_ = 0;
    for (int k = 0; k < n; ++k) {
      take_pivot(k);
      const Pack pivot = lu(k, k);
      regular = regular & (magnitude(pivot) > Pack(derivatives::Factors::kSingular));
      sign_ = select(pivot < Pack(0.0), -sign_, sign_);
      const Pack inverse = Pack(1.0) / pivot;
      put_pack<Isa>(lu_, static_cast<long>(k) * n + k, inverse);
      const double* from = lu_ + static_cast<long>(k) * n * kWidth;
      for (int i = k + 1; i < n; ++i) {
        double* row = lu_ + static_cast<long>(i) * n * kWidth;
        const Pack factor = pack_at<Isa>(row, k) * inverse;
        put_pack<Isa>(row, k, factor);
        for (int j = k + 1; j < n; ++j) {
          put_pack<Isa>(row, j, pack_at<Isa>(row, j) - factor * pack_at<Isa>(from, j));
        }
      }
    }
    return regular;
  }

  /// Sign of the determinant: 1 or -1.
  [[nodiscard]] Pack sign() const { return sign_; }

  /// x: right-hand sides, zero behind a lane's rows, then A^-1 of them; refined once.
  void solve(double* x) const {
    keep(x);
    scale(x, row_scale_);
    eliminate(x);
    scale(x, column_scale_);
    for (int i = 0; i < n_; ++i) {
      Pack sum = pack_at<Isa>(given_, i);
      for (int j = 0; j < n_; ++j) sum = sum - entry(i, j) * pack_at<Isa>(x, j);
      put_pack<Isa>(rest_, i, sum);
    }
    scale(rest_, row_scale_);
    eliminate(rest_);
    scale(rest_, column_scale_);
    add(x);
  }
  /// Likewise of A'.
  void solve_transposed(double* x) const {
    keep(x);
    scale(x, column_scale_);
    eliminate_transposed(x);
    scale(x, row_scale_);
    for (int j = 0; j < n_; ++j) put_pack<Isa>(rest_, j, pack_at<Isa>(given_, j));
    for (int i = 0; i < n_; ++i) {
      const Pack by = pack_at<Isa>(x, i);
      for (int j = 0; j < n_; ++j) {
        put_pack<Isa>(rest_, j, pack_at<Isa>(rest_, j) - entry(i, j) * by);
      }
    }
    scale(rest_, column_scale_);
    eliminate_transposed(rest_);
    scale(rest_, row_scale_);
    add(x);
  }

  /// See derivatives::Factors.
  [[nodiscard]] Pack condition() const {
    double* x = given_;
    double* y = rest_;
    const Pack zero(0.0), one(1.0);
    const Mask any = zero < count_;
    const Pack share = one / select(any, count_, one);
    for (int i = 0; i < n_; ++i) put_pack<Isa>(x, i, select(within(i), share, zero));
    Pack best = zero;
    Mask going = any;
    for (int round = 0; round < 3; ++round) {
      eliminate(x);
      Pack sum = zero;
      for (int i = 0; i < n_; ++i) {
        const Pack value = pack_at<Isa>(x, i);
        sum = sum + magnitude(value);
        put_pack<Isa>(y, i, select(within(i), select(value >= zero, one, -one), zero));
      }
      going = going & (sum > best);
      best = select(going, sum, best);
      if (round == 2 || !any_of(going)) break;
      eliminate_transposed(y);
      Pack most = magnitude(pack_at<Isa>(y, 0)), place = zero;
      for (int i = 1; i < n_; ++i) {
        const Pack size = magnitude(pack_at<Isa>(y, i));
        const Mask more = size > most;
        most = select(more, size, most);
        place = select(more, Pack(static_cast<double>(i)), place);
      }
      for (int i = 0; i < n_; ++i) {
        put_pack<Isa>(x, i, select(place != Pack(static_cast<double>(i)), zero, one));
      }
    }
    return select(any, best * norm_, one);
  }

 private:
  /// Two rows that some lanes exchange.
  struct Swap {
    int row, other;
    unsigned lanes;
  };
  [[nodiscard]] CAROM_INLINE Pack lu(int i, int j) const {
    return pack_at<Isa>(lu_, static_cast<long>(i) * n_ + j);
  }
  /// derivatives::inverse_power by the exponent's bits; lanes whose size has one.
  static CAROM_INLINE Mask inverse_powers(Pack size, double* to) {
    std::uint64_t bits[kWidth];
    size.store(to);
    std::memcpy(bits, to, sizeof bits);
    for (std::uint64_t& word : bits) word = (std::uint64_t{2045} - (word >> 52)) << 52;
    std::memcpy(to, bits, sizeof bits);
    return (size > Pack(0x1.0p-1022)) & (size < Pack(0x1.0p1021));
  }
  /// The largest entry of column k, first of equals, goes to its row.
  CAROM_INLINE void take_pivot(int k) {
    Pack most = magnitude(lu(k, k)), place(static_cast<double>(k));
    for (int i = k + 1; i < n_; ++i) {
      const Pack size = magnitude(lu(i, k));
      const Mask more = size > most;
      most = select(more, size, most);
      place = select(more, Pack(static_cast<double>(i)), place);
    }
    const Pack own(static_cast<double>(k));
    Mask moves = place != own;
    if (!any_of(moves)) return;
    sign_ = select(moves, -sign_, sign_);
    for (int i = k + 1; any_of(moves); ++i) {
      const Mask here = moves & !(place != Pack(static_cast<double>(i)));
      if (!any_of(here)) continue;
      moves = moves & !here;
      swaps_[swap_count_++] = {k, i, here.bits()};
      double* a = lu_ + static_cast<long>(k) * n_ * kWidth;
      double* b = lu_ + static_cast<long>(i) * n_ * kWidth;
      for (int j = 0; j < n_; ++j) exchange(a, b, j, here);
    }
  }
  static CAROM_INLINE void exchange(double* a, double* b, int j, Mask here) {
    const Pack x = pack_at<Isa>(a, j), y = pack_at<Isa>(b, j);
    put_pack<Isa>(a, j, select(here, y, x));
    put_pack<Isa>(b, j, select(here, x, y));
  }
  CAROM_INLINE void swap_rows(double* x, int which) const {
    const Swap& swap = swaps_[which];
    exchange(x + static_cast<long>(swap.row) * kWidth, x + static_cast<long>(swap.other) * kWidth,
             0, Mask::from_bits(swap.lanes));
  }
  CAROM_INLINE void keep(const double* x) const {
    for (int i = 0; i < n_; ++i) put_pack<Isa>(given_, i, pack_at<Isa>(x, i));
  }
  CAROM_INLINE void add(double* x) const {
    for (int i = 0; i < n_; ++i) {
      put_pack<Isa>(x, i, pack_at<Isa>(x, i) + pack_at<Isa>(rest_, i));
    }
  }
  CAROM_INLINE void scale(double* x, const double* by) const {
    for (int i = 0; i < n_; ++i) put_pack<Isa>(x, i, pack_at<Isa>(x, i) * pack_at<Isa>(by, i));
  }
  void eliminate(double* x) const {
    for (int s = 0; s < swap_count_; ++s) swap_rows(x, s);
    for (int i = 1; i < n_; ++i) {
      Pack sum = pack_at<Isa>(x, i);
      for (int j = 0; j < i; ++j) sum = sum - lu(i, j) * pack_at<Isa>(x, j);
      put_pack<Isa>(x, i, sum);
    }
    for (int i = n_ - 1; i >= 0; --i) {
      Pack sum = pack_at<Isa>(x, i);
      for (int j = i + 1; j < n_; ++j) sum = sum - lu(i, j) * pack_at<Isa>(x, j);
      put_pack<Isa>(x, i, sum * lu(i, i));
    }
  }
  void eliminate_transposed(double* x) const {
    for (int i = 0; i < n_; ++i) {
      const Pack value = pack_at<Isa>(x, i) * lu(i, i);
      put_pack<Isa>(x, i, value);
      for (int j = i + 1; j < n_; ++j) put_pack<Isa>(x, j, pack_at<Isa>(x, j) - lu(i, j) * value);
    }
    for (int i = n_ - 1; i > 0; --i) {
      const Pack value = pack_at<Isa>(x, i);
      for (int j = 0; j < i; ++j) put_pack<Isa>(x, j, pack_at<Isa>(x, j) - lu(i, j) * value);
    }
    for (int s = swap_count_ - 1; s >= 0; --s) swap_rows(x, s);
  }

  double *matrix_, *lu_, *row_scale_, *column_scale_, *given_, *rest_;
  Swap* swaps_;  // [n, lane], as many as there are
  int swap_count_ = 0;
  int n_ = 0;
  Pack count_{0.0};
  Pack norm_{0.0};
  Pack sign_{1.0};
};

}  // namespace carom::cpu::simd
