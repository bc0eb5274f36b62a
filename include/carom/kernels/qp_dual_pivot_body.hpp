#pragma once

#include <carom/kernels/qp_factor.hpp>
#include <carom/kernels/qp_problem.hpp>

/// Dual active set (Goldfarb and Idnani 1983) for few unknowns with a definite Hessian and interval
/// rows. All that it reads is a table of the rows among themselves: A P^-1 A', where a row that
/// enters or leaves is one principal pivot. Every pivot costs the same for every problem, so that
/// packs stay together.
namespace carom::kernels {

inline constexpr int kLargestDualPivotRows = 64;
inline constexpr int kLargestDualPivotVariables = 24;

/// Whether the body takes a shape. What it leaves unsolved is for the other methods.
CAROM_INLINE constexpr bool takes_dual_pivots(int n, int rows, int cones) {
  return cones == 0 && rows > 0 && n <= kLargestDualPivotVariables && rows <= kLargestDualPivotRows;
}

/// Values of V that a problem needs at most.
CAROM_INLINE constexpr long qp_dual_pivot_workspace(long n, long rows) {
  return rows * (rows + 1) / 2 + (rows > n ? rows : n) * n + 2 * n * n + 3 * n + 8 * rows;
}

struct QpDualPivotOptions {
  double tolerance = 1e-9;
  int max_pivots = 0;
};

/// One entry of a table, where one problem has it all. Packs bring one of their own: each lane has
/// an index of its own.
struct QpOneEntry {
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

/// N: the number of variables where it is known in advance, or 0. It changes no bit of an answer.
template <class V, class Memory, class Entry = QpOneEntry, int N = 0>
class QpDualPivots {
 public:
  CAROM_HOST_DEVICE QpDualPivots(const QpShape& shape, Memory memory) {
    Parts& m = parts_;
    m.shape = shape;
    m.n = shape.variables;
    m.rows = shape.rows;
    long used = 0;
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    const long n = m.n;
    const long rows = m.rows;
    m.table = take(rows * (rows + 1) / 2);
    m.below = take(rows);
    m.above = take(rows);
    m.multiplier = take(rows);
    m.side = take(rows);
    m.scale = take(rows);
    m.first = take(rows);
    m.second = take(rows);
    m.factor = take(n * n);
    m.pivot_inverse = take(n);
    m.x = take(n);
    m.step = take(n);
    m.inverse = take(n * n);
    m.through = take((rows > n ? rows : n) * n);
  }

  CAROM_INLINE V solution(int j) const { return parts_.x[j]; }
  CAROM_INLINE V dual(int i) const { return -parts_.second[i]; }

  template <class Data>
  CAROM_HOST_DEVICE QpOutcome<V> solve(const QpView<Data>& view,
                                       const QpDualPivotOptions& options) {
    const bool two_sided = parts_.shape.uppers > 0 || parts_.shape.equations > 0;
    return two_sided ? run<true>(view, options) : run<false>(view, options);
  }

 private:
  static constexpr double kDefinite = 1e-13;  // smallest pivot of P relative to its diagonal
  // Of violated rows, relative to the length of x in the norm of P, row by row.
  static constexpr double kFeasible = 1e-13;
  static constexpr double kDependent = 1e-9;  // of a new pivot relative to its row's first
  static constexpr double kFeasibleDependent = 1e-10;
  static constexpr int kChains = 4;

  struct Parts {
    QpShape shape;
    int n, rows;
    /// Lower half, row after row, of rows scaled to G_ii = 1: with W the active rows and
    /// G = A P^-1 A' it holds -G_WW^-1, G_NW G_WW^-1 and G_NN - G_NW G_WW^-1 G_WN.
    Memory table;
    Memory scale;          ///< 1 / sqrt(a'P^-1 a)
    Memory below, above;   ///< l - a'x and a'x - u; -infinity for an active row
    Memory multiplier;     ///< away from the bound, not negative; infinity for an inactive row
    Memory side;           ///< of an active row: 1 at its lower bound, -1 at its upper one
    Memory first, second;  ///< columns of the table, of a pivot that waits and of the next one
    Memory factor, pivot_inverse;  ///< P = L D L'
    Memory x, step;
    Memory inverse;  ///< P^-1, [n, n]
    Memory through;  ///< A P^-1, [rows, n]
  };

  [[nodiscard]] CAROM_INLINE int variables() const { return N > 0 ? N : parts_.n; }
  static CAROM_INLINE constexpr int triangle(int i) { return i * (i + 1) / 2; }

  template <bool TwoSided, class Data>
  CAROM_HOST_DEVICE QpOutcome<V> run(const QpView<Data>& view, const QpDualPivotOptions& options) {
    using kernels::any_of;
    QpOutcome<V> outcome{V(qp_end::kRunning), V(0.0)};
    const V definite = factorise(view.hessian);
    if (!any_of(definite > V(0.0))) return outcome;
    invert();
    fill_table(view.matrix);
    start<TwoSided>(view);
    pivot<TwoSided>(view, options, definite, outcome);
    finish<TwoSided>(view);
    return outcome;
  }

  /// 1 where P is definite beyond doubt, else 0.
  template <class Data>
  CAROM_HOST_DEVICE V factorise(const Data& hessian) {
    const Parts m = parts_;
    const int n = variables();
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) m.factor[j * n + i] = hessian[i * n + j];
    }
    const SingleLane lane;
    factor_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, V(0.0));
    V definite(1.0);
    for (int j = 0; j < n; ++j) {
      const V pivot = m.factor[j * n + j];
      definite = select(pivot > V(kDefinite) * hessian[j * n + j], definite, V(0.0));
    }
    return definite;
  }

  /// P^-1 = K' D^-1 K with K = L^-1, which stands in `through` meanwhile.
  CAROM_HOST_DEVICE void invert() {
    if constexpr (N > 0) {
      invert_factor<0>();
      multiply_factors<0>();
    } else {
      for (int j = 0; j < parts_.n; ++j) invert_column<kLargestDualPivotVariables>(j);
      for (int j = 0; j < parts_.n; ++j) multiply_column<kLargestDualPivotVariables>(j);
    }
  }
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

  /// G = A P^-1 A', always from the later row's nonzero entries: which of two rows is the shorter
  /// one depends on the whole batch, and an answer must not.
  template <class Data>
  CAROM_HOST_DEVICE void fill_table(const Data& matrix) {
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

  /// Count: of the row's nonzero entries where it is known in advance, or 0.
  template <int Count, class Data>
  CAROM_INLINE void fill_row(const Data& matrix, int i) {
    const Parts m = parts_;
    const int n = variables();
    const int* column = m.shape.column + m.shape.row_first[i];
    const int count = Count > 0 ? Count : m.shape.row_first[i + 1] - m.shape.row_first[i];
    V entry[Count > 0 ? Count : (N > 0 ? N : kLargestDualPivotVariables)];
    for (int t = 0; t < count; ++t) entry[t] = matrix[static_cast<long>(i) * n + column[t]];
    V row[N > 0 ? N : kLargestDualPivotVariables];
    for (int j = 0; j < n; ++j) row[j] = V(0.0);
    for (int t = 0; t < count; ++t) {
      for (int j = 0; j < n; ++j) row[j] = fused(entry[t], m.inverse[column[t] * n + j], row[j]);
    }
    const Memory mine = m.through + static_cast<long>(i) * n;
    for (int j = 0; j < n; ++j) mine[j] = row[j];
    V size(0.0);
    for (int t = 0; t < count; ++t) size = fused(entry[t], mine[column[t]], size);
    const V scale = select(size > V(0.0), V(1.0) / square_root(size), V(0.0));
    m.scale[i] = scale;
    for (int t = 0; t < count; ++t) entry[t] = entry[t] * scale;
    for (int j = 0; j < n; ++j) mine[j] = row[j] * scale;
    for (int j = 0; j <= i; ++j) {
      const Memory other = m.through + static_cast<long>(j) * n;
      V sum(0.0);
      for (int t = 0; t < count; ++t) sum = fused(entry[t], other[column[t]], sum);
      m.table[triangle(i) + j] = sum;
    }
  }

  template <class Data>
  CAROM_INLINE V row_product(int i, const Data& matrix) const {
    const Parts& m = parts_;
    const long first = static_cast<long>(i) * variables();
    V sum(0.0);
    for (int t = m.shape.row_first[i]; t < m.shape.row_first[i + 1]; ++t) {
      const int j = m.shape.column[t];
      sum = fused(matrix[first + j], m.x[j], sum);
    }
    return sum;
  }

  /// The minimum without rows.
  template <bool TwoSided, class Data>
  CAROM_HOST_DEVICE void start(const QpView<Data>& view) {
    const Parts m = parts_;
    const int n = variables();
    const SingleLane lane;
    for (int j = 0; j < n; ++j) m.x[j] = -view.gradient[j];
    solve_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, m.x);
    energy_ = V(0.0);
    for (int j = 0; j < n; ++j) energy_ = fused(-view.gradient[j], m.x[j], energy_);
    for (int i = 0; i < m.rows; ++i) {
      const V value = row_product(i, view.matrix);
      const V scale = m.scale[i];
      // A row without entries is left to the certificate.
      const auto there = scale > V(0.0);
      m.below[i] = select(there, scale * (view.lower[i] - value), V(-kInfinity));
      if constexpr (TwoSided) {
        m.above[i] = select(there, scale * (value - view.upper[i]), V(-kInfinity));
      }
      m.multiplier[i] = V(kInfinity);
      m.side[i] = V(1.0);
    }
  }

  static CAROM_INLINE V triangle_of(V index) { return V(0.5) * fused(index, index, index); }

  /// A pivot whose change of the table, down column column', may be outstanding.
  struct Change {
    Memory column;
    V down;
  };

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

  /// The row that is violated most, in the norm of P^-1.
  struct Violation {
    V score, index, side;
  };
  template <bool TwoSided>
  CAROM_INLINE Violation most_violated() const {
    const Parts m = parts_;
    const V zero(0.0);
    Violation best[kChains];
    for (Violation& chain : best) chain = {zero, zero, V(1.0)};
    const auto meet = [&](int i, V index, Violation& chain) {
      V outside = m.below[i];
      if constexpr (TwoSided) outside = larger(m.above[i], outside);
      outside = larger(outside, zero);
      const V score = outside * outside;
      const auto more = score > chain.score;
      chain.score = select(more, score, chain.score);
      chain.index = select(more, index, chain.index);
      if constexpr (TwoSided) {
        const V side = select(m.above[i] > m.below[i], V(-1.0), V(1.0));
        chain.side = select(more, side, chain.side);
      }
    };
    over_rows([&](int i, V index, int chain) { meet(i, index, best[chain]); });
    for (int c = 1; c < kChains; ++c) {
      const auto more = best[c].score > best[0].score;
      best[0].score = select(more, best[c].score, best[0].score);
      best[0].index = select(more, best[c].index, best[0].index);
      if constexpr (TwoSided) best[0].side = select(more, best[c].side, best[0].side);
    }
    return best[0];
  }

  /// f(row, row as V, chain): chains do not wait for one another.
  template <class F>
  CAROM_INLINE void over_rows(F&& f) const {
    const int rows = parts_.rows;
    V index(0.0);
    int i = 0;
    for (; i + kChains <= rows; i += kChains) {
      for (int c = 0; c < kChains; ++c) f(i + c, index + V(static_cast<double>(c)), c);
      index = index + V(static_cast<double>(kChains));
    }
    for (; i < rows; ++i) {
      f(i, index, 0);
      index = index + V(1.0);
    }
  }

  /// room / rate is the length of a step; the denominator may be 0, but not negative.
  struct Block {
    V room, rate, index;
  };
  static CAROM_INLINE void take_sooner(const Block& other, Block& block) {
    const auto sooner = other.room * block.rate < block.room * other.rate;
    block.room = select(sooner, other.room, block.room);
    block.rate = select(sooner, other.rate, block.rate);
    block.index = select(sooner, other.index, block.index);
  }
  /// The first multiplier that vanishes along `column`, where that is before `block`.
  template <bool TwoSided, class Data>
  CAROM_INLINE Block first_block(const QpView<Data>& view, const Memory& column, V side,
                                 const Block& block) const {
    const Parts m = parts_;
    const V zero(0.0);
    Block best[kChains];
    for (Block& chain : best) chain = {V(1.0), zero, V(-1.0)};
    best[0] = block;
    over_rows([&](int i, V index, int chain) {
      V loss = column[i];
      V room = m.multiplier[i];
      if constexpr (TwoSided) {
        loss = loss * (side * m.side[i]);
        const auto free = view.lower[i] != view.upper[i];
        loss = select(free, loss, zero);
        room = select(free, room, V(kInfinity));
      }
      take_sooner({room, larger(loss, zero), index}, best[chain]);
    });
    for (int c = 1; c < kChains; ++c) take_sooner(best[c], best[0]);
    return best[0];
  }

  /// Where the lanes of a pack stand.
  struct Progress {
    V running;
    V pending;  ///< 1 where the row that was entering goes on
    V entering;
    V side;  ///< 1 where it is below its lower bound, -1 above its upper one
    V multiplier;
  };

  /// Rows enter, and leave where their multiplier would change its sign, until none is violated.
  template <bool TwoSided, class Data>
  CAROM_HOST_DEVICE void pivot(const QpView<Data>& view, const QpDualPivotOptions& options,
                               V definite, QpOutcome<V>& outcome) {
    using kernels::any_of;
    const Parts m = parts_;
    const double feasible = smaller(kFeasible, 0.1 * options.tolerance);
    limit_ = V(feasible * feasible);
    Progress at{definite, V(0.0), V(0.0), V(1.0), V(0.0)};
    Change waiting{m.first, V(0.0)};
    Change next{m.second, V(0.0)};
    for (int count = 0; count < options.max_pivots; count += 2) {
      // Two changes to one pass over the table.
      const bool one = step<TwoSided, false>(view, at, waiting, waiting, outcome);
      const bool two = one && step<TwoSided, true>(view, at, waiting, next, outcome);
      if (two) {
        change_table<true>(waiting, next);
      } else if (one) {
        change_table<false>(waiting, next);
      }
      if (!two) break;
    }
  }

  /// One pivot of every lane that runs, its change of the table left to `own`. False where none
  /// runs any more.
  template <bool TwoSided, bool Waiting, class Data>
  CAROM_INLINE bool step(const QpView<Data>& view, Progress& at, const Change& waiting, Change& own,
                         QpOutcome<V>& outcome) {
    using kernels::any_of;
    const Parts m = parts_;
    const Memory column = own.column;
    const V zero(0.0);
    const Violation worst = most_violated<TwoSided>();
    const auto goes_on = at.pending > zero;
    const V entering = select(goes_on, at.entering, worst.index);
    V side = at.side;
    if constexpr (TwoSided) side = select(goes_on, side, worst.side);
    V multiplier = select(goes_on, at.multiplier, zero);
    V diagonal = Entry::take(m.table, triangle_of(entering) + entering);
    if constexpr (Waiting) {
      const V entry = Entry::take(waiting.column, entering);
      diagonal = fused(entry, entry * waiting.down, diagonal);
    }
    const auto dependent = diagonal <= V(kDependent);
    const V loose(kFeasibleDependent * kFeasibleDependent);
    const V least = energy_ * select(dependent, loose, limit_);
    const V found = select(worst.score > least, V(1.0), at.pending);
    const V done = at.running * (V(1.0) - found);
    outcome.end = select(done > zero, V(qp_end::kActiveSet), outcome.end);
    at.running = at.running - done;
    if (!any_of(at.running > zero)) return false;
    outcome.iterations = outcome.iterations + at.running;

    take_column<Waiting>(entering, waiting, column);
    V outside = Entry::take(m.below, entering);
    if constexpr (TwoSided) {
      outside = select(side > zero, outside, Entry::take(m.above, entering));
    }
    const Block block = first_block<TwoSided>(
        view, column, side, {outside, select(dependent, zero, diagonal), V(-1.0)});
    // Nothing ends the way: no point meets the rows.
    at.running = select(block.rate > zero, at.running, zero);
    const auto on = at.running > zero;
    const V length = select(on, block.room / block.rate, zero);
    const V leaves = select(block.index >= zero, at.running, zero);
    multiplier = multiplier + length;
    energy_ = fused(length, fused(-length, diagonal, V(2.0) * outside), energy_);
    move<TwoSided>(view, column, length, side);
    V index = entering;
    const auto drops = leaves > zero;
    if (any_of(drops)) {
      index = select(drops, block.index, entering);
      take_column<Waiting>(index, waiting, column);
    }
    V below = select(drops, zero, V(-kInfinity));
    if constexpr (TwoSided) {
      const V width = Entry::take(m.scale, index) *
                      (Entry::take(view.lower, index) - Entry::take(view.upper, index));
      const V held = Entry::take(m.side, index);
      below = select(drops, select(held > zero, zero, width), V(-kInfinity));
      const V above = select(drops, select(held > zero, width, zero), V(-kInfinity));
      Entry::put(m.above, on, index, above);
      Entry::put(m.side, on, index, side);
    }
    Entry::put(m.below, on, index, below);
    Entry::put(m.multiplier, on, index, select(drops, V(kInfinity), multiplier));
    // T - c c' / p turns row and column `index` into sign c / p if there c is p - sign, and the
    // pivot into -1 / p if 2 sign is taken off before.
    const V sign = fused(V(-2.0), leaves, V(1.0));
    const V pivot = Entry::take(column, index);
    const V place = triangle_of(index) + index;
    Entry::put(m.table, on, place, fused(V(-2.0), sign, Entry::take(m.table, place)));
    Entry::put(column, on, index, pivot - sign);
    own.down = select(on, V(-1.0) / pivot, zero);
    at.pending = leaves;
    at.entering = entering;
    at.side = side;
    at.multiplier = multiplier;
    return true;
  }

  /// The rows' distances and multipliers after a step along `column`.
  template <bool TwoSided, class Data>
  CAROM_INLINE void move(const QpView<Data>& view, const Memory& column, V length, V side) const {
    const Parts m = parts_;
    const V zero(0.0);
    const V back = TwoSided ? -(length * side) : -length;
    for (int i = 0; i < m.rows; ++i) {
      const V entry = column[i];
      m.below[i] = fused(back, entry, m.below[i]);
      if constexpr (TwoSided) {
        m.above[i] = fused(-back, entry, m.above[i]);
        const V moved = fused(back * m.side[i], entry, m.multiplier[i]);
        const auto free = view.lower[i] != view.upper[i];
        m.multiplier[i] = select(free, larger(moved, zero), moved);
      } else {
        m.multiplier[i] = larger(fused(back, entry, m.multiplier[i]), zero);
      }
    }
  }

  template <bool Both>
  CAROM_INLINE void change_table(const Change& one, const Change& two) const {
    constexpr int kBlock = 8;
    const int rows = parts_.rows;
    int j = 0;
    for (; j + kBlock <= rows; j += kBlock) change_columns<Both, kBlock>(one, two, j);
    for (; j < rows; ++j) change_columns<Both, 1>(one, two, j);
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

  /// x from the active rows' multipliers; those, and with them x, are then corrected once by what x
  /// leaves of the rows' bounds, which an ill-conditioned P makes larger than rounding.
  template <bool TwoSided, class Data>
  CAROM_HOST_DEVICE void finish(const QpView<Data>& view) {
    const Parts m = parts_;
    const int n = variables();
    const SingleLane lane;
    const V zero(0.0);
    for (int i = 0; i < m.rows; ++i) {
      V value = m.scale[i] * m.multiplier[i];
      if constexpr (TwoSided) value = m.side[i] * value;
      m.second[i] = select(m.multiplier[i] < V(kInfinity), value, zero);
    }
    for (int j = 0; j < n; ++j) m.x[j] = -view.gradient[j];
    add_rows(view.matrix, m.second, m.x);
    solve_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, m.x);
    for (int i = 0; i < m.rows; ++i) {
      V bound = view.lower[i];
      if constexpr (TwoSided) bound = select(m.side[i] > zero, bound, view.upper[i]);
      const V gap = m.scale[i] * (row_product(i, view.matrix) - bound);
      m.first[i] = select(m.multiplier[i] < V(kInfinity), gap, zero);
      m.below[i] = zero;  // from here on the change of the multipliers
    }
    for (int i = 0; i < m.rows; ++i) {
      const Memory row = m.table + triangle(i);
      const V mine = m.first[i];
      V sum = row[i] * mine;
      for (int j = 0; j < i; ++j) {
        sum = fused(row[j], m.first[j], sum);
        m.below[j] = fused(row[j], mine, m.below[j]);
      }
      m.below[i] = m.below[i] + sum;
    }
    for (int i = 0; i < m.rows; ++i) {
      m.below[i] = select(m.multiplier[i] < V(kInfinity), m.scale[i] * m.below[i], zero);
      m.second[i] = m.second[i] + m.below[i];
    }
    for (int j = 0; j < n; ++j) m.step[j] = zero;
    add_rows(view.matrix, m.below, m.step);
    solve_symmetric<V, N>(lane, n, m.factor, m.pivot_inverse, m.step);
    for (int j = 0; j < n; ++j) m.x[j] = m.x[j] + m.step[j];
  }

  /// to + A' of
  template <class Data>
  CAROM_INLINE void add_rows(const Data& matrix, const Memory& of, const Memory& to) const {
    const Parts m = parts_;
    for (int i = 0; i < m.rows; ++i) {
      const V value = of[i];
      for (int t = m.shape.row_first[i]; t < m.shape.row_first[i + 1]; ++t) {
        const int j = m.shape.column[t];
        to[j] = fused(value, matrix[static_cast<long>(i) * variables() + j], to[j]);
      }
    }
  }

  Parts parts_;
  V energy_{};
  V limit_{};
};

}  // namespace carom::kernels
