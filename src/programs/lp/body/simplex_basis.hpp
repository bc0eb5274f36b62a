#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>
#include <carom/lp.hpp>

/// The basis of the simplex method in simplex_body.hpp: its memory, the explicit inverse, and what
/// follows from it.
namespace carom::kernels {

CAROM_HOST_DEVICE constexpr long simplex_real_workspace(int rows, int columns) {
  const long m = padded(rows, kPackPadding);
  const long n = padded(columns, kPackPadding);
  return rows * n + rows * m + n + 8 * (n + m) + 10 * m;
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

  CAROM_HOST_DEVICE SimplexBasis(const Lanes& lanes, int rows, int columns, double* reals,
                                 int* ints)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        padded_rows_(padded(rows, kPackPadding)),
        np_(padded(columns, kPackPadding)),
        total_(np_ + mp()),
        matrix_(reals),
        inverse_(matrix_ + static_cast<long>(m_) * np_),
        cost_(inverse_ + static_cast<long>(m_) * mp()),
        reduced_(cost_ + np_),
        lower_(reduced_ + np_ + mp()),
        upper_(lower_ + np_ + mp()),
        value_(upper_ + np_ + mp()),
        rises_(value_ + np_ + mp()),
        falls_(rises_ + np_ + mp()),
        scale_(falls_ + np_ + mp()),
        status_(scale_ + np_ + mp()),
        basic_value_(status_ + np_ + mp()),
        basic_lower_(basic_value_ + mp()),
        basic_upper_(basic_lower_ + mp()),
        column_(basic_upper_ + mp()),
        rate_(column_ + mp()),
        event_(rate_ + mp()),
        work_(event_ + 2 * mp()),
        sign_(work_ + mp()),
        basic_cost_(sign_ + mp()),
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
      const V x = kernels::load<V>(basic_value_ + i);
      const V below = select(x < kernels::load<V>(basic_lower_ + i) - V(allowed), V(-1.0), V(0.0));
      const V sign = select(x > kernels::load<V>(basic_upper_ + i) + V(allowed), V(1.0), below);
      store(sign_ + i, sign);
      return sign != V(0.0);
    });
  }

  /// y' = weight' B^-1. weight: [mp], zeros behind m.
  CAROM_HOST_DEVICE void compute_prices(const double* weight) {
    lanes_.for_each(m_, [&](int k) {
      reduced_[np_ + k] = dot_packed(lanes_, mp(), weight, inverse_ + static_cast<long>(k) * mp());
    });
  }

  /// Values of the basic variables from those of the others: B x_B = -N x_N.
  CAROM_HOST_DEVICE void compute_values() {
    lanes_.for_each(m_, [&](int k) {
      work_[k] =
          value_[np_ + k] - dot_packed(lanes_, np_, value_, matrix_ + static_cast<long>(k) * np_);
    });
    combine_inverse(work_, 1, basic_value_);
    exact_ = true;
    values_size_ = larger(data_size_, largest_packed(lanes_, mp(), [&](auto number, int i) {
                            return magnitude(kernels::load<decltype(number)>(basic_value_ + i));
                          }));
  }

  /// out = B^-1 v with v_k = from[k * stride].
  CAROM_HOST_DEVICE void combine_inverse(const double* from, long stride, double* out) {
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      V sum(0.0);
      for (int k = 0; k < m_; ++k) {
        sum = fused(V(from[k * stride]),
                    kernels::load<V>(inverse_ + static_cast<long>(k) * mp() + i), sum);
      }
      store(out + i, sum);
    });
  }

  /// column_ = B^-1 a_q.
  CAROM_HOST_DEVICE void compute_column(int q) {
    if (q < np_) {
      combine_inverse(matrix_ + q, np_, column_);
    } else {
      const double* from = inverse_ + static_cast<long>(q - np_) * mp();
      each_packed(lanes_, mp(), [&](auto number, int i) {
        store(column_ + i, -kernels::load<decltype(number)>(from + i));
      });
    }
  }

  /// Variable q, whose column is column_, takes row r; the row of the new inverse stays in work_.
  CAROM_HOST_DEVICE void exchange(int r, int q, double leaving_status, double reached) {
    const double pivot = 1.0 / column_[r];
    lanes_.for_each(m_,
                    [&](int k) { work_[k] = inverse_[static_cast<long>(k) * mp() + r] * pivot; });
    // Row r restarts from zero and takes the new row once: its elements are as the others'.
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      double* to = inverse_ + static_cast<long>(k) * mp() + i;
      const V row(static_cast<double>(r));
      const auto others = indices<V>(i) != row;
      const V factor = select(others, -kernels::load<V>(column_ + i), V(1.0));
      const V from = select(others, kernels::load<V>(to), V(0.0));
      store(to, fused(V(work_[k]), factor, from));
    });
    lanes_.for_each(1, [&](int) {
      place(basic_[r], leaving_status);
      basic_[r] = q;
      basic_value_[r] = reached;
      basic_lower_[r] = lower_[q];
      basic_upper_[r] = upper_[q];
      basic_cost_[r] = q < np_ ? cost_[q] : 0.0;
      place(q, kBasic);
    });
    ++updates_;
  }

  CAROM_INLINE double natural(int j) const {
    if (lower_[j] >= 0.0) return kAtLower;
    if (upper_[j] <= 0.0) return kAtUpper;
    return kAtZero;
  }

  /// Status of variable j, or of a register of them, with what pricing needs to know.
  template <class V>
  CAROM_INLINE void place(int j, V status) const {
    const V lower = kernels::load<V>(lower_ + j);
    const V upper = kernels::load<V>(upper_ + j);
    const auto at_lower = (status >= V(kAtLower)) & (status <= V(kAtLower));
    const auto at_upper = (status >= V(kAtUpper)) & (status <= V(kAtUpper));
    const V weight =
        select((lower <= V(-kInfinity)) & (upper >= V(kInfinity)), V(kFreeWeight), V(1.0));
    const V moves = select((status > V(kBasic)) & (lower < upper), weight, V(0.0));
    store(status_ + j, status);
    store(value_ + j, select(at_lower, lower, select(at_upper, upper, V(0.0))));
    store(rises_ + j, select(at_upper, V(0.0), moves));
    store(falls_ + j, select(at_lower, V(0.0), moves));
  }

  /// All rows basic: B = -I. Their statuses are the caller's.
  CAROM_HOST_DEVICE void start_from_rows() {
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      store(inverse_ + static_cast<long>(k) * mp() + i,
            select(indices<V>(i) != V(static_cast<double>(k)), V(0.0), V(-1.0)));
    });
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      store(value_ + np_ + i, V(0.0));
      store(rises_ + np_ + i, V(0.0));
      store(falls_ + np_ + i, V(0.0));
      store(basic_lower_ + i, kernels::load<V>(lower_ + np_ + i));
      store(basic_upper_ + i, kernels::load<V>(upper_ + np_ + i));
      store(basic_cost_ + i, V(0.0));
    });
    lanes_.for_each(mp(), [&](int i) { basic_[i] = np_ + i; });
    updates_ = 0;
  }

  /// A new inverse for the variables that are marked as basic: Gauss-Jordan with row pivoting, one
  /// exchange for each column. A column that depends on others leaves the basis, and rows fill up.
  CAROM_HOST_DEVICE void rebuild(double dependent = kDependent) {
    lanes_.for_each(m_, [&](int i) { sign_[i] = status_[np_ + i] == kBasic ? 1.0 : 0.0; });
    lanes_.for_each(m_, [&](int i) { event_[i] = status_[np_ + i]; });
    start_from_rows();
    for (int j = 0; j < n_; ++j) {
      if (status_[j] != kBasic) continue;
      compute_column(j);
      // Rows that are to stay basic or have been taken are marked by sign_ = 1.
      const ArgMin<double> best = lanes_.argmin(m_, kInfinity, [&](int i) {
        return sign_[i] == 0.0 ? -magnitude(column_[i]) : kInfinity;
      });
      if (best.index < 0 || !(-best.key > dependent)) {
        lanes_.for_each(1, [&](int) { place(j, natural(j)); });
        continue;
      }
      exchange(best.index, j, event_[best.index], 0.0);
      lanes_.for_each(1, [&](int) { sign_[best.index] = 1.0; });
    }
    lanes_.for_each(m_, [&](int i) {
      if (basic_[i] >= np_) place(basic_[i], kBasic);
    });
    updates_ = 0;
    compute_values();
  }

  const Lanes& lanes_;
  int m_, n_, padded_rows_, np_, total_;
  double* matrix_;       // [m, np] scaled A
  double* inverse_;      // [m, mp] transpose of B^-1
  double* cost_;         // [np]
  double* reduced_;      // [np + mp] reduced costs; those of the rows are their prices y
  double* lower_;        // [np + mp]
  double* upper_;        // [np + mp]
  double* value_;        // [np + mp] of nonbasic variables, 0 for basic ones
  double* rises_;        // [np + mp] weight of a reduced cost where the variable may rise, or 0
  double* falls_;        // [np + mp] the same for falling
  double* scale_;        // [np + mp] x = scale x_scaled; row i was multiplied by scale_[np + i]
  double* status_;       // [np + mp] BasisStatus as a number
  double* basic_value_;  // [mp]
  double* basic_lower_;  // [mp]
  double* basic_upper_;  // [mp]
  double* column_;       // [mp] B^-1 a_q
  double* rate_;         // [mp] of the basic values as q moves
  double* event_;        // [2 mp] step lengths at which bounds are met
  double* work_;         // [mp]
  double* sign_;         // [mp]
  double* basic_cost_;   // [mp]
  int* basic_;           // [mp] variable of each row
  double feasible_ = kFeasible;
  double data_size_ = 0.0;
  double values_size_ = 0.0;
  double price_size_ = 0.0;
  double price_noise_ = 0.0;
  double direction_ = 1.0;
  int entering_ = 0;
  int stalled_ = 0;
  int updates_ = 0;
  bool exact_ = false;  // basic_value_ was computed anew since the last step
};

}  // namespace carom::kernels
