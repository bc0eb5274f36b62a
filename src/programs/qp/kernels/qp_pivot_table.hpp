#pragma once

#include <cstdint>
#include <type_traits>

#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"

/// The table of a quadratic program's rows among themselves that principal pivots work on.
namespace carom::kernels {

inline constexpr int kLargestPivotTableRows = 64;
inline constexpr int kLargestPivotTableVariables = 24;

/// f(row) of the rows in a set of bits, in their order.
template <class F>
CAROM_INLINE void over_bits(std::uint64_t rows, F&& f) {
  for (int first = 0; rows != 0; first += 32, rows >>= 32) {
    for (auto half = static_cast<unsigned>(rows); half != 0; half &= half - 1) {
      f(first + lowest_bit(half));
    }
  }
}

/// Changes of the table that may wait for each other, so that it is passed over once for all.
inline constexpr int kWaitingPivots = 2;

template <class Memory>
struct QpPivotTableLayout {
  Memory table;
  Memory scale;   ///< 1 / sqrt(a'P^-1 a) of each inequality, 0 where it has no entries
  Memory factor;  ///< P = L D L'
  Memory pivot_inverse;
  Memory inverse;  ///< H, [n, n]: P^-1, the equations taken out
  Memory through;  ///< A H, [inequalities, n]
  Memory held;     ///< H a of each equation, those before it taken out, [equations, n]
  Memory hold;     ///< 1 / a'H a of each of them, 0 where it says nothing new
  Memory alone;    ///< a'P^-1 a of each of them
  Memory pull;     ///< what a step takes of each column of `held`
  Memory waiting;  ///< columns of pivots whose change waits, [kWaitingPivots, inequalities]
  Memory down;     ///< of each, what the change is multiplied by

  QpPivotTableLayout() = default;
  CAROM_INLINE constexpr QpPivotTableLayout(Arena<Memory>& arena, long n, long rows)
      : table(arena.take(rows * (rows + 1) / 2)),
        scale(arena.take(rows)),
        factor(arena.take(n * n)),
        pivot_inverse(arena.take(n)),
        inverse(arena.take(n * n)),
        through(arena.take((rows > n ? rows : n) * n)),
        held(arena.take(rows * n)),
        hold(arena.take(rows)),
        alone(arena.take(rows)),
        pull(arena.take(rows)),
        waiting(arena.take(kWaitingPivots * rows)),
        down(arena.take(kWaitingPivots)) {}
};

/// One entry of a table, where one problem has it all. Packs bring one of their own: each lane has
/// an index of its own.
struct QpOneEntry {
  static constexpr bool kProximal = false;  ///< whether a semidefinite P is taken as well
  using Place = long;

  static CAROM_INLINE Place place(double index) { return static_cast<long>(index); }
  template <class Memory>
  static CAROM_INLINE double take(const Memory& table, Place place) {
    return table[place];
  }
  /// Only where `on`.
  template <class Memory>
  static CAROM_INLINE void put(const Memory& table, bool on, Place place, double value) {
    if (on) table[place] = value;
  }
  /// Adds the rows at `place` to a set of bits, where `on`.
  static CAROM_INLINE void join(bool on, Place place, std::uint64_t& rows) {
    if (on) rows |= std::uint64_t{1} << place;
  }
  /// Where entry (place, place) of a triangle stands.
  static CAROM_INLINE Place diagonal(Place place) { return place * (place + 1) / 2 + place; }
  /// f(i, entry (i, place)) of a symmetric table of which the lower half is there.
  template <class Memory, class F>
  static CAROM_INLINE void over_column(const Memory& table, Place place, int rows, F&& f) {
    Place at = place * (place + 1) / 2;
    for (int i = 0; i < rows; ++i) {
      f(i, table[at]);
      at += i < place ? 1 : i + 1;
    }
  }
};

/// With E the equations, H = P^-1 - P^-1 E'(E P^-1 E')^-1 E P^-1, W the active ones among the
/// inequalities A and G = A H A', rows scaled to a'P^-1 a = 1, the table holds -G_WW^-1,
/// G_NW G_WW^-1 and G_NN - G_NW G_WW^-1 G_WN, the lower half row after row. N: the number of
/// variables where it is known in advance, or 0. It changes no bit of an answer.
template <class V, class Memory, class Entry = QpOneEntry, int N = 0>
class QpPivotTable {
 public:
  CAROM_HOST_DEVICE QpPivotTable(const QpShape& shape, const QpPivotTableLayout<Memory>& layout)
      : parts_{layout, shape, shape.variables, shape.inequalities} {}

  [[nodiscard]] CAROM_INLINE int variables() const { return N > 0 ? N : parts_.n; }

  /// f(column, entry) for the entries of a row that are not zero in all problems.
  template <class Data, class F>
  CAROM_INLINE void over_entries(int row, const Data& matrix, F&& f) const {
    const QpShape& shape = parts_.shape;
    const long first = static_cast<long>(row) * variables();
    for (int t = shape.row_first[row]; t < shape.row_first[row + 1]; ++t) {
      const int j = shape.column[t];
      f(j, matrix[first + j]);
    }
  }
  /// a'x of a row a.
  template <class Data>
  CAROM_INLINE V row_times(int row, const Data& matrix, const Memory& x) const {
    V sum(0.0);
    over_entries(row, matrix, [&](int j, V entry) { sum = fused(entry, x[j], sum); });
    return sum;
  }

  /// Whether P is definite beyond doubt.
  template <class Data>
  CAROM_CALL MaskOf<V> factorise(const Data& hessian) {
    const Parts m = parts_;
    const int n = variables();
    V off_diagonal(0.0);
    for (int j = 0; j < n; ++j) {
      m.factor[j * n + j] = hessian[j * n + j];
      for (int i = j + 1; i < n; ++i) {
        const V entry = hessian[i * n + j];
        m.factor[j * n + i] = entry;
        off_diagonal = larger(magnitude(entry), off_diagonal);
      }
    }
    diagonal_ = !any_of(off_diagonal > V(0.0));
    factorise();
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
    factorise();
    MaskOf<V> definite = mask_of<V>(true);
    for (int j = 0; j < n; ++j) {
      definite = definite & (m.factor[j * n + j] > V(0.25) * raise[j]);
    }
    return definite;
  }

  /// P^-1 = K' D^-1 K with K = L^-1, which stands in `through` meanwhile.
  CAROM_CALL void invert() {
    const Parts m = parts_;
    const int n = variables();
    if (diagonal_) {
      for (int e = 0; e < n * n; ++e) m.inverse[e] = V(0.0);
      for (int j = 0; j < n; ++j) m.inverse[j * n + j] = m.pivot_inverse[j];
    } else if constexpr (N > 0) {
      invert_factor<0>();
      multiply_factors<0>();
    } else {
      for (int i = 0; i < n; ++i) invert_row(i);
      for (int j = 0; j < n; ++j) {
        in_blocks(j, n, [&](auto block, int i) { multiply_rows<block()>(i, j); });
      }
    }
  }

  /// Takes the equations out of P^-1. One that depends on those before it holds nothing.
  template <class Data>
  CAROM_CALL void hold_equations(const QpView<Data>& view) {
    const Parts m = parts_;
    const int n = variables();
    measure(view.matrix);
    int width = diagonal_ ? 0 : n;
    for (int e = 0; e < m.shape.equations; ++e) {
      const int row = m.shape.equation_row[e];
      const Memory mine = m.held + static_cast<long>(e) * n;
      const V size = size_of(row, view.matrix);
      m.alone[e] = size;
      const int* column = m.shape.column + m.shape.row_first[row];
      const int entries = m.shape.row_first[row + 1] - m.shape.row_first[row];
      if (entries > 0 && width <= column[entries - 1]) width = column[entries - 1] + 1;
      held_width_[e] = width;
      const int met = entries > 0 ? first_held(e, column[0]) : e;
      if (diagonal_) {
        for (int j = 0; j < n; ++j) mine[j] = V(0.0);
        over_entries(row, view.matrix, [&](int j, V entry) { mine[j] = over_diagonal(j, entry); });
      }
      const Memory share = m.pull;
      for (int k = met; k < e; ++k) {
        share[k] = -(m.hold[k] * row_times(row, view.matrix, m.held + static_cast<long>(k) * n));
      }
      in_blocks(0, width,
                [&](auto block, int j) { take_held<block()>(view.matrix, e, j, met, share); });
      const V left = row_times(row, view.matrix, mine);
      const MaskOf<V> other = (view.lower[row] != view.upper[row]) | !(left > V(kDependent) * size);
      m.hold[e] = select(other, V(0.0), V(1.0) / left);
    }
    for (int e = 0; e < m.shape.equations; ++e) {
      const V by = -m.hold[e];
      const long first = static_cast<long>(e) * n;
      for (int j = 0; j < held_width_[e]; ++j) m.through[first + j] = by * m.held[first + j];
    }
    for (int i = 0; i < n; ++i) {
      const int met = first_held(m.shape.equations, i);
      in_blocks(0, i + 1, [&](auto block, int j) { take_out<block()>(i, j, met); });
    }
  }
  /// Of `held`, the numbers of equation e that may be other than zero are the first ones. They are
  /// no fewer than those of the equations before it.
  [[nodiscard]] CAROM_INLINE int held_width(int e) const { return held_width_[e]; }

  /// G = A H A', always from the later row's nonzero entries: which of two rows is the shorter
  /// one depends on the whole batch, and an answer must not.
  template <class Data>
  CAROM_CALL void fill(const Data& matrix) {
    const Parts m = parts_;
    waiting_ = 0;
    for (int i = 0; i < m.rows;) {
      const int row = m.row(i);
      switch (m.shape.row_first[row + 1] - m.shape.row_first[row]) {
        case 1:
          fill_rows<1, 1>(matrix, i++);
          break;
        case 2:
          fill_rows<2, 1>(matrix, i++);
          break;
        case 3:
          fill_rows<3, 1>(matrix, i++);
          break;
        default:
          if (i + 1 < m.rows && same_columns(row, m.row(i + 1))) {
            fill_rows<0, 2>(matrix, i);
            i += 2;
          } else {
            fill_rows<0, 1>(matrix, i++);
          }
      }
    }
  }

  /// x := P^-1 x
  CAROM_CALL void solve(const Memory& x) const {
    if (diagonal_) {
      for (int j = 0; j < variables(); ++j) x[j] = x[j] * parts_.pivot_inverse[j];
      return;
    }
    const SingleLane lane;
    solve_symmetric<V, N>(lane, variables(), parts_.factor, parts_.pivot_inverse, x);
  }

  using Place = typename Entry::Place;

  /// Entry (place, place) as it is after the changes that wait.
  CAROM_INLINE V diagonal(const Place& place) const {
    const Parts& m = parts_;
    V diagonal = Entry::take(m.table, Entry::diagonal(place));
    for (int w = 0; w < waiting_; ++w) {
      const V entry = Entry::take(waiting(w), place);
      diagonal = fused(entry, entry * m.down[w], diagonal);
    }
    return diagonal;
  }

  /// Column `place`, likewise, into column().
  CAROM_INLINE void take_column(const Place& place) const {
    static_assert(kWaitingPivots == 2);
    const Parts& m = parts_;
    const Memory column = this->column();
    if (waiting_ == 0) {
      Entry::over_column(m.table, place, m.rows, [&](int i, V entry) { column[i] = entry; });
    } else {
      const Memory other = waiting(0);
      const V factor = Entry::take(other, place) * m.down[0];
      Entry::over_column(m.table, place, m.rows,
                         [&](int i, V entry) { column[i] = fused(other[i], factor, entry); });
    }
  }
  /// Of the pivot that is next.
  CAROM_INLINE Memory column() const { return waiting(waiting_); }

  /// The change of a pivot on (place, place), column() being that of `place`, from now on waits.
  /// T - c c' / p turns row and column `place` into sign c / p if there c is p - sign, and the
  /// pivot into -1 / p if 2 sign is taken off before. sign: 1 for a row that enters, -1 for one
  /// that leaves. Only where `on`.
  CAROM_INLINE void pivot(MaskOf<V> on, const Place& place, V sign) {
    const Parts& m = parts_;
    const Memory column = this->column();
    const V pivot = Entry::take(column, place);
    const Place diagonal = Entry::diagonal(place);
    Entry::put(m.table, on, diagonal, fused(V(-2.0), sign, Entry::take(m.table, diagonal)));
    Entry::put(column, on, place, pivot - sign);
    m.down[waiting_] = select(on, V(-1.0) / pivot, V(0.0));
    if (++waiting_ == kWaitingPivots) change<kWaitingPivots>();
  }
  /// Leaves nothing that waits.
  CAROM_INLINE void end_pivots() {
    static_assert(kWaitingPivots == 2);
    if (waiting_ == 1) change<1>();
  }

  /// to := T from, symmetric as the table is, where `from` has nothing but zeros in other rows than
  /// `some`. Of `to` only those rows.
  CAROM_INLINE void multiply(std::uint64_t some, const Memory& from, const Memory& to) const {
    const Parts m = parts_;
    over_bits(some, [&](int i) { to[i] = V(0.0); });
    over_bits(some, [&](int i) {
      const Memory row = m.table + triangle(i);
      const V mine = from[i];
      V sum = row[i] * mine;
      over_bits(some & ((std::uint64_t{1} << i) - 1), [&](int j) {
        sum = fused(row[j], from[j], sum);
        to[j] = fused(row[j], mine, to[j]);
      });
      to[i] = to[i] + sum;
    });
  }

 private:
  static constexpr double kDefinite = 1e-13;  // smallest pivot of P relative to its diagonal
  static constexpr double kDependent = 1e-9;  // of an equation, what those before it leave

  struct Parts : QpPivotTableLayout<Memory> {
    QpShape shape;
    int n;
    int rows;  ///< of the table

    [[nodiscard]] CAROM_INLINE int row(int i) const { return shape.inequality_row[i]; }
  };

  static constexpr int kSums = 4;  // at once: they share what they are made of
  /// f(block, first) for blocks of kSums from `begin` on, then of one; block() is their size.
  template <class F>
  static CAROM_INLINE void in_blocks(int begin, int end, F&& f) {
    const int whole = begin + (end - begin) / kSums * kSums;
    for (int k = begin; k < whole; k += kSums) f(std::integral_constant<int, kSums>(), k);
    for (int k = whole; k < end; ++k) f(std::integral_constant<int, 1>(), k);
  }

  [[nodiscard]] CAROM_INLINE Memory waiting(int w) const {
    return parts_.waiting + w * parts_.rows;
  }

  CAROM_INLINE void factorise() const {
    const Parts& m = parts_;
    const int n = variables();
    if (diagonal_) {
      for (int j = 0; j < n; ++j) {
        const V pivot = m.factor[j * n + j];
        m.pivot_inverse[j] = select(pivot > V(0.0), V(1.0) / pivot, V(0.0));
      }
      return;
    }
    const SingleLane lane;
    factor_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, V(0.0));
  }

  static CAROM_INLINE constexpr int triangle(int i) { return i * (i + 1) / 2; }

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

  /// Row i of K, and D^-1 times it in `inverse`, with zeros after the diagonal as far as blocks of
  /// kSums read them.
  CAROM_INLINE void invert_row(int i) const {
    const Parts& m = parts_;
    const int n = variables();
    in_blocks(0, i, [&](auto block, int j) { invert_entries<block()>(i, j); });
    m.through[i * n + i] = V(1.0);
    m.inverse[i * n + i] = m.pivot_inverse[i];
    for (int k = i + 1; k < n && k < i + kSums; ++k) {
      m.through[i * n + k] = V(0.0);
      m.inverse[i * n + k] = V(0.0);
    }
  }
  template <int Sums>
  CAROM_INLINE void invert_entries(int i, int first) const {
    const Parts& m = parts_;
    const int n = variables();
    V sum[Sums];
    for (V& s : sum) s = V(0.0);
    for (int k = first; k < i; ++k) {
      const V factor = m.factor[k * n + i];
      for (int s = 0; s < Sums; ++s) sum[s] = fused(-m.inverse[k * n + first + s], factor, sum[s]);
    }
    for (int s = 0; s < Sums; ++s) {
      m.through[i * n + first + s] = sum[s];
      m.inverse[i * n + first + s] = sum[s] * m.pivot_inverse[i];
    }
  }
  /// Entries (first ..., j) of P^-1, in both halves.
  template <int Sums>
  CAROM_INLINE void multiply_rows(int first, int j) const {
    const Parts& m = parts_;
    const int n = variables();
    V sum[Sums];
    for (V& s : sum) s = V(0.0);
    for (int k = first; k < n; ++k) {
      const V value = m.inverse[k * n + j];
      for (int s = 0; s < Sums; ++s) sum[s] = fused(value, m.through[k * n + first + s], sum[s]);
    }
    for (int s = 0; s < Sums; ++s) {
      m.inverse[(first + s) * n + j] = sum[s];
      m.inverse[j * n + first + s] = sum[s];
    }
  }

  /// Column j of K, with Size entries from its diagonal on.
  template <int Size>
  CAROM_INLINE void invert_column(int j) const {
    const Parts m = parts_;
    V column[Size];
    column[0] = V(1.0);
    for (int i = 1; i < Size; ++i) column[i] = V(0.0);
    for (int k = 0; k < Size; ++k) {
      const V value = -(column[k] * m.pivot_inverse[j + k]);
      const Memory factor = m.factor + ((j + k) * N + j);
      for (int i = k + 1; i < Size; ++i) column[i] = fused(value, factor[i], column[i]);
    }
    for (int i = 0; i < Size; ++i) m.through[(j + i) * N + j] = column[i];
  }
  /// Column j of P^-1, both halves of it.
  template <int Size>
  CAROM_INLINE void multiply_column(int j) const {
    const Parts m = parts_;
    V column[Size];
    for (int i = 0; i < Size; ++i) column[i] = V(0.0);
    for (int k = 0; k < Size; ++k) {
      const Memory row = m.through + ((j + k) * N + j);
      const V value = row[0] * m.pivot_inverse[j + k];
      for (int i = 0; i <= k; ++i) column[i] = fused(value, row[i], column[i]);
    }
    for (int i = 0; i < Size; ++i) {
      m.inverse[j * N + j + i] = column[i];
      m.inverse[(j + i) * N + j] = column[i];
    }
  }

  /// The first of the first `count` equations whose numbers reach column j, or `count`.
  [[nodiscard]] CAROM_INLINE int first_held(int count, int j) const {
    int e = 0;
    while (e < count && held_width_[e] <= j) ++e;
    return e;
  }

  /// Of equation e, numbers first ... of H a, those before it taken out, of which it meets those
  /// from `met` on. Where P is diagonal P^-1 a stands there already.
  template <int Sums, class Data>
  CAROM_INLINE void take_held(const Data& matrix, int e, int first, int met,
                              const Memory& share) const {
    const Parts& m = parts_;
    const int n = variables();
    const Memory mine = m.held + (static_cast<long>(e) * n + first);
    V sum[Sums];
    for (int s = 0; s < Sums; ++s) sum[s] = diagonal_ ? mine[s] : V(0.0);
    if (!diagonal_) {
      over_entries(m.shape.equation_row[e], matrix, [&](int k, V entry) {
        const Memory from = m.inverse + (k * n + first);
        for (int s = 0; s < Sums; ++s) sum[s] = fused(entry, from[s], sum[s]);
      });
    }
    for (int k = met; k < e; ++k) {
      const Memory other = m.held + (static_cast<long>(k) * n + first);
      for (int s = 0; s < Sums; ++s) sum[s] = fused(share[k], other[s], sum[s]);
    }
    for (int s = 0; s < Sums; ++s) mine[s] = sum[s];
  }
  /// Entries (i, first ...) of H, in both halves, which equations from `met` on change.
  template <int Sums>
  CAROM_INLINE void take_out(int i, int first, int met) const {
    const Parts& m = parts_;
    const int n = variables();
    V sum[Sums];
    for (int s = 0; s < Sums; ++s) sum[s] = m.inverse[i * n + first + s];
    for (int e = met * n; e < m.shape.equations * n; e += n) {
      const V value = m.through[e + i];
      for (int s = 0; s < Sums; ++s) sum[s] = fused(value, m.held[e + first + s], sum[s]);
    }
    for (int s = 0; s < Sums; ++s) {
      m.inverse[i * n + first + s] = sum[s];
      m.inverse[(first + s) * n + i] = sum[s];
    }
  }

  /// scale, where it is not to be had from `through`.
  template <class Data>
  CAROM_INLINE void measure(const Data& matrix) const {
    const Parts m = parts_;
    for (int i = 0; i < m.rows; ++i) m.scale[i] = scale_of(size_of(m.row(i), matrix));
  }
  /// a'P^-1 a of a row a.
  template <class Data>
  CAROM_INLINE V size_of(int row, const Data& matrix) const {
    V size(0.0);
    over_entries(row, matrix, [&](int k, V entry) {
      const V met = diagonal_ ? over_diagonal(k, entry)
                              : row_times(row, matrix, parts_.inverse + k * variables());
      size = fused(entry, met, size);
    });
    return size;
  }
  /// P^-1 times an entry in column j, where P is diagonal: as a sum over its row would be.
  CAROM_INLINE V over_diagonal(int j, V entry) const {
    return fused(entry, parts_.pivot_inverse[j], V(0.0));
  }
  static CAROM_INLINE V scale_of(V size) {
    return select(size > V(0.0), V(1.0) / square_root(size), V(0.0));
  }

  [[nodiscard]] CAROM_INLINE bool same_columns(int row, int other) const {
    const QpShape& shape = parts_.shape;
    const int* mine = shape.column + shape.row_first[row];
    const int* its = shape.column + shape.row_first[other];
    const int count = shape.row_first[row + 1] - shape.row_first[row];
    if (shape.row_first[other + 1] - shape.row_first[other] != count) return false;
    for (int t = 0; t < count; ++t) {
      if (mine[t] != its[t]) return false;
    }
    return true;
  }

  /// Inequalities i ..., which share their columns. Count: of a row's nonzero entries where it is
  /// known in advance, or 0.
  template <int Count, int Rows, class Data>
  CAROM_INLINE void fill_rows(const Data& matrix, int i) {
    const Parts m = parts_;
    const int n = variables();
    const int* column = m.shape.column + m.shape.row_first[m.row(i)];
    const int count =
        Count > 0 ? Count : m.shape.row_first[m.row(i) + 1] - m.shape.row_first[m.row(i)];
    RowEntries<Count, Rows> entries;
    for (int r = 0; r < Rows; ++r) {
      const long row = static_cast<long>(m.row(i + r)) * n;
      for (int t = 0; t < count; ++t) entries.of[t][r] = matrix[row + column[t]];
    }
    in_blocks(0, n,
              [&](auto block, int j) { take_through<block()>(entries, column, count, i, j); });
    for (int r = 0; r < Rows; ++r) {
      const Memory mine = m.through + static_cast<long>(i + r) * n;
      if (m.shape.equations == 0) {
        V size(0.0);
        for (int t = 0; t < count; ++t) size = fused(entries.of[t][r], mine[column[t]], size);
        m.scale[i + r] = scale_of(size);
      }
      const V scale = m.scale[i + r];
      for (int t = 0; t < count; ++t) entries.of[t][r] = entries.of[t][r] * scale;
      for (int j = 0; j < n; ++j) mine[j] = mine[j] * scale;
    }
    in_blocks(0, i + Rows,
              [&](auto block, int j) { take_products<block()>(entries, column, count, i, j); });
  }
  template <int Count, int Rows>
  struct RowEntries {
    V of[Count > 0 ? Count : (N > 0 ? N : kLargestPivotTableVariables)][Rows];
  };

  /// Of rows i ... of A H the numbers first ...: each sum as one by one.
  template <int Sums, int Count, int Rows>
  CAROM_INLINE void take_through(const RowEntries<Count, Rows>& entries, const int* column,
                                 int count, int i, int first) const {
    const int n = variables();
    V sum[Rows][Sums];
    for (auto& row : sum) {
      for (V& s : row) s = V(0.0);
    }
    for (int t = 0; t < count; ++t) {
      const Memory from = parts_.inverse + (column[t] * n + first);
      for (int s = 0; s < Sums; ++s) {
        for (int r = 0; r < Rows; ++r) sum[r][s] = fused(entries.of[t][r], from[s], sum[r][s]);
      }
    }
    for (int r = 0; r < Rows; ++r) {
      const Memory to = parts_.through + (static_cast<long>(i + r) * n + first);
      for (int s = 0; s < Sums; ++s) to[s] = sum[r][s];
    }
  }
  /// Entries (i ..., first ...) of the table's lower half, likewise.
  template <int Sums, int Count, int Rows>
  CAROM_INLINE void take_products(const RowEntries<Count, Rows>& entries, const int* column,
                                  int count, int i, int first) const {
    const int n = variables();
    Memory other[Sums];
    for (int s = 0; s < Sums; ++s) other[s] = parts_.through + static_cast<long>(first + s) * n;
    V sum[Rows][Sums];
    for (auto& row : sum) {
      for (V& s : row) s = V(0.0);
    }
    for (int t = 0; t < count; ++t) {
      for (int s = 0; s < Sums; ++s) {
        const V its = other[s][column[t]];
        for (int r = 0; r < Rows; ++r) sum[r][s] = fused(entries.of[t][r], its, sum[r][s]);
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int s = 0; s < Sums && first + s <= i + r; ++s) {
        parts_.table[triangle(i + r) + first + s] = sum[r][s];
      }
    }
  }

  /// The Waiting changes that wait, into the table.
  template <int Waiting>
  CAROM_INLINE void change() {
    constexpr int kBlock = 8;
    const int rows = parts_.rows;
    int j = 0;
    for (; j + kBlock <= rows; j += kBlock) change_columns<Waiting, kBlock>(j);
    for (; j < rows; ++j) change_columns<Waiting, 1>(j);
    waiting_ = 0;
  }
  template <int Waiting, int Count>
  CAROM_INLINE void change_columns(int first) const {
    const Parts m = parts_;
    V right[Waiting][Count];
    for (int w = 0; w < Waiting; ++w) {
      for (int c = 0; c < Count; ++c) right[w][c] = waiting(w)[first + c] * m.down[w];
    }
    const auto change = [&](int i, int count) {
      const Memory row = m.table + (triangle(i) + first);
      V left[Waiting];
      for (int w = 0; w < Waiting; ++w) left[w] = waiting(w)[i];
      for (int c = 0; c < count; ++c) {
        V entry = row[c];
        for (int w = 0; w < Waiting; ++w) entry = fused(left[w], right[w][c], entry);
        row[c] = entry;
      }
    };
    for (int c = 0; c < Count - 1; ++c) change(first + c, c + 1);
    for (int i = first + Count - 1; i < m.rows; ++i) change(i, Count);
  }

  Parts parts_;
  bool diagonal_ = false;  ///< whether P is, in all lanes
  int held_width_[kLargestPivotTableRows];
  int waiting_ = 0;
};

}  // namespace carom::kernels
