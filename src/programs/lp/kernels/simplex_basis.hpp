#pragma once

#include <type_traits>

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/known_size.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>
#include <carom/types/lp.hpp>

/// The basis of the simplex method in simplex.hpp: its memory, the explicit inverse, and what
/// follows from it.
namespace carom::kernels {

/// m, n: padded rows and columns.
template <class Memory>
struct SimplexLayout {
  Memory matrix;       ///< [m, np] scaled A
  Memory inverse;      ///< [m, mp] transpose of B^-1
  Memory cost;         ///< [np]
  Memory reduced;      ///< [np + mp] reduced costs; those of the rows are their prices y
  Memory lower;        ///< [np + mp]
  Memory upper;        ///< [np + mp]
  Memory value;        ///< [np + mp] of nonbasic variables, 0 for basic ones
  Memory rises;        ///< [np + mp] weight of a reduced cost where the variable may rise, or 0
  Memory falls;        ///< [np + mp] the same for falling
  Memory scale;        ///< [np + mp] x = scale x_scaled; row i was multiplied by scale[np + i]
  Memory status;       ///< [np + mp] BasisStatus as a number
  Memory basic_value;  ///< [mp]
  Memory basic_lower;  ///< [mp]
  Memory basic_upper;  ///< [mp]
  Memory column;       ///< [mp] B^-1 a_q
  Memory rate;         ///< [mp] of the basic values as q moves
  Memory event;        ///< [2 mp] step lengths at which bounds are met
  Memory work;         ///< [mp]
  Memory sign;         ///< [mp]
  Memory basic_cost;   ///< [mp]

  SimplexLayout() = default;
  CAROM_INLINE constexpr SimplexLayout(Arena<Memory>& arena, long rows, long m, long n)
      : matrix(arena.take(rows * n)),
        inverse(arena.take(rows * m)),
        cost(arena.take(n)),
        reduced(arena.take(n + m)),
        lower(arena.take(n + m)),
        upper(arena.take(n + m)),
        value(arena.take(n + m)),
        rises(arena.take(n + m)),
        falls(arena.take(n + m)),
        scale(arena.take(n + m)),
        status(arena.take(n + m)),
        basic_value(arena.take(m)),
        basic_lower(arena.take(m)),
        basic_upper(arena.take(m)),
        column(arena.take(m)),
        rate(arena.take(m)),
        event(arena.take(2 * m)),
        work(arena.take(m)),
        sign(arena.take(m)),
        basic_cost(arena.take(m)) {}
};
CAROM_HOST_DEVICE constexpr long simplex_real_workspace(int rows, int columns) {
  return values_of<SimplexLayout>(rows, padded(rows, kPackPadding), padded(columns, kPackPadding));
}
CAROM_HOST_DEVICE constexpr long simplex_int_workspace(int rows) {
  return padded(rows, kPackPadding);
}

/// Where rows have few entries: the places of all entries, by rows and by columns, [entries] each,
/// and where each row and column starts; and of what a sum passes over, [m].
template <class Memory>
struct SimplexListsLayout {
  Memory row, column, row_start, column_start, blocks;

  SimplexListsLayout() = default;
  CAROM_INLINE constexpr SimplexListsLayout(Arena<Memory>& arena, long m, long n, long entries)
      : row(arena.take(entries)),
        column(arena.take(entries)),
        row_start(arena.take(m + 1)),
        column_start(arena.take(n + 1)),
        blocks(arena.take(m)) {}
};
/// Smaller problems are through before lists pay.
inline constexpr int kListedRows = 48;
CAROM_HOST_DEVICE constexpr long most_listed(int rows, int columns) {
  constexpr long kFew = 8;  // one entry in so many at most
  return static_cast<long>(rows) * columns / kFew;
}
/// Integers of simplex_int_workspace and behind them, in one lane with packs.
CAROM_HOST_DEVICE constexpr long simplex_listed_workspace(int rows, int columns) {
  return simplex_int_workspace(rows) +
         (rows < kListedRows
              ? 0
              : values_of<SimplexListsLayout>(rows, columns, most_listed(rows, columns)));
}

/// Variables are the n columns, then the m row activities s = A x; the equations [A -I][x; s] = 0
/// have no other right-hand side, and all data stand in bounds. Index j < np is column j (np: n
/// padded), np + i is s_i. A row's price y_i is also the reduced cost of s_i, so that d = c - A'y
/// and y form one array.
/// PaddedRows: m padded, where it is known when this is compiled; 0 otherwise. PaddedColumns:
/// likewise a multiple of kPackPadding, n or more, together with only PaddedRows; all places are
/// known then, the first being WorkspaceReals<Lanes>{}.
template <class Lanes, int PaddedRows, int PaddedColumns>
class SimplexBasis {
 protected:
  using Reals = WorkspaceReals<Lanes>;
  static constexpr bool kKnown = PaddedColumns > 0;
  /// Lists are for one lane. Their sums are those of all entries, but for a zero's sign.
  static constexpr bool kLists = HasPack<Lanes> && PaddedRows == 0;
  using Places = std::conditional_t<kKnown, SimplexLayout<Reals>, const SimplexLayout<Reals>&>;
  static constexpr double kBasic = static_cast<int>(BasisStatus::basic);
  static constexpr double kAtLower = static_cast<int>(BasisStatus::at_lower);
  static constexpr double kAtUpper = static_cast<int>(BasisStatus::at_upper);
  static constexpr double kAtZero = static_cast<int>(BasisStatus::at_zero);
  static constexpr double kFeasible = 1e-11;   // relative to the size of the values
  static constexpr double kDependent = 1e-11;  // a pivot of a new inverse that is taken for zero
  static constexpr double kFreeWeight = 1024.0;

  CAROM_HOST_DEVICE SimplexBasis(const Lanes& lanes, int rows, int columns,
                                 WorkspaceReals<Lanes> reals, int* ints)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        padded_rows_(padded(rows, kPackPadding)),
        padded_columns_(padded(columns, kPackPadding)),
        at_(placed<SimplexLayout>(reals, kKnown ? PaddedRows : m_, mp(), np())),
        basic_(ints) {
    if constexpr (kKnown) {  // rows that are not there: pricing asks them all, their prices are 0
      lanes_.for_each((PaddedRows - m_) * np(),
                      [&](int e) { at().matrix[static_cast<long>(m_) * np() + e] = 0.0; });
    }
  }

  CAROM_INLINE int mp() const { return known_or<PaddedRows>(padded_rows_); }
  CAROM_INLINE int np() const { return known_or<PaddedColumns>(padded_columns_); }
  CAROM_INLINE int total() const { return np() + mp(); }
  CAROM_INLINE Places at() const {
    if constexpr (kKnown) {
      return placed<SimplexLayout>(Reals{}, PaddedRows, PaddedRows, PaddedColumns);
    } else {
      return at_;
    }
  }
  /// Rows that pricing asks: those of the padding have prices and entries of zero.
  CAROM_INLINE int priced_rows() const { return known_or < kKnown ? PaddedRows : 0 > (m_); }
  /// f(i) for every row, in order.
  template <class F>
  CAROM_INLINE void each_row(F&& f) const {
    each_up_to<kKnown ? PaddedRows : 0>(m_, f);
  }

  /// sign_i = -1, 0 or 1: below, between or above the bounds. True where one is violated.
  CAROM_HOST_DEVICE bool find_violations() {
    const double allowed = feasible_ * values_size_;
    return any_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V x = kernels::load<V>(at().basic_value + i);
      const V below =
          select(x < kernels::load<V>(at().basic_lower + i) - V(allowed), V(-1.0), V(0.0));
      const V sign = select(x > kernels::load<V>(at().basic_upper + i) + V(allowed), V(1.0), below);
      store(at().sign + i, sign);
      return sign != V(0.0);
    });
  }

  /// After the matrix is there.
  CAROM_CALL void list_entries() {
    listed_ = false;
    if constexpr (kLists) {
      if (m_ < kListedRows) return;
      const long most = most_listed(m_, n_);
      lists_ = placed<SimplexListsLayout>(basic_ + simplex_int_workspace(m_), m_, n_, most);
      for (int j = 0; j <= n_; ++j) lists_.column_start[j] = 0;
      int count = 0;
      for (int i = 0; i < m_; ++i) {
        lists_.row_start[i] = count;
        const double* row = at().matrix + static_cast<long>(i) * np();
        for (int j = 0; j < n_; ++j) {
          if (row[j] == 0.0) continue;
          if (count == most) return;
          lists_.row[count++] = j;
          ++lists_.column_start[j];
        }
      }
      lists_.row_start[m_] = count;
      int before = 0;
      for (int j = 0; j <= n_; ++j) {
        before += lists_.column_start[j];
        lists_.column_start[j] = before;
      }
      for (int i = m_ - 1; i >= 0; --i) {
        for (int e = lists_.row_start[i]; e < lists_.row_start[i + 1]; ++e) {
          lists_.column[--lists_.column_start[lists_.row[e]]] = i;
        }
      }
      listed_ = true;
    }
  }
  [[nodiscard]] CAROM_INLINE bool listed() const { return kLists && listed_; }
  /// Lists the blocks of kPackPadding numbers of values, [mp], that have any but zero; their
  /// number.
  CAROM_CALL int list_blocks(const double* values) {
    int count = 0;
    for (int i = 0; i < mp(); i += kPackPadding) {
      bool any = false;
      for (int l = 0; l < kPackPadding; ++l) any |= values[i + l] != 0.0;
      lists_.blocks[count] = i;
      count += any ? 1 : 0;
    }
    return count;
  }
  /// Of the t-th number of these blocks.
  CAROM_INLINE int listed_place(int t) const {
    return lists_.blocks[t / kPackPadding] + t % kPackPadding;
  }

  /// y' = weight' B^-1. weight: [mp], zeros behind m.
  CAROM_CALL void compute_prices(const double* weight) {
    if (listed()) {
      const int count = kPackPadding * list_blocks(weight);
      for (int k = 0; k < m_; ++k) {
        const double* row = at().inverse + static_cast<long>(k) * mp();
        at().reduced[np() + k] = accumulate_packed(lanes_, count, [&](auto sum, int t) {
          using V = decltype(sum);
          const int i = listed_place(t);
          return fused(kernels::load<V>(weight + i), kernels::load<V>(row + i), sum);
        });
      }
      return;
    }
    lanes_.for_each(m_, [&](int k) {
      at().reduced[np() + k] =
          dot_packed(lanes_, mp(), weight, at().inverse + static_cast<long>(k) * mp());
    });
  }

  /// Values of the basic variables from those of the others: B x_B = -N x_N.
  CAROM_CALL void compute_values() {
    // Columns often stand at zero, all of them before the first pivot.
    const bool moved = any_packed(lanes_, np(), [&](auto number, int j) {
      return kernels::load<decltype(number)>(at().value + j) != decltype(number)(0.0);
    });
    lanes_.for_each(m_, [&](int k) {
      const double* row = at().matrix + static_cast<long>(k) * np();
      at().work[k] =
          at().value[np() + k] - (moved ? dot_packed(lanes_, np(), at().value, row) : 0.0);
    });
    combine_inverse(at().work, 1, at().basic_value);
    exact_ = true;
    values_size_ = larger(data_size_, largest_packed(lanes_, mp(), [&](auto number, int i) {
                            return magnitude(kernels::load<decltype(number)>(at().basic_value + i));
                          }));
  }

  /// out = B^-1 v with v_k = from[k * stride].
  CAROM_HOST_DEVICE void combine_inverse(const double* from, long stride, double* out) {
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      V sum(0.0);
      each_row([&](int k) {
        sum = fused(V(from[k * stride]),
                    kernels::load<V>(at().inverse + static_cast<long>(k) * mp() + i), sum);
      });
      store(out + i, sum);
    });
  }

  /// column = B^-1 a_q.
  CAROM_HOST_DEVICE void compute_column(int q) {
    if (listed() && q < n_) {
      const int first = lists_.column_start[q];
      const int count = lists_.column_start[q + 1] - first;
      const int* rows = lists_.column + first;
      for (int e = 0; e < count; ++e) {
        at().work[e] = at().matrix[static_cast<long>(rows[e]) * np() + q];
      }
      each_packed(lanes_, mp(), [&](auto number, int i) {
        using V = decltype(number);
        V sum(0.0);
        for (int e = 0; e < count; ++e) {
          sum = fused(V(at().work[e]),
                      kernels::load<V>(at().inverse + static_cast<long>(rows[e]) * mp() + i), sum);
        }
        store(at().column + i, sum);
      });
    } else if (q < np()) {
      combine_inverse(at().matrix + q, np(), at().column);
    } else {
      const double* from = at().inverse + static_cast<long>(q - np()) * mp();
      each_packed(lanes_, mp(), [&](auto number, int i) {
        store(at().column + i, -kernels::load<decltype(number)>(from + i));
      });
    }
  }

  /// Variable q, whose column is column, takes row r; the row of the new inverse stays in
  /// work.
  CAROM_HOST_DEVICE void exchange(int r, int q, double leaving_status, double reached) {
    const double pivot = 1.0 / at().column[r];
    lanes_.for_each(
        m_, [&](int k) { at().work[k] = at().inverse[static_cast<long>(k) * mp() + r] * pivot; });
    // Row r restarts from zero and takes the new row once: its elements are as the others'.
    if (listed()) {
      double* factor = at().event + mp();
      const int count = kPackPadding * list_blocks(at().column);
      each_packed(lanes_, count, [&](auto number, int t) {
        store(factor + t, -kernels::load<decltype(number)>(at().column + listed_place(t)));
      });
      for (int k = 0; k < m_; ++k) {
        const double from = at().work[k];
        if (from == 0.0) continue;
        double* to = at().inverse + static_cast<long>(k) * mp();
        each_packed(lanes_, count, [&](auto number, int t) {
          using V = decltype(number);
          double* const place = to + listed_place(t);
          store(place, fused(V(from), kernels::load<V>(factor + t), kernels::load<V>(place)));
        });
        to[r] = from;
      }
    } else {
      each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
        using V = decltype(number);
        double* to = at().inverse + static_cast<long>(k) * mp() + i;
        const V row(static_cast<double>(r));
        const auto others = indices<V>(i) != row;
        const V factor = select(others, -kernels::load<V>(at().column + i), V(1.0));
        const V from = select(others, kernels::load<V>(to), V(0.0));
        store(to, fused(V(at().work[k]), factor, from));
      });
    }
    const int leaving = basic_[r];
    lanes_.for_each(2, [&](int which) {
      place(which == 0 ? leaving : q, which == 0 ? leaving_status : kBasic);
    });
    lanes_.for_each(1, [&](int) {
      basic_[r] = q;
      at().basic_value[r] = reached;
      at().basic_lower[r] = at().lower[q];
      at().basic_upper[r] = at().upper[q];
      at().basic_cost[r] = q < np() ? at().cost[q] : 0.0;
    });
    ++updates_;
  }

  CAROM_INLINE double natural(int j) const {
    if (at().lower[j] >= 0.0) return kAtLower;
    if (at().upper[j] <= 0.0) return kAtUpper;
    return kAtZero;
  }

  /// What a status between these bounds makes of a variable, or of a register of them.
  template <class V>
  struct Placed {
    V value, rises, falls;
  };
  template <class V>
  static CAROM_INLINE Placed<V> placed_between(V lower, V upper, V status) {
    const auto at_lower = (status >= V(kAtLower)) & (status <= V(kAtLower));
    const auto at_upper = (status >= V(kAtUpper)) & (status <= V(kAtUpper));
    const V weight =
        select((lower <= V(-kInfinity)) & (upper >= V(kInfinity)), V(kFreeWeight), V(1.0));
    const V moves = select((status > V(kBasic)) & (lower < upper), weight, V(0.0));
    return {select(at_lower, lower, select(at_upper, upper, V(0.0))),
            select(at_upper, V(0.0), moves), select(at_lower, V(0.0), moves)};
  }
  /// Status of variable j, or of a register of them, with what pricing needs to know.
  template <class V>
  CAROM_INLINE void place(int j, V status) const {
    const Placed<V> placed =
        placed_between(kernels::load<V>(at().lower + j), kernels::load<V>(at().upper + j), status);
    store(at().status + j, status);
    store(at().value + j, placed.value);
    store(at().rises + j, placed.rises);
    store(at().falls + j, placed.falls);
  }

  /// All rows basic: B = -I. Their statuses are the caller's.
  CAROM_CALL void start_from_rows() {
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      store(at().inverse + static_cast<long>(k) * mp() + i,
            select(indices<V>(i) != V(static_cast<double>(k)), V(0.0), V(-1.0)));
    });
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      store(at().value + np() + i, V(0.0));
      store(at().rises + np() + i, V(0.0));
      store(at().falls + np() + i, V(0.0));
      store(at().basic_lower + i, kernels::load<V>(at().lower + np() + i));
      store(at().basic_upper + i, kernels::load<V>(at().upper + np() + i));
      store(at().basic_cost + i, V(0.0));
    });
    lanes_.for_each(mp(), [&](int i) { basic_[i] = np() + i; });
    updates_ = 0;
  }

  /// A new inverse for the variables that are marked as basic: Gauss-Jordan with row pivoting, one
  /// exchange for each column. A column that depends on others leaves the basis, and rows fill up.
  CAROM_CALL void rebuild(double dependent = kDependent) {
    lanes_.for_each(m_, [&](int i) { at().sign[i] = at().status[np() + i] == kBasic ? 1.0 : 0.0; });
    lanes_.for_each(m_, [&](int i) { at().event[i] = at().status[np() + i]; });
    start_from_rows();
    for (int j = 0; j < n_; ++j) {
      if (at().status[j] != kBasic) continue;
      compute_column(j);
      // Rows that are to stay basic or have been taken are marked by sign = 1.
      const ArgMin<double> best = lanes_.argmin(m_, kInfinity, [&](int i) {
        return at().sign[i] == 0.0 ? -magnitude(at().column[i]) : kInfinity;
      });
      if (best.index < 0 || !(-best.key > dependent)) {
        lanes_.for_each(1, [&](int) { place(j, natural(j)); });
        continue;
      }
      exchange(best.index, j, at().event[best.index], 0.0);
      lanes_.for_each(1, [&](int) { at().sign[best.index] = 1.0; });
    }
    lanes_.for_each(m_, [&](int i) {
      if (basic_[i] >= np()) place(basic_[i], kBasic);
    });
    updates_ = 0;
    compute_values();
  }

  const Lanes& lanes_;
  int m_, n_, padded_rows_, padded_columns_;
  SimplexLayout<WorkspaceReals<Lanes>> at_;
  int* basic_;  // [mp] variable of each row
  double feasible_ = kFeasible;
  double data_size_ = 0.0;
  double values_size_ = 0.0;
  double price_size_ = 0.0;
  double price_noise_ = 0.0;
  double direction_ = 1.0;
  int entering_ = 0;
  int stalled_ = 0;
  int updates_ = 0;
  SimplexListsLayout<int*> lists_;
  bool listed_ = false;
  bool exact_ = false;  // basic_value was computed anew since the last step
};

}  // namespace carom::kernels
