#pragma once

#include <cstdint>
#include <cstring>

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>

/// Dense factors of the equations of one answer's modes: small, general and nearly always regular.
namespace carom::derivatives {

// What bodies over numbers V, a double or a pack of them, call by plain names.
using kernels::all_of;
using kernels::any_of;
using kernels::larger;
using kernels::select;
using kernels::smaller;
using kernels::square_root;

/// |x|.
CAROM_INLINE double magnitude(double x) { return certificate::absolute(x); }

template <class Memory>
struct FactorsLayout {
  Memory matrix;        ///< as given, row-major [n, n]
  Memory lu;            ///< of the scaled matrix, pivots by their inverses; or minus its inverse
  Memory row_scale;     ///< powers of two
  Memory column_scale;  ///< likewise
  Memory given, rest;
  Memory swaps;  ///< [n] of each lane, of twelve doubles at most

  FactorsLayout() = default;
  CAROM_INLINE constexpr FactorsLayout(kernels::Arena<Memory>& arena, long n)
      : matrix(arena.take(n * n)),
        lu(arena.take(n * n)),
        row_scale(arena.take(n)),
        column_scale(arena.take(n)),
        given(arena.take(n)),
        rest(arena.take(n)),
        swaps(arena.take(12 * n)) {}
};

/// Hager's estimate of a matrix's 1-norm (Higham 2002, algorithm 15.1) from its products, which
/// apply(x) and apply_transposed(y) put in place. counts(i): lanes that have row i of n; count: how
/// many each lane has.
template <class V, class Counts, class Apply, class ApplyTransposed>
CAROM_INLINE V norm_estimate(int n, V count, Counts&& counts, V* x, V* y, Apply&& apply,
                             ApplyTransposed&& apply_transposed) {
  const V zero(0.0), one(1.0);
  auto going = zero < count;
  const V share = one / select(going, count, one);
  for (int i = 0; i < n; ++i) x[i] = select(counts(i), share, zero);
  V best = zero, last(-1.0);
  for (int round = 0; round < 3; ++round) {
    apply(x);
    V sum = zero;
    for (int i = 0; i < n; ++i) {
      sum = sum + magnitude(x[i]);
      y[i] = select(counts(i), select(x[i] >= zero, one, -one), zero);
    }
    going = going & (sum > best);
    best = select(going, sum, best);
    if (round == 2 || !any_of(going)) break;
    apply_transposed(y);
    V most = magnitude(y[0]), place = zero;
    for (int i = 1; i < n; ++i) {
      const V size = magnitude(y[i]);
      place = select(size > most, V(static_cast<double>(i)), place);
      most = larger(size, most);
    }
    going = going & (place != last);  // the same column again says the same
    if (!any_of(going)) break;
    last = place;
    for (int i = 0; i < n; ++i) {
      x[i] = select(place != V(static_cast<double>(i)), zero, one);
    }
  }
  return best;
}

/// The same of the first `count` rows of each lane.
template <class V, class Apply, class ApplyTransposed>
CAROM_INLINE V norm_estimate(int n, V count, V* x, V* y, Apply&& apply,
                             ApplyTransposed&& apply_transposed) {
  return norm_estimate(
      n, count, [&](int i) { return V(static_cast<double>(i)) < count; }, x, y, apply,
      apply_transposed);
}

/// Powers of two that make sizes lie in [1/2, 1), by the exponent's bits; lanes that have one.
template <class V>
CAROM_INLINE auto inverse_powers(V size, V& to) {
  std::uint64_t bits[kernels::kLaneCount<V>];
  std::memcpy(bits, &size, sizeof bits);
  for (std::uint64_t& word : bits) word = (std::uint64_t{2045} - (word >> 52U)) << 52U;
  std::memcpy(static_cast<void*>(&to), bits, sizeof bits);
  return (size > V(0x1.0p-1022)) & (size < V(0x1.0p1021));
}

/// LU with partial pivoting of a matrix whose rows and columns are first scaled to size one, so
/// that neither pivots nor the condition depend on units. Every solve is refined once. Of a pack
/// each lane has the bits that its matrix has alone; lanes of fewer rows than n have unit rows
/// behind them. Few unknowns have the scaled matrix's inverse instead: its products wait for each
/// other less than triangular solves do, and its norm needs no solves.
template <class V>
class FactorsOf {
  using Mask = decltype(V() < V());
  static constexpr int kLanes = kernels::kLaneCount<V>;

 public:
  /// A pivot below this share of the scaled entries is what rounding left of zero.
  static constexpr double kSingular = 1e-13;
  /// Largest capacity for which the inverse is formed.
  static constexpr int kMostInverted = 10;

  /// memory: FactorsLayout of `capacity`.
  CAROM_INLINE FactorsOf(V* memory, int capacity)
      : at_(kernels::placed<FactorsLayout>(memory, static_cast<long>(capacity))),
        swaps_(reinterpret_cast<Swap*>(at_.swaps)),
        inverts_(capacity <= kMostInverted) {
    static_assert(sizeof(Swap) <= 12 * sizeof(double));
  }

  /// Row-major [n, n], to be filled before factor(n).
  [[nodiscard]] CAROM_INLINE V* matrix() const { return at_.matrix; }

  CAROM_HOST_DEVICE Mask factor(int n) { return factor(n, V(static_cast<double>(n))); }

  /// count: rows of each lane, the first ones; or those where `there` is above zero, the others
  /// unit rows. Lanes whose matrix is not singular to rounding.
  CAROM_HOST_DEVICE Mask factor(int n, V count, const V* there = nullptr) {
    n_ = n;
    count_ = count;
    there_ = there;
    Mask regular = V(0.0) <= V(0.0);
    for (int i = 0; i < n; ++i) {
      V size(0.0);
      for (int j = 0; j < n; ++j) size = larger(size, magnitude(entry(i, j)));
      regular = regular & inverse_powers(size, at_.row_scale[i]);
    }
    // Of columns row by row: their chains of operations run side by side.
    V* column = at_.given;
    for (int j = 0; j < n; ++j) column[j] = V(0.0);
    for (int i = 0; i < n; ++i) {
      const V scale = at_.row_scale[i];
      for (int j = 0; j < n; ++j) column[j] = larger(column[j], magnitude(entry(i, j)) * scale);
    }
    for (int j = 0; j < n; ++j) {
      regular = regular & inverse_powers(column[j], at_.column_scale[j]);
      column[j] = V(0.0);
    }
    if (!any_of(regular)) return regular;
    for (int i = 0; i < n; ++i) {
      const V scale = at_.row_scale[i];
      for (int j = 0; j < n; ++j) {
        const V value = entry(i, j) * scale * at_.column_scale[j];
        lu(i, j) = value;
        column[j] += magnitude(value);
      }
    }
    norm_ = V(0.0);
    for (int j = 0; j < n; ++j) norm_ = select(within(j), larger(norm_, column[j]), norm_);
    sign_ = V(1.0);
    swap_count_ = 0;
    for (int k = 0; k < n; ++k) {
      take_pivot(k);
      const V pivot = lu(k, k);
      regular = regular & (magnitude(pivot) > V(kSingular));
      if (!any_of(regular)) return regular;
      sign_ = select(pivot < V(0.0), -sign_, sign_);
      // In place of what the inverse has in this column; by Gauss and Jordan all rows change.
      const V inverse = V(1.0) / pivot;
      const int first = inverts_ ? 0 : k + 1;
      const V* from = &lu(k, 0);
      for (int i = first; i < n; ++i) {
        if (i == k) continue;
        V* row = &lu(i, 0);
        const V factor = row[k] * inverse;
        if (any_of(factor != V(0.0))) {
          subtract_products(factor, from + first, n - first, row + first);
        }
        row[k] = factor;
      }
      lu(k, k) = inverse;
      if (!inverts_) continue;
      for (int j = 0; j < n; ++j) lu(k, j) *= j == k ? V(-1.0) : inverse;
    }
    for (int s = swap_count_ - 1; s >= 0 && inverts_; --s) {
      const Swap& swap = swaps_[s];
      for (int i = 0; i < n; ++i) exchange(swap.lanes, lu(i, swap.row), lu(i, swap.other));
    }
    return regular;
  }

  /// What x_j is like in a solution of x's size: unknowns of the scaled matrix have one unit.
  [[nodiscard]] CAROM_HOST_DEVICE V size_in_units(const V* x) const {
    V size(0.0);
    for (int j = 0; j < n_; ++j) size = larger(size, magnitude(x[j]) / at_.column_scale[j]);
    return size;
  }
  [[nodiscard]] CAROM_INLINE V unit(int j) const { return at_.column_scale[j]; }

  /// That of the determinant, 1 or -1.
  [[nodiscard]] CAROM_INLINE V sign() const { return sign_; }

  /// x: right-hand side, then A^-1 of it.
  CAROM_HOST_DEVICE void solve(V* x) const {
    V* rest = at_.rest;
    copy(x, at_.given);
    scaled_solve(x);
    copy(at_.given, rest);
    subtract_product(at_.matrix, x, rest);
    scaled_solve(rest);
    add(rest, x);
  }

  /// The same without refinement, as for a step of Newton's method.
  CAROM_INLINE void solve_once(V* x) const { scaled_solve(x); }

  /// x: right-hand side, then A^-T of it.
  CAROM_HOST_DEVICE void solve_transposed(V* x) const {
    V* rest = at_.rest;
    copy(x, at_.given);
    scaled_solve_transposed(x);
    copy(at_.given, rest);
    subtract_transposed_product(at_.matrix, x, rest);
    scaled_solve_transposed(rest);
    add(rest, x);
  }

  CAROM_INLINE void solve_transposed_once(V* x) const { scaled_solve_transposed(x); }

  /// The scaled matrix's condition in the 1-norm; of many unknowns an estimate.
  [[nodiscard]] CAROM_HOST_DEVICE V condition() const {
    const V inverse =
        inverts_ ? inverse_norm()
                 : norm_estimate(
                       n_, count_, [&](int i) { return within(i); }, at_.given, at_.rest,
                       [&](V* x) { eliminate(x); }, [&](V* y) { eliminate_transposed(y); });
    return select(V(0.0) < count_, inverse * norm_, V(1.0));
  }

 private:
  /// Two rows that some lanes exchange.
  struct Swap {
    int row, other;
    Mask lanes;
  };

  [[nodiscard]] CAROM_INLINE Mask within(int k) const {
    if (there_ != nullptr) return V(0.0) < there_[k];
    return V(static_cast<double>(k)) < count_;
  }
  CAROM_INLINE V entry(int i, int j) const { return at_.matrix[static_cast<long>(i) * n_ + j]; }
  CAROM_INLINE V& lu(int i, int j) const { return at_.lu[static_cast<long>(i) * n_ + j]; }
  CAROM_INLINE void copy(const V* from, V* to) const {
    for (int i = 0; i < n_; ++i) to[i] = from[i];
  }
  CAROM_INLINE void add(const V* from, V* to) const {
    for (int i = 0; i < n_; ++i) to[i] += from[i];
  }
  /// The largest entry of column k, first of equals, goes to its row.
  CAROM_INLINE void take_pivot(int k) {
    const V own(static_cast<double>(k));
    V most = magnitude(lu(k, k)), place = own;
    for (int i = k + 1; i < n_; ++i) {
      const V size = magnitude(lu(i, k));
      place = select(size > most, V(static_cast<double>(i)), place);
      most = larger(size, most);
    }
    Mask moves = place != own;
    if (!any_of(moves)) return;
    sign_ = select(moves, -sign_, sign_);
    for (int i = k + 1; any_of(moves); ++i) {
      const Mask here = moves & !(place != V(static_cast<double>(i)));
      if (!any_of(here)) continue;
      moves = moves & !here;
      swaps_[swap_count_++] = {k, i, here};
      for (int j = 0; j < n_; ++j) exchange(here, lu(k, j), lu(i, j));
    }
  }
  static CAROM_INLINE void exchange(Mask lanes, V& a, V& b) {
    const V before = a;
    a = select(lanes, b, before);
    b = select(lanes, before, b);
  }
  /// All swaps.
  CAROM_INLINE void permute(V* x) const {
    for (int s = 0; s < swap_count_; ++s) {
      exchange(swaps_[s].lanes, x[swaps_[s].row], x[swaps_[s].other]);
    }
  }
  CAROM_INLINE void permute_back(V* x) const {
    for (int s = swap_count_ - 1; s >= 0; --s) {
      exchange(swaps_[s].lanes, x[swaps_[s].row], x[swaps_[s].other]);
    }
  }

  static constexpr int kSideBySide = 4;

  /// to_j -= by from_j, j < count.
  static CAROM_INLINE void subtract_products(V by, const V* from, int count, V* to) {
    int j = 0;
    for (; j + kSideBySide <= count; j += kSideBySide) {
      for (int k = 0; k < kSideBySide; ++k) to[j + k] -= by * from[j + k];
    }
    for (; j < count; ++j) to[j] -= by * from[j];
  }
  /// to_k -= sum over j < count of A_kj x_j in some rows from i on, whose chains of operations run
  /// side by side.
  template <int kRows = kSideBySide>
  CAROM_INLINE void subtract_rows(const V* a, int i, int count, const V* x, V* to) const {
    const V* row = a + static_cast<long>(i) * n_;
    V sum[kRows];
    for (int k = 0; k < kRows; ++k) sum[k] = to[i + k];
    for (int j = 0; j < count; ++j) {
      const V by = x[j];
      for (int k = 0; k < kRows; ++k) sum[k] -= row[static_cast<long>(k) * n_ + j] * by;
    }
    for (int k = 0; k < kRows; ++k) to[i + k] = sum[k];
  }
  /// to -= A x.
  CAROM_INLINE void subtract_product(const V* a, const V* x, V* to) const {
    int i = 0;
    for (; i + kSideBySide <= n_; i += kSideBySide) subtract_rows(a, i, n_, x, to);
    const int left = n_ - i;
    if (left == 3) return subtract_rows<3>(a, i, n_, x, to);
    if (left == 2) return subtract_rows<2>(a, i, n_, x, to);
    if (left == 1) subtract_rows<1>(a, i, n_, x, to);
  }
  /// to_k -= sum of A_ik x_i in some columns from j on, over the rows i = first, first + step, ..
  /// before last: of each column in that order.
  template <int kColumns = kSideBySide>
  CAROM_INLINE void subtract_columns(const V* a, int j, int first, int last, int step, const V* x,
                                     V* to) const {
    V sum[kColumns];
    for (int k = 0; k < kColumns; ++k) sum[k] = to[j + k];
    for (int i = first; i != last; i += step) {
      const V by = x[i];
      const V* row = a + static_cast<long>(i) * n_ + j;
      for (int k = 0; k < kColumns; ++k) sum[k] -= row[k] * by;
    }
    for (int k = 0; k < kColumns; ++k) to[j + k] = sum[k];
  }
  /// to -= A'x.
  CAROM_INLINE void subtract_transposed_product(const V* a, const V* x, V* to) const {
    int j = 0;
    for (; j + kSideBySide <= n_; j += kSideBySide) subtract_columns(a, j, 0, n_, 1, x, to);
    const int left = n_ - j;
    if (left == 3) return subtract_columns<3>(a, j, 0, n_, 1, x, to);
    if (left == 2) return subtract_columns<2>(a, j, 0, n_, 1, x, to);
    if (left == 1) subtract_columns<1>(a, j, 0, n_, 1, x, to);
  }

  /// That of the inverse in the 1-norm.
  [[nodiscard]] CAROM_HOST_DEVICE V inverse_norm() const {
    V column[kMostInverted];
    for (int j = 0; j < n_; ++j) column[j] = V(0.0);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) column[j] += magnitude(lu(i, j));
    }
    V norm(0.0);
    for (int j = 0; j < n_; ++j) norm = select(within(j), larger(norm, column[j]), norm);
    return norm;
  }

  /// With the scaled matrix's factors.
  CAROM_HOST_DEVICE void eliminate(V* x) const {
    if (inverts_) return invert(x);
    permute(x);
    int i = 0;
    for (; i + kSideBySide <= n_; i += kSideBySide) {
      subtract_rows(at_.lu, i, i, x, x);
      for (int k = i + 1; k < i + kSideBySide; ++k) {
        for (int j = i; j < k; ++j) x[k] -= lu(k, j) * x[j];
      }
    }
    for (; i < n_; ++i) {
      V sum = x[i];
      for (int j = 0; j < i; ++j) sum -= lu(i, j) * x[j];
      x[i] = sum;
    }
    // What is known last stands last in a row's sum, so that rows do not wait for each other.
    for (i = n_; i >= kSideBySide; i -= kSideBySide) {
      const int top = i - kSideBySide;
      V sum[kSideBySide];
      for (int k = 0; k < kSideBySide; ++k) sum[k] = x[top + k];
      for (int j = n_ - 1; j >= i; --j) {
        const V by = x[j];
        for (int k = 0; k < kSideBySide; ++k) sum[k] -= lu(top + k, j) * by;
      }
      for (int k = kSideBySide - 1; k >= 0; --k) {
        for (int j = kSideBySide - 1; j > k; --j) sum[k] -= lu(top + k, top + j) * x[top + j];
        x[top + k] = sum[k] * lu(top + k, top + k);
      }
    }
    for (--i; i >= 0; --i) {
      V sum = x[i];
      for (int j = n_ - 1; j > i; --j) sum -= lu(i, j) * x[j];
      x[i] = sum * lu(i, i);
    }
  }
  CAROM_HOST_DEVICE void eliminate_transposed(V* x) const {
    if (inverts_) return invert_transposed(x);
    int j = 0;
    for (; j + kSideBySide <= n_; j += kSideBySide) {
      subtract_columns(at_.lu, j, 0, j, 1, x, x);
      for (int k = j; k < j + kSideBySide; ++k) {
        V sum = x[k];
        for (int i = j; i < k; ++i) sum -= lu(i, k) * x[i];
        x[k] = sum * lu(k, k);
      }
    }
    for (; j < n_; ++j) {
      V sum = x[j];
      for (int i = 0; i < j; ++i) sum -= lu(i, j) * x[i];
      x[j] = sum * lu(j, j);
    }
    for (j = n_; j >= kSideBySide; j -= kSideBySide) {
      const int top = j - kSideBySide;
      subtract_columns(at_.lu, top, n_ - 1, j - 1, -1, x, x);
      for (int k = j - 2; k >= top; --k) {
        V sum = x[k];
        for (int i = j - 1; i > k; --i) sum -= lu(i, k) * x[i];
        x[k] = sum;
      }
    }
    for (--j; j >= 0; --j) {
      V sum = x[j];
      for (int i = n_ - 1; i > j; --i) sum -= lu(i, j) * x[i];
      x[j] = sum;
    }
    permute_back(x);
  }
  /// The same by the inverse.
  CAROM_INLINE void invert(V* x) const {
    V from[kMostInverted];
    take(x, from);
    subtract_product(at_.lu, from, x);
  }
  CAROM_INLINE void invert_transposed(V* x) const {
    V from[kMostInverted];
    take(x, from);
    subtract_transposed_product(at_.lu, from, x);
  }
  /// to := x, x := 0.
  CAROM_INLINE void take(V* x, V* to) const {
    for (int i = 0; i < n_; ++i) {
      to[i] = x[i];
      x[i] = V(0.0);
    }
  }
  CAROM_INLINE void scaled_solve(V* x) const {
    for (int i = 0; i < n_; ++i) x[i] *= at_.row_scale[i];
    eliminate(x);
    for (int i = 0; i < n_; ++i) x[i] *= at_.column_scale[i];
  }
  CAROM_INLINE void scaled_solve_transposed(V* x) const {
    for (int i = 0; i < n_; ++i) x[i] *= at_.column_scale[i];
    eliminate_transposed(x);
    for (int i = 0; i < n_; ++i) x[i] *= at_.row_scale[i];
  }

  FactorsLayout<V*> at_;
  Swap* swaps_;
  bool inverts_;
  int n_ = 0;
  int swap_count_ = 0;
  const V* there_ = nullptr;
  V count_{0.0};
  V norm_{0.0};
  V sign_{1.0};
};
using Factors = FactorsOf<double>;

}  // namespace carom::derivatives
