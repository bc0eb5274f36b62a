#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>
#include <carom/lp.hpp>

/// The basis of the simplex method in simplex_body.hpp: its memory, the explicit inverse, and what
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

/// Variables are the n columns, then the m row activities s = A x; the equations [A -I][x; s] = 0
/// have no other right-hand side, and all data stand in bounds. Index j < np is column j (np: n
/// padded), np + i is s_i. A row's price y_i is also the reduced cost of s_i, so that d = c - A'y
/// and y form one array.
/// PaddedRows: m padded, where it is known when this is compiled; 0 otherwise.
template <class Lanes, int PaddedRows>
class SimplexBasis {
 protected:
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
        np_(padded(columns, kPackPadding)),
        total_(np_ + mp()),
        at_(placed<SimplexLayout>(reals, m_, mp(), np_)),
        basic_(ints) {}

  CAROM_INLINE int mp() const {
    if constexpr (PaddedRows > 0) {
      return PaddedRows;
    } else {
      return padded_rows_;
    }
  }

  /// sign_i = -1, 0 or 1: below, between or above the bounds. True where one is violated.
  CAROM_HOST_DEVICE bool find_violations() {
    const double allowed = feasible_ * values_size_;
    return any_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V x = kernels::load<V>(at_.basic_value + i);
      const V below =
          select(x < kernels::load<V>(at_.basic_lower + i) - V(allowed), V(-1.0), V(0.0));
      const V sign = select(x > kernels::load<V>(at_.basic_upper + i) + V(allowed), V(1.0), below);
      store(at_.sign + i, sign);
      return sign != V(0.0);
    });
  }

  /// y' = weight' B^-1. weight: [mp], zeros behind m.
  CAROM_CALL void compute_prices(const double* weight) {
    lanes_.for_each(m_, [&](int k) {
      at_.reduced[np_ + k] =
          dot_packed(lanes_, mp(), weight, at_.inverse + static_cast<long>(k) * mp());
    });
  }

  /// Values of the basic variables from those of the others: B x_B = -N x_N.
  CAROM_CALL void compute_values() {
    // Columns often stand at zero, all of them before the first pivot.
    const bool moved = any_packed(lanes_, np_, [&](auto number, int j) {
      return kernels::load<decltype(number)>(at_.value + j) != decltype(number)(0.0);
    });
    lanes_.for_each(m_, [&](int k) {
      const double* row = at_.matrix + static_cast<long>(k) * np_;
      at_.work[k] = at_.value[np_ + k] - (moved ? dot_packed(lanes_, np_, at_.value, row) : 0.0);
    });
    combine_inverse(at_.work, 1, at_.basic_value);
    exact_ = true;
    values_size_ = larger(data_size_, largest_packed(lanes_, mp(), [&](auto number, int i) {
                            return magnitude(kernels::load<decltype(number)>(at_.basic_value + i));
                          }));
  }

  /// out = B^-1 v with v_k = from[k * stride].
  CAROM_HOST_DEVICE void combine_inverse(const double* from, long stride, double* out) {
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      V sum(0.0);
      for (int k = 0; k < m_; ++k) {
        sum = fused(V(from[k * stride]),
                    kernels::load<V>(at_.inverse + static_cast<long>(k) * mp() + i), sum);
      }
      store(out + i, sum);
    });
  }

  /// column = B^-1 a_q.
  CAROM_HOST_DEVICE void compute_column(int q) {
    if (q < np_) {
      combine_inverse(at_.matrix + q, np_, at_.column);
    } else {
      const double* from = at_.inverse + static_cast<long>(q - np_) * mp();
      each_packed(lanes_, mp(), [&](auto number, int i) {
        store(at_.column + i, -kernels::load<decltype(number)>(from + i));
      });
    }
  }

  /// Variable q, whose column is column, takes row r; the row of the new inverse stays in
  /// work.
  CAROM_HOST_DEVICE void exchange(int r, int q, double leaving_status, double reached) {
    const double pivot = 1.0 / at_.column[r];
    lanes_.for_each(
        m_, [&](int k) { at_.work[k] = at_.inverse[static_cast<long>(k) * mp() + r] * pivot; });
    // Row r restarts from zero and takes the new row once: its elements are as the others'.
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      double* to = at_.inverse + static_cast<long>(k) * mp() + i;
      const V row(static_cast<double>(r));
      const auto others = indices<V>(i) != row;
      const V factor = select(others, -kernels::load<V>(at_.column + i), V(1.0));
      const V from = select(others, kernels::load<V>(to), V(0.0));
      store(to, fused(V(at_.work[k]), factor, from));
    });
    lanes_.for_each(1, [&](int) {
      place(basic_[r], leaving_status);
      basic_[r] = q;
      at_.basic_value[r] = reached;
      at_.basic_lower[r] = at_.lower[q];
      at_.basic_upper[r] = at_.upper[q];
      at_.basic_cost[r] = q < np_ ? at_.cost[q] : 0.0;
      place(q, kBasic);
    });
    ++updates_;
  }

  CAROM_INLINE double natural(int j) const {
    if (at_.lower[j] >= 0.0) return kAtLower;
    if (at_.upper[j] <= 0.0) return kAtUpper;
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
        placed_between(kernels::load<V>(at_.lower + j), kernels::load<V>(at_.upper + j), status);
    store(at_.status + j, status);
    store(at_.value + j, placed.value);
    store(at_.rises + j, placed.rises);
    store(at_.falls + j, placed.falls);
  }

  /// All rows basic: B = -I. Their statuses are the caller's.
  CAROM_CALL void start_from_rows() {
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      store(at_.inverse + static_cast<long>(k) * mp() + i,
            select(indices<V>(i) != V(static_cast<double>(k)), V(0.0), V(-1.0)));
    });
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      store(at_.value + np_ + i, V(0.0));
      store(at_.rises + np_ + i, V(0.0));
      store(at_.falls + np_ + i, V(0.0));
      store(at_.basic_lower + i, kernels::load<V>(at_.lower + np_ + i));
      store(at_.basic_upper + i, kernels::load<V>(at_.upper + np_ + i));
      store(at_.basic_cost + i, V(0.0));
    });
    lanes_.for_each(mp(), [&](int i) { basic_[i] = np_ + i; });
    updates_ = 0;
  }

  /// A new inverse for the variables that are marked as basic: Gauss-Jordan with row pivoting, one
  /// exchange for each column. A column that depends on others leaves the basis, and rows fill up.
  CAROM_CALL void rebuild(double dependent = kDependent) {
    lanes_.for_each(m_, [&](int i) { at_.sign[i] = at_.status[np_ + i] == kBasic ? 1.0 : 0.0; });
    lanes_.for_each(m_, [&](int i) { at_.event[i] = at_.status[np_ + i]; });
    start_from_rows();
    for (int j = 0; j < n_; ++j) {
      if (at_.status[j] != kBasic) continue;
      compute_column(j);
      // Rows that are to stay basic or have been taken are marked by sign = 1.
      const ArgMin<double> best = lanes_.argmin(m_, kInfinity, [&](int i) {
        return at_.sign[i] == 0.0 ? -magnitude(at_.column[i]) : kInfinity;
      });
      if (best.index < 0 || !(-best.key > dependent)) {
        lanes_.for_each(1, [&](int) { place(j, natural(j)); });
        continue;
      }
      exchange(best.index, j, at_.event[best.index], 0.0);
      lanes_.for_each(1, [&](int) { at_.sign[best.index] = 1.0; });
    }
    lanes_.for_each(m_, [&](int i) {
      if (basic_[i] >= np_) place(basic_[i], kBasic);
    });
    updates_ = 0;
    compute_values();
  }

  const Lanes& lanes_;
  int m_, n_, padded_rows_, np_, total_;
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
  bool exact_ = false;  // basic_value was computed anew since the last step
};

}  // namespace carom::kernels
