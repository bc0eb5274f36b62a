#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/status.hpp>

/// Lemke's method with lexicographic ties on a condensed tableau (Cottle, Pang, Stone 2009, 4.4).
namespace carom::kernels {

/// Scratch of one problem of order n; stride: n + 2, padded.
template <class Memory>
struct LemkeRealLayout {
  Memory tableau;  ///< [n, n + 2], rows padded
  Memory row;      ///< the pivot row after the update
  Memory column;   ///< the pivot column before the update

  CAROM_INLINE constexpr LemkeRealLayout(Arena<Memory>& arena, long n, long stride)
      : tableau(arena.take(n * stride)), row(arena.take(stride)), column(arena.take(n)) {}
};
template <class Memory>
struct LemkeIntLayout {
  Memory basic;     ///< variable of each row
  Memory nonbasic;  ///< variable of each column
  Memory place;     ///< row or column of each variable

  CAROM_INLINE constexpr LemkeIntLayout(Arena<Memory>& arena, long n)
      : basic(arena.take(n)), nonbasic(arena.take(n + 1)), place(arena.take(2 * n)) {}
};

CAROM_HOST_DEVICE constexpr long lemke_real_workspace(int n, int padding = 1) {
  return values_of<LemkeRealLayout>(n, padded(n + 2, padding));
}
CAROM_HOST_DEVICE constexpr long lemke_int_workspace(int n) { return values_of<LemkeIntLayout>(n); }

/// Whether a solution with this residual of certificate::lcp_residual is refined and certified
/// anew.
CAROM_INLINE bool wants_refinement(double residual, double tolerance) {
  return !(residual <= smaller(tolerance, 1e-12));
}

/// visit(i), in order, for the i below count that pass the test, until it says false. A warp tests
/// as many at once as it has lanes.
template <class Lanes, class Test, class Visit>
CAROM_INLINE void visit_where(int count, Test&& test, Visit&& visit) {
  if constexpr (requires { Lanes::where(true); }) {
    for (int begin = 0; begin < count; begin += Lanes::kWidth) {
      const int own = begin + Lanes::lane();
      unsigned passed = Lanes::where(own < count && test(own));
      for (; passed != 0; passed &= passed - 1U) {
        if (!visit(begin + lowest_bit(passed))) return;
      }
    }
  } else {
    for (int i = 0; i < count; ++i) {
      if (test(i) && !visit(i)) return;
    }
  }
}

struct LemkeOutcome {
  Status status;
  int pivots;
};

/// What rounding is taken for, in every body of the method.
struct LemkeRule {
  static constexpr double kPivotTolerance = 1e-11;  // relative to the column's largest entry
  static constexpr double kTieTolerance = 1e-12;    // of values, relative to -min q
  static constexpr double kSameEntry = 1e-10;       // of rows of B^-1, relative to their size
};

/// Find z >= 0, w = M z + q >= 0, z'w = 0 with covering vector e.
///
/// The tableau writes each basic variable as value + sum of coefficients times nonbasic ones. At
/// the start w is basic and (z, z0) nonbasic, w = q + M z + e z0. Columns 0..n hold the nonbasic
/// variables, column n + 1 the values. Ties of the ratio test are broken lexicographically by
/// [value, B^-1], z0 first (Theorem 4.4.4): z0 wins a tie, so a solution is never pivoted past.
template <class Lanes>
class Lemke {
 public:
  CAROM_HOST_DEVICE Lemke(const Lanes& lanes, int n, double* reals, int* ints)
      : lanes_(lanes),
        n_(n),
        stride_(padded(n + 2, row_padding<Lanes>())),
        at_(placed<LemkeRealLayout>(reals, n_, stride_)),
        int_at_(placed<LemkeIntLayout>(ints, n_)) {}

  /// entry(i, j) -> M_ij; q(i) -> q_i; z: [n] out, written by solved runs only.
  template <class Entry, class Vector>
  CAROM_HOST_DEVICE LemkeOutcome run(Entry&& entry, Vector&& q, int max_pivots, double* z) {
    const LemkeOutcome outcome = find(entry, q, max_pivots, z);
    if (outcome.status == Status::solved && outcome.pivots > 0) improve(entry, q, z);
    return outcome;
  }

  /// The same, with z as it stands in the tableau.
  template <class Entry, class Vector>
  CAROM_HOST_DEVICE LemkeOutcome find(Entry&& entry, Vector&& q, int max_pivots, double* z) {
    const int n = n_;
    lanes_.for_each_2d(n, stride_, [&](int i, int j) {
      at(i, j) = j < n ? entry(i, j) : (j == n ? 1.0 : (j == n + 1 ? q(i) : 0.0));
    });
    lanes_.for_each(n, [&](int i) {
      int_at_.basic[i] = n + i;  // w_i; z_i is i, z0 is 2n
      int_at_.nonbasic[i] = i;
      int_at_.place[i] = i;
      int_at_.place[n + i] = i;
      if (i == 0) int_at_.nonbasic[n] = 2 * n;
    });
    const ArgMin<double> worst = lanes_.argmin(n, kInfinity, [&](int i) { return value(i); });
    if (worst.index < 0) return {Status::numerical_error, 0};
    if (worst.key >= 0.0) {
      lanes_.for_each(n, [&](int i) { z[i] = 0.0; });
      return {Status::solved, 0};
    }
    scale_ = -worst.key;
    // z0 enters at the row of the smallest q; among equal ones the last is the lexicographic choice
    // for [q, I] with z0 rising.
    int row = worst.index;
    for (int i = 0; i < n; ++i) {
      if (value(i) == worst.key) row = i;
    }
    int column = n;
    for (int pivots = 1; pivots <= max_pivots; ++pivots) {
      const int leaving = int_at_.basic[row];
      if (!pivot(row, column)) return ending(Status::numerical_error, pivots, z);
      if (leaving == 2 * n) return finish(pivots, z);
      const int entering = leaving < n ? leaving + n : leaving - n;
      column = int_at_.place[entering];
      row = ratio_test(column);
      if (row == kRay) return ending(Status::ray, pivots, z);
      if (row == kBroken) return ending(Status::numerical_error, pivots, z);
    }
    return ending(Status::iteration_limit, max_pivots, z);
  }

  /// Refines what `find` solved in one or more pivots.
  template <class Entry, class Vector>
  CAROM_CALL void improve(Entry&& entry, Vector&& q, double* z) {
    for (int round = 0; round < kRefinements && refine(entry, q, z); ++round) {
    }
  }

 private:
  static constexpr int kRay = -1;
  static constexpr int kBroken = -2;
  static constexpr int kRefinements = 2;
  static constexpr double kRounding = 4e-16;  // of w, relative to -min q
  static constexpr double kVanished = 1e-9;   // of z0, relative to -min q

  CAROM_INLINE double& at(int i, int j) const {
    return at_.tableau[static_cast<long>(i) * stride_ + j];
  }
  CAROM_INLINE double value(int i) const { return at(i, n_ + 1); }

  /// Reads the solution off the tableau.
  CAROM_HOST_DEVICE LemkeOutcome finish(int pivots, double* z) {
    lanes_.for_each(n_, [&](int i) { z[i] = 0.0; });
    lanes_.for_each(n_, [&](int i) {
      if (int_at_.basic[i] < n_) z[int_at_.basic[i]] = at_least_zero(value(i));
    });
    return {Status::solved, pivots};
  }

  /// Without z0 having left: where all that is left of it is rounding, its row was passed over in a
  /// tie that large entries blurred, and what stands in the tableau is the solution.
  CAROM_HOST_DEVICE LemkeOutcome ending(Status status, int pivots, double* z) {
    for (int i = 0; i < n_; ++i) {
      if (int_at_.basic[i] == 2 * n_ && value(i) <= kVanished * scale_) {
        return finish(pivots, z);
      }
    }
    return {status, pivots};
  }

  /// Removes from z what rounding left in the w that ought to vanish: the tableau's column of a
  /// nonbasic w_k says how the basic variables answer to it. False where nothing was left.
  template <class Entry, class Vector>
  CAROM_CALL bool refine(Entry&& entry, Vector&& q, double* z) {
    lanes_.for_each(n_, [&](int k) {
      const int place = int_at_.place[n_ + k];
      at_.column[k] = 0.0;
      if (place <= n_ && int_at_.nonbasic[place] == n_ + k) {
        double w = q(k);
        for (int j = 0; j < n_; ++j) w = fused(entry(k, j), z[j], w);
        at_.column[k] = w;
      }
    });
    const ArgMin<double> worst =
        lanes_.argmin(n_, kInfinity, [&](int k) { return -magnitude(at_.column[k]); });
    if (worst.index < 0 || -worst.key <= kRounding * scale_) return false;
    lanes_.for_each(n_, [&](int i) {
      if (int_at_.basic[i] >= n_) return;
      double correction = 0.0;
      for (int k = 0; k < n_; ++k) {
        if (at_.column[k] != 0.0)
          correction = fused(at(i, int_at_.place[n_ + k]), at_.column[k], correction);
      }
      z[int_at_.basic[i]] = at_least_zero(z[int_at_.basic[i]] - correction);
    });
    return true;
  }

  /// Exchanges basic[row] and nonbasic[column].
  CAROM_HOST_DEVICE bool pivot(int row, int column) {
    const double element = at(row, column);
    if (!(element != 0.0) || !is_finite(element)) return false;
    // The pivot column restarts from zero and the pivot row gets no part: no element needs a test.
    lanes_.for_each(n_, [&](int i) {
      at_.column[i] = i == row ? 0.0 : at(i, column);
      if (i != row) at(i, column) = 0.0;
    });
    const double inverse = 1.0 / element;
    lanes_.for_each(stride_,
                    [&](int j) { at_.row[j] = j == column ? inverse : -at(row, j) * inverse; });
    add_outer(lanes_, n_, stride_, at_.tableau, at_.column, at_.row);
    lanes_.for_each(stride_, [&](int j) { at(row, j) = at_.row[j]; });
    const int entering = int_at_.nonbasic[column];
    const int leaving = int_at_.basic[row];
    lanes_.for_each(1, [&](int) {
      int_at_.basic[row] = entering;
      int_at_.nonbasic[column] = leaving;
      if (entering < 2 * n_) int_at_.place[entering] = row;
      if (leaving < 2 * n_) int_at_.place[leaving] = column;
    });
    return true;
  }

  /// Row whose basic variable first reaches zero as nonbasic[column] grows.
  CAROM_HOST_DEVICE int ratio_test(int column) {
    const ArgMin<double> steepest =
        lanes_.argmin(n_, kInfinity, [&](int i) { return -magnitude(at(i, column)); });
    if (steepest.index < 0 || !is_finite(steepest.key)) return kBroken;
    const double smallest = LemkeRule::kPivotTolerance * -steepest.key;
    const ArgMin<double> first = lanes_.argmin(n_, kInfinity, [&](int i) {
      const double rate = -at(i, column);
      return rate > smallest ? at_least_zero(value(i)) / rate : kInfinity;
    });
    if (first.index < 0) return kRay;
    // What is left of the value there says whether it would vanish too.
    const auto vanishes = [&](int i) {
      const double rate = -at(i, column);
      return rate > smallest &&
             at_least_zero(value(i)) - first.key * rate <= LemkeRule::kTieTolerance * scale_;
    };
    int best = -1;
    visit_where<Lanes>(n_, vanishes, [&](int i) {
      const bool ends = int_at_.basic[i] == 2 * n_;
      if (ends || best < 0 || lexicographically_smaller(i, best, column)) best = i;
      return !ends;
    });
    return best;
  }

  /// Compares the rows of B^-1 divided by their rates. B^-1 maps q to the values; its column k is
  /// the negative coefficient of w_k where w_k is nonbasic, and a unit vector where it is basic.
  CAROM_HOST_DEVICE bool lexicographically_smaller(int a, int b, int column) const {
    const double rate_a = -at(a, column);
    const double rate_b = -at(b, column);
    // Entries are compared against the size of their rows, below which they are rounding.
    double size = 0.0;
    for (int k = 0; k < n_; ++k) {
      size = larger(size, larger(magnitude(inverse_entry(a, k) / rate_a),
                                 magnitude(inverse_entry(b, k) / rate_b)));
    }
    for (int k = 0; k < n_; ++k) {
      const double difference = inverse_entry(a, k) / rate_a - inverse_entry(b, k) / rate_b;
      if (magnitude(difference) > LemkeRule::kSameEntry * size) return difference < 0.0;
    }
    return a < b;
  }

  CAROM_INLINE double inverse_entry(int row, int k) const {
    const int place = int_at_.place[n_ + k];
    if (place < n_ && int_at_.basic[place] == n_ + k) return row == place ? 1.0 : 0.0;
    return -at(row, place);
  }

  const Lanes& lanes_;
  int n_;
  int stride_;
  LemkeRealLayout<double*> at_;
  LemkeIntLayout<int*> int_at_;
  double scale_ = 0.0;  // of the values: -min q
};

}  // namespace carom::kernels
