#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"

/// The table of a quadratic program's rows among themselves that principal pivots work on.
namespace carom::kernels {

inline constexpr int kLargestPivotTableRows = 64;
inline constexpr int kLargestPivotTableVariables = 24;

template <class Memory>
struct QpPivotTableLayout {
  Memory table;
  Memory scale;   ///< 1 / sqrt(a'P^-1 a) of each row, 0 where it has no entries
  Memory factor;  ///< P = L D L'
  Memory pivot_inverse;
  Memory inverse;  ///< P^-1, [n, n]
  Memory through;  ///< A P^-1, [rows, n]

  QpPivotTableLayout() = default;
  CAROM_INLINE constexpr QpPivotTableLayout(Arena<Memory>& arena, long n, long rows)
      : table(arena.take(rows * (rows + 1) / 2)),
        scale(arena.take(rows)),
        factor(arena.take(n * n)),
        pivot_inverse(arena.take(n)),
        inverse(arena.take(n * n)),
        through(arena.take((rows > n ? rows : n) * n)) {}
};

/// One entry of a table, where one problem has it all. Packs bring one of their own: each lane has
/// an index of its own.
struct QpOneEntry {
  static constexpr bool kProximal = false;  ///< whether a semidefinite P is taken as well
  template <class Memory>
  static CAROM_INLINE double take(const Memory& table, double index) {
    return table[static_cast<long>(index)];
  }
  /// Only where `on`.
  template <class Memory>
  static CAROM_INLINE void put(const Memory& table, bool on, double index, double value) {
    if (on) table[static_cast<long>(index)] = value;
  }
};

/// With W the active rows and G = A P^-1 A', rows scaled to G_ii = 1, the table holds -G_WW^-1,
/// G_NW G_WW^-1 and G_NN - G_NW G_WW^-1 G_WN, the lower half row after row. N: the number of
/// variables where it is known in advance, or 0. It changes no bit of an answer.
template <class V, class Memory, class Entry = QpOneEntry, int N = 0>
class QpPivotTable {
 public:
  /// A pivot whose change of the table, down column column', may be outstanding.
  struct Change {
    Memory column;
    V down;
  };

  CAROM_HOST_DEVICE QpPivotTable(const QpShape& shape, const QpPivotTableLayout<Memory>& layout)
      : parts_{layout, shape, shape.variables, shape.rows} {}

  [[nodiscard]] CAROM_INLINE int variables() const { return N > 0 ? N : parts_.n; }

  /// Whether P is definite beyond doubt.
  template <class Data>
  CAROM_CALL MaskOf<V> factorise(const Data& hessian) {
    const Parts m = parts_;
    const int n = variables();
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) m.factor[j * n + i] = hessian[i * n + j];
    }
    const SingleLane lane;
    factor_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, V(0.0));
    MaskOf<V> definite = mask_of<V>(true);
    for (int j = 0; j < n; ++j) {
      const V pivot = m.factor[j * n + j];
      definite = definite & (pivot > V(kDefinite) * hessian[j * n + j]);
    }
    return definite;
  }

  /// Whether P is convex at all, but for rounding. Overwrites the factors.
  template <class Data>
  CAROM_CALL MaskOf<V> is_convex(const Data& hessian) {
    const SingleLane lane;
    return convexity_pivot<V, N>(lane, variables(), hessian, parts_.factor, parts_.pivot_inverse) >=
           V(0.0);
  }
  /// factorise() of P with `raise` on its diagonal; whether all pivots keep a quarter of it.
  template <class Data>
  CAROM_CALL MaskOf<V> factorise_raised(const Data& hessian, const Memory& raise) {
    const Parts m = parts_;
    const int n = variables();
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) m.factor[j * n + i] = hessian[i * n + j];
      m.factor[j * n + j] = m.factor[j * n + j] + raise[j];
    }
    const SingleLane lane;
    factor_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, V(0.0));
    MaskOf<V> definite = mask_of<V>(true);
    for (int j = 0; j < n; ++j) {
      definite = definite & (m.factor[j * n + j] > V(0.25) * raise[j]);
    }
    return definite;
  }

  /// P^-1 = K' D^-1 K with K = L^-1, which stands in `through` meanwhile.
  CAROM_CALL void invert() {
    if constexpr (N > 0) {
      invert_factor<0>();
      multiply_factors<0>();
    } else {
      for (int j = 0; j < parts_.n; ++j) invert_column<kLargestPivotTableVariables>(j);
      for (int j = 0; j < parts_.n; ++j) multiply_column<kLargestPivotTableVariables>(j);
    }
  }
  /// G = A P^-1 A', always from the later row's nonzero entries: which of two rows is the shorter
  /// one depends on the whole batch, and an answer must not.
  template <class Data>
  CAROM_CALL void fill(const Data& matrix) {
    const Parts m = parts_;
    for (int i = 0; i < m.rows; ++i) {
      switch (m.shape.row_first[i + 1] - m.shape.row_first[i]) {
        case 1:
          fill_row<1>(matrix, i);
          break;
        case 2:
          fill_row<2>(matrix, i);
          break;
        case 3:
          fill_row<3>(matrix, i);
          break;
        default:
          fill_row<0>(matrix, i);
      }
    }
  }

  /// x := P^-1 x
  CAROM_CALL void solve(const Memory& x) const {
    const SingleLane lane;
    solve_symmetric<V, N>(lane, variables(), parts_.factor, parts_.pivot_inverse, x);
  }

  /// Entry (index, index) with an outstanding change.
  template <bool Waiting>
  CAROM_INLINE V diagonal(V index, const Change& waiting) const {
    V diagonal = Entry::take(parts_.table, triangle_of(index) + index);
    if constexpr (Waiting) {
      const V entry = Entry::take(waiting.column, index);
      diagonal = fused(entry, entry * waiting.down, diagonal);
    }
    return diagonal;
  }

  /// Column `index` of the table with an outstanding change.
  template <bool Waiting>
  CAROM_INLINE void take_column(V index, const Change& waiting, const Memory& column) const {
    const Parts m = parts_;
    const V start = triangle_of(index);
    V factor(0.0);
    if constexpr (Waiting) factor = Entry::take(waiting.column, index) * waiting.down;
    V row(0.0);
    for (int i = 0; i < m.rows; ++i) {
      // The larger one is the one in the lower half.
      const V at = larger(V(static_cast<double>(triangle(i))) + index, start + row);
      V entry = Entry::take(m.table, at);
      if constexpr (Waiting) entry = fused(waiting.column[i], factor, entry);
      column[i] = entry;
      row = row + V(1.0);
    }
  }

  /// What a pivot on (index, index) leaves to change: T - c c' / p turns row and column `index`
  /// into sign c / p if there c is p - sign, and the pivot into -1 / p if 2 sign is taken off
  /// before. sign: 1 for a row that enters, -1 for one that leaves. Only where `on`.
  CAROM_INLINE void begin_pivot(MaskOf<V> on, V index, V sign, Change& change) const {
    const V pivot = Entry::take(change.column, index);
    const V place = triangle_of(index) + index;
    const Memory table = parts_.table;
    Entry::put(table, on, place, fused(V(-2.0), sign, Entry::take(table, place)));
    Entry::put(change.column, on, index, pivot - sign);
    change.down = select(on, V(-1.0) / pivot, V(0.0));
  }

  template <bool Both>
  CAROM_INLINE void change(const Change& one, const Change& two) const {
    constexpr int kBlock = 8;
    const int rows = parts_.rows;
    int j = 0;
    for (; j + kBlock <= rows; j += kBlock) change_columns<Both, kBlock>(one, two, j);
    for (; j < rows; ++j) change_columns<Both, 1>(one, two, j);
  }
  /// to := T from, symmetric as the table is.
  CAROM_INLINE void multiply(const Memory& from, const Memory& to) const {
    const Parts m = parts_;
    for (int i = 0; i < m.rows; ++i) to[i] = V(0.0);
    for (int i = 0; i < m.rows; ++i) {
      const Memory row = m.table + triangle(i);
      const V mine = from[i];
      V sum = row[i] * mine;
      for (int j = 0; j < i; ++j) {
        sum = fused(row[j], from[j], sum);
        to[j] = fused(row[j], mine, to[j]);
      }
      to[i] = to[i] + sum;
    }
  }

 private:
  static constexpr double kDefinite = 1e-13;  // smallest pivot of P relative to its diagonal

  struct Parts : QpPivotTableLayout<Memory> {
    QpShape shape;
    int n, rows;
  };

  static CAROM_INLINE constexpr int triangle(int i) { return i * (i + 1) / 2; }
  static CAROM_INLINE V triangle_of(V index) { return V(0.5) * fused(index, index, index); }

  // Column by column, each in registers where N is known.
  template <int J>
  CAROM_INLINE void invert_factor() const {
    if constexpr (J < N) {
      invert_column<N - J>(J);
      invert_factor<J + 1>();
    }
  }
  template <int J>
  CAROM_INLINE void multiply_factors() const {
    if constexpr (J < N) {
      multiply_column<N - J>(J);
      multiply_factors<J + 1>();
    }
  }

  /// Column j of K; Size: at least what it has from its diagonal on, and just that if N is known.
  template <int Size>
  CAROM_INLINE void invert_column(int j) const {
    const Parts m = parts_;
    const int n = variables();
    const int size = N > 0 ? Size : n - j;
    V column[Size];
    column[0] = V(1.0);
    for (int i = 1; i < size; ++i) column[i] = V(0.0);
    for (int k = 0; k < size; ++k) {
      const V value = -(column[k] * m.pivot_inverse[j + k]);
      const Memory factor = m.factor + ((j + k) * n + j);
      for (int i = k + 1; i < size; ++i) column[i] = fused(value, factor[i], column[i]);
    }
    for (int i = 0; i < size; ++i) m.through[(j + i) * n + j] = column[i];
  }
  /// Column j of P^-1, both halves of it.
  template <int Size>
  CAROM_INLINE void multiply_column(int j) const {
    const Parts m = parts_;
    const int n = variables();
    const int size = N > 0 ? Size : n - j;
    V column[Size];
    for (int i = 0; i < size; ++i) column[i] = V(0.0);
    for (int k = 0; k < size; ++k) {
      const Memory row = m.through + ((j + k) * n + j);
      const V value = row[0] * m.pivot_inverse[j + k];
      for (int i = 0; i <= k; ++i) column[i] = fused(value, row[i], column[i]);
    }
    for (int i = 0; i < size; ++i) {
      m.inverse[j * n + j + i] = column[i];
      m.inverse[(j + i) * n + j] = column[i];
    }
  }

  static constexpr int kSums = 4;  // at once: they share what they are made of

  /// Count: of the row's nonzero entries where it is known in advance, or 0.
  template <int Count, class Data>
  CAROM_INLINE void fill_row(const Data& matrix, int i) {
    const Parts m = parts_;
    const int n = variables();
    const int* column = m.shape.column + m.shape.row_first[i];
    const int count = Count > 0 ? Count : m.shape.row_first[i + 1] - m.shape.row_first[i];
    V entry[Count > 0 ? Count : (N > 0 ? N : kLargestPivotTableVariables)];
    for (int t = 0; t < count; ++t) entry[t] = matrix[static_cast<long>(i) * n + column[t]];
    const Memory mine = m.through + static_cast<long>(i) * n;
    int first = 0;
    for (; first + kSums <= n; first += kSums) {
      take_through<kSums>(entry, column, count, first, mine);
    }
    for (; first < n; ++first) take_through<1>(entry, column, count, first, mine);
    V size(0.0);
    for (int t = 0; t < count; ++t) size = fused(entry[t], mine[column[t]], size);
    const V scale = select(size > V(0.0), V(1.0) / square_root(size), V(0.0));
    m.scale[i] = scale;
    for (int t = 0; t < count; ++t) entry[t] = entry[t] * scale;
    for (int j = 0; j < n; ++j) mine[j] = mine[j] * scale;
    int j = 0;
    for (; j + kSums <= i + 1; j += kSums) take_products<kSums>(entry, column, count, i, j);
    for (; j <= i; ++j) take_products<1>(entry, column, count, i, j);
  }
  /// to[first ...], Sums numbers of a row of A P^-1: each sum as one by one.
  template <int Sums>
  CAROM_INLINE void take_through(const V* entry, const int* column, int count, int first,
                                 const Memory& to) const {
    const int n = variables();
    V sum[Sums];
    for (V& s : sum) s = V(0.0);
    for (int t = 0; t < count; ++t) {
      const Memory from = parts_.inverse + (column[t] * n + first);
      for (int s = 0; s < Sums; ++s) sum[s] = fused(entry[t], from[s], sum[s]);
    }
    for (int s = 0; s < Sums; ++s) to[first + s] = sum[s];
  }
  /// Entries (i, first ...) of the table, likewise.
  template <int Sums>
  CAROM_INLINE void take_products(const V* entry, const int* column, int count, int i,
                                  int first) const {
    const int n = variables();
    const Memory other = parts_.through + static_cast<long>(first) * n;
    V sum[Sums];
    for (V& s : sum) s = V(0.0);
    for (int t = 0; t < count; ++t) {
      for (int s = 0; s < Sums; ++s) {
        sum[s] = fused(entry[t], other[static_cast<long>(s) * n + column[t]], sum[s]);
      }
    }
    for (int s = 0; s < Sums; ++s) parts_.table[triangle(i) + first + s] = sum[s];
  }

  template <bool Both, int Count>
  CAROM_INLINE void change_columns(const Change& one, const Change& two, int first) const {
    const Parts m = parts_;
    const Memory a = one.column;
    const Memory b = two.column;
    V right_a[Count];
    V right_b[Count];
    for (int c = 0; c < Count; ++c) {
      right_a[c] = a[first + c] * one.down;
      if constexpr (Both) right_b[c] = b[first + c] * two.down;
    }
    const auto change = [&](int i, int count) {
      const V left_a = a[i];
      V left_b(0.0);
      if constexpr (Both) left_b = b[i];
      const Memory row = m.table + (triangle(i) + first);
      for (int c = 0; c < count; ++c) {
        V entry = fused(left_a, right_a[c], row[c]);
        if constexpr (Both) entry = fused(left_b, right_b[c], entry);
        row[c] = entry;
      }
    };
    for (int c = 0; c < Count - 1; ++c) change(first + c, c + 1);
    for (int i = first + Count - 1; i < m.rows; ++i) change(i, Count);
  }

  Parts parts_;
};

}  // namespace carom::kernels
