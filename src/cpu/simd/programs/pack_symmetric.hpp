#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/numeric.hpp>

#include "cpu/simd/pack_number.hpp"
#include "cpu/simd/padding.hpp"
#include "programs/derivatives/kernels/dense.hpp"

namespace carom::cpu::simd {

/// Rows that the tiles of PackSymmetric take at a time.
inline constexpr long kSymmetricTile = 4;
/// Rows and columns of its factors for `size` unknowns.
CAROM_INLINE constexpr long symmetric_order(long size) {
  return (size + kSymmetricTile - 1) / kSymmetricTile * kSymmetricTile;
}

template <class Memory>
struct PackSymmetricLayout {
  Memory factors;      ///< L below the diagonal, [order, order]
  Memory strip;        ///< L D of the rows of a tile, [kSymmetricTile, order]
  Memory inverse;      ///< of D, zero of rows that are left out
  Memory given, rest;  ///< [order]
  Memory row_unit, column_unit;
  Memory typical;  ///< of each row: magnitudes times units of the columns
  Memory sums;

  PackSymmetricLayout() = default;
  CAROM_INLINE constexpr PackSymmetricLayout(kernels::Arena<Memory>& arena, long order)
      : factors(arena.take(order * order)),
        strip(arena.take(kSymmetricTile * order)),
        inverse(arena.take(order)),
        given(arena.take(order)),
        rest(arena.take(order)),
        row_unit(arena.take(order)),
        column_unit(arena.take(order)),
        typical(arena.take(order)),
        sums(arena.take(order)) {}
};

/// [P G'; G 0] of a problem a lane, P [n, n] definite and G [rows, n], by L D L' without pivots:
/// those of P are positive, those of the rows negative. A row that depends on those before it is
/// left out: its unknown is zero. Every solve is refined once.
template <class Isa>
class PackSymmetric {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  using Number = BodyNumber<Isa>;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kTile = static_cast<int>(kSymmetricTile);

 public:
  /// A pivot above this share of the terms that it came from is there; one of a row below kNothing
  /// is what rounding left of zero. Between them it is not told.
  static constexpr double kClear = 1e-9;
  static constexpr double kNothing = 1e-13;

  /// memory: PackSymmetricLayout of symmetric_order(size) for the largest size, in packs.
  PackSymmetric(double* memory, long order)
      : at_(kernels::placed<PackSymmetricLayout>(reinterpret_cast<Number*>(memory), order)) {}

  /// P [n, n], both halves, and G [rows, n], zero rows behind a lane's own. Lanes whose pivots are
  /// told; is_kept() says which rows were left out.
  Mask factor(int n, int rows, const double* p, const double* g) {
    n_ = n;
    rows_ = rows;
    p_ = p;
    g_ = g;
    order_ = static_cast<int>(symmetric_order(n + rows));
    Mask regular = Pack(0.0) <= Pack(0.0);
    for (int i = 0; i < order_; i += kTile) {
      load_strip(i);
      for (int j = 0; j < i; j += 2) reduce(j);
      scale_strip(i);
      regular = regular & pivots(i);
    }
    return regular;
  }

  [[nodiscard]] CAROM_INLINE Mask is_kept(int i) const { return pack(at_.inverse[i]) != Pack(0.0); }

  /// The units of rows and columns, the condition's norm, and typical(): after factor().
  void measure() {
    for (int i = 0; i < n_ + rows_; ++i) {
      Pack size(0.0);
      each_entry(i, [&](int, Pack value) { size = larger(size, magnitude(value)); });
      at_.row_unit[i] = inverse_power(size);
      at_.column_unit[i] = Pack(0.0);
      at_.sums[i] = Pack(0.0);
    }
    for (int i = 0; i < n_ + rows_; ++i) {
      const Pack unit = pack(at_.row_unit[i]);
      each_entry(i, [&](int j, Pack value) {
        at_.column_unit[j] = larger(pack(at_.column_unit[j]), magnitude(value) * unit);
      });
    }
    for (int i = 0; i < n_ + rows_; ++i) {
      at_.column_unit[i] = inverse_power(pack(at_.column_unit[i]));
    }
    for (int i = 0; i < n_ + rows_; ++i) {
      const Pack unit = pack(at_.row_unit[i]);
      Pack typical(0.0);
      each_entry(i, [&](int j, Pack value) {
        const Pack size = magnitude(value) * pack(at_.column_unit[j]);
        typical = typical + size;
        at_.sums[j] = pack(at_.sums[j]) + size * unit;
      });
      at_.typical[i] = typical;
    }
    norm_ = Pack(0.0);
    for (int j = 0; j < n_ + rows_; ++j) norm_ = larger(norm_, pack(at_.sums[j]));
  }
  /// The magnitudes of the terms of equation i where unknowns are 1 in their units.
  [[nodiscard]] CAROM_INLINE Pack typical(int i) const { return pack(at_.typical[i]); }
  [[nodiscard]] CAROM_INLINE Pack unit(int i) const { return pack(at_.column_unit[i]); }
  /// The largest of x [n + rows] in their units.
  [[nodiscard]] Pack size_in_units(const double* x) const {
    Pack size(0.0);
    for (int j = 0; j < n_ + rows_; ++j) {
      size = larger(size, magnitude(get(x, j)) / pack(at_.column_unit[j]));
    }
    return size;
  }

  /// x [order]: right-hand side, of which entries behind n + rows are zero; then the solution.
  void solve(double* x) const {
    for (int i = 0; i < order_; ++i) at_.given[i] = get(x, i);
    solve_once(x);
    auto* rest = reinterpret_cast<double*>(at_.rest);
    subtract_product(x);
    solve_once(rest);
    for (int i = 0; i < order_; ++i) put(x, i, get(x, i) + get(rest, i));
  }
  /// The same without refinement.
  void solve_once(double* x) const {
    const Number* l = at_.factors;
    for (int i = 0; i < order_; i += kTile) {  // rows side by side
      const Number* row = l + static_cast<long>(i) * order_;
      Pack sum[kTile];
      for (int r = 0; r < kTile; ++r) sum[r] = get(x, i + r);
      for (int k = 0; k < i; ++k) {
        const Pack by = -get(x, k);
        for (int r = 0; r < kTile; ++r) sum[r] = fused(pack(row[r * order_ + k]), by, sum[r]);
      }
      for (int r = 0; r < kTile; ++r) {
        for (int c = 0; c < r; ++c) sum[r] = fused(-pack(row[r * order_ + i + c]), sum[c], sum[r]);
        put(x, i + r, sum[r]);
      }
    }
    for (int i = 0; i < order_; ++i) put(x, i, get(x, i) * pack(at_.inverse[i]));
    for (int i = order_ - kTile; i >= 0; i -= kTile) {  // columns
      Pack sum[kTile];
      for (int r = 0; r < kTile; ++r) sum[r] = get(x, i + r);
      for (int k = order_ - 1; k >= i + kTile; --k) {
        const Number* row = l + static_cast<long>(k) * order_ + i;
        const Pack by = -get(x, k);
        for (int r = 0; r < kTile; ++r) sum[r] = fused(pack(row[r]), by, sum[r]);
      }
      for (int r = kTile - 1; r >= 0; --r) {
        for (int k = r + 1; k < kTile; ++k) {
          sum[r] = fused(-pack(l[static_cast<long>(i + k) * order_ + i + r]), sum[k], sum[r]);
        }
        put(x, i + r, sum[r]);
      }
    }
  }

  /// An estimate of the condition in the 1-norm, rows and columns in their units.
  [[nodiscard]] Pack condition() const {
    const auto through = [&](Number* x, const Number* before, const Number* after) {
      auto* values = reinterpret_cast<double*>(x);
      for (int i = 0; i < n_ + rows_; ++i) put(values, i, get(values, i) / pack(before[i]));
      for (int i = n_ + rows_; i < order_; ++i) put(values, i, Pack(0.0));
      solve_once(values);
      for (int i = 0; i < n_ + rows_; ++i) put(values, i, get(values, i) / pack(after[i]));
    };
    Pack count(0.0);
    for (int i = 0; i < n_ + rows_; ++i) {
      count = count + select(is_kept(i), Pack(1.0), Pack(0.0));
    }
    const Number inverse = derivatives::norm_estimate(
        n_ + rows_, Number(count), [&](int i) { return is_kept(i); }, at_.given, at_.rest,
        [&](Number* x) { through(x, at_.row_unit, at_.column_unit); },
        [&](Number* y) { through(y, at_.column_unit, at_.row_unit); });
    return pack(inverse) * norm_;
  }

  /// Whether row i of G, which is left out, is to `tolerance` a combination of the kept ones before
  /// it, its entries in units of 1 / share [n]. memory: [rows + n].
  [[nodiscard]] Mask depends(int i, const double* share, double tolerance, double* memory) const {
    double* w = memory;
    double* left = memory + static_cast<long>(rows_) * kWidth;
    const Number* l = at_.factors;
    // L_kk' w = the row's own part of L.
    for (int k = i - 1; k >= 0; --k) {
      Pack sum = pack(l[static_cast<long>(n_ + i) * order_ + n_ + k]);
      for (int o = k + 1; o < i; ++o) {
        sum = fused(-pack(l[static_cast<long>(n_ + o) * order_ + n_ + k]), get(w, o), sum);
      }
      put(w, k, select(is_kept(n_ + k), sum, Pack(0.0)));
    }
    const double* own = g_ + static_cast<long>(i) * n_ * kWidth;
    for (int j = 0; j < n_; ++j) put(left, j, get(own, j));
    for (int k = 0; k < i; ++k) {
      const double* other = g_ + static_cast<long>(k) * n_ * kWidth;
      const Pack by = -get(w, k);
      for (int j = 0; j < n_; ++j) put(left, j, fused(get(other, j), by, get(left, j)));
    }
    Pack size(0.0), missing(0.0);
    for (int j = 0; j < n_; ++j) {
      const Pack a = get(own, j) * get(share, j), b = get(left, j) * get(share, j);
      size = fused(a, a, size);
      missing = fused(b, b, missing);
    }
    return missing <= Pack(tolerance * tolerance) * size;
  }

 private:
  static CAROM_INLINE Pack pack(Number value) {
    if constexpr (Isa::kInRegisters) {
      return value.pack();
    } else {
      return value;
    }
  }
  static CAROM_INLINE Pack get(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store_doubles(array + i * kWidth);
  }
  /// call(j, K_ij) for the entries of row i that are not zero by their place.
  template <class Call>
  CAROM_INLINE void each_entry(int i, Call&& call) const {
    const double* row = i < n_ ? p_ + static_cast<long>(i) * n_ * kWidth
                               : g_ + static_cast<long>(i - n_) * n_ * kWidth;
    for (int j = 0; j < n_; ++j) call(j, get(row, j));
    if (i >= n_) return;
    for (int c = 0; c < rows_; ++c) call(n_ + c, get(g_, static_cast<long>(c) * n_ + i));
  }
  /// As FactorsOf has it; 1 where the row is empty.
  static CAROM_INLINE Pack inverse_power(Pack size) {
    Number power;
    const auto there = derivatives::inverse_powers(Number(size), power);
    return select(there, pack(power), Pack(1.0));
  }

  CAROM_INLINE void load_strip(int i) {
    for (int r = 0; r < kTile; ++r) {
      Number* to = at_.strip + static_cast<long>(r) * order_;
      const int own = i + r;
      const int columns = own < n_ ? own + 1 : own < n_ + rows_ ? n_ : 0;
      const double* from = own < n_ ? p_ + static_cast<long>(own) * n_ * kWidth
                                    : g_ + static_cast<long>(own - n_) * n_ * kWidth;
      for (int j = 0; j < columns; ++j) to[j] = get(from, j);
      for (int j = columns; j < i + kTile; ++j) to[j] = Pack(0.0);
    }
  }
  /// Columns j and j + 1 of the strip, less what the columns before them say.
  CAROM_INLINE void reduce(int j) {
    Number* strip = at_.strip;
    const Number* one = at_.factors + static_cast<long>(j) * order_;
    const Number* two = one + order_;
    Pack sum[kTile][2];
    for (int r = 0; r < kTile; ++r) {
      for (int c = 0; c < 2; ++c) sum[r][c] = pack(strip[r * order_ + j + c]);
    }
    for (int k = 0; k < j; ++k) {
      const Pack a = -pack(one[k]), b = -pack(two[k]);
      for (int r = 0; r < kTile; ++r) {
        const Pack by = pack(strip[r * order_ + k]);
        sum[r][0] = fused(by, a, sum[r][0]);
        sum[r][1] = fused(by, b, sum[r][1]);
      }
    }
    const Pack last = -pack(two[j]);
    for (int r = 0; r < kTile; ++r) {
      sum[r][1] = fused(sum[r][0], last, sum[r][1]);
      for (int c = 0; c < 2; ++c) strip[r * order_ + j + c] = sum[r][c];
    }
  }
  /// L of the strip before its own columns.
  CAROM_INLINE void scale_strip(int i) {
    for (int r = 0; r < kTile; ++r) {
      const Number* from = at_.strip + static_cast<long>(r) * order_;
      Number* to = at_.factors + static_cast<long>(i + r) * order_;
      for (int k = 0; k < i; ++k) to[k] = pack(from[k]) * pack(at_.inverse[k]);
    }
  }
  /// The strip's own columns and pivots; lanes whose pivots are told.
  CAROM_INLINE Mask pivots(int i) {
    const Pack zero(0.0), one(1.0);
    Number* strip = at_.strip;
    Number* rows = at_.factors + static_cast<long>(i) * order_;
    Pack sum[kTile][kTile];
    const auto subtract = [&](int first, int last) {
      for (int k = first; k < last; ++k) {
        Pack l[kTile];
        for (int c = 0; c < kTile; ++c) l[c] = -pack(rows[static_cast<long>(c) * order_ + k]);
        for (int r = 0; r < kTile; ++r) {
          const Pack by = pack(strip[static_cast<long>(r) * order_ + k]);
          for (int c = 0; c <= r; ++c) sum[r][c] = fused(by, l[c], sum[r][c]);
        }
      }
    };
    for (int r = 0; r < kTile; ++r) {
      for (int c = 0; c <= r; ++c) sum[r][c] = pack(strip[static_cast<long>(r) * order_ + i + c]);
    }
    const int inner = n_ < i ? n_ : i;
    Pack size[kTile];  // of the terms that a pivot comes from
    subtract(0, inner);
    for (int r = 0; r < kTile; ++r) size[r] = i + r < n_ ? sum[r][r] : -sum[r][r];
    subtract(inner, i);
    Mask regular = zero <= zero;
    Pack l[kTile][kTile], inverse[kTile];
    for (int r = 0; r < kTile; ++r) {
      const bool of_p = i + r < n_;
      for (int c = 0; c < r; ++c) {
        for (int k = 0; k < c; ++k) sum[r][c] = fused(sum[r][k], -l[c][k], sum[r][c]);
        l[r][c] = sum[r][c] * inverse[c];
        rows[static_cast<long>(r) * order_ + i + c] = l[r][c];
        sum[r][r] = fused(sum[r][c], -l[r][c], sum[r][r]);
        if (i + c < n_ && !of_p) size[r] = -sum[r][r];
      }
      if (of_p) size[r] = pack(strip[static_cast<long>(r) * order_ + i + r]);
      const Pack found = of_p ? sum[r][r] : -sum[r][r];
      const Mask clear = found > Pack(kClear) * size[r];
      regular = regular & (of_p ? clear : clear | (found <= Pack(kNothing) * size[r]));
      inverse[r] = select(clear, one / select(clear, sum[r][r], one), zero);
      at_.inverse[i + r] = inverse[r];
    }
    return regular;
  }
  /// rest = given - K x.
  CAROM_INLINE void subtract_product(const double* x) const {
    for (int i = 0; i < order_; ++i) at_.rest[i] = at_.given[i];
    int i = 0;
    for (; i + kTile <= n_; i += kTile) {
      Pack sum[kTile];
      for (int r = 0; r < kTile; ++r) sum[r] = pack(at_.rest[i + r]);
      const double* row = p_ + static_cast<long>(i) * n_ * kWidth;
      const long stride = static_cast<long>(n_) * kWidth;
      for (int j = 0; j < n_; ++j) {
        const Pack by = -get(x, j);
        for (int r = 0; r < kTile; ++r) sum[r] = fused(get(row + r * stride, j), by, sum[r]);
      }
      const double* column = g_ + static_cast<long>(i) * kWidth;
      for (int c = 0; c < rows_; ++c) {
        const Pack by = -get(x, n_ + c);
        for (int r = 0; r < kTile; ++r) sum[r] = fused(get(column + c * stride, r), by, sum[r]);
      }
      for (int r = 0; r < kTile; ++r) at_.rest[i + r] = sum[r];
    }
    for (; i < n_; ++i) {
      Pack sum = pack(at_.rest[i]);
      each_entry(i, [&](int j, Pack value) { sum = fused(value, -get(x, j), sum); });
      at_.rest[i] = sum;
    }
    for (int c = 0; c < rows_; c += kTile) {
      const int count = rows_ - c < kTile ? rows_ - c : kTile;
      if (count == kTile) {
        Pack sum[kTile];
        const double* row = g_ + static_cast<long>(c) * n_ * kWidth;
        const long stride = static_cast<long>(n_) * kWidth;
        for (int r = 0; r < kTile; ++r) sum[r] = pack(at_.rest[n_ + c + r]);
        for (int j = 0; j < n_; ++j) {
          const Pack by = -get(x, j);
          for (int r = 0; r < kTile; ++r) sum[r] = fused(get(row + r * stride, j), by, sum[r]);
        }
        for (int r = 0; r < kTile; ++r) at_.rest[n_ + c + r] = sum[r];
        continue;
      }
      for (int r = c; r < rows_; ++r) {
        Pack sum = pack(at_.rest[n_ + r]);
        each_entry(n_ + r, [&](int j, Pack value) { sum = fused(value, -get(x, j), sum); });
        at_.rest[n_ + r] = sum;
      }
    }
  }

  PackSymmetricLayout<Number*> at_;
  int n_ = 0, rows_ = 0, order_ = 0;
  const double* p_ = nullptr;
  const double* g_ = nullptr;
  Pack norm_{0.0};
};

}  // namespace carom::cpu::simd
