#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Dense systems of a few unknowns in the caller's arrays.
namespace carom::kernels::motion {

/// M = L L' in place, lower triangle with the reciprocals of L's diagonal; false where M is not
/// positive definite.
CAROM_INLINE bool factorise(int n, double* matrix) {
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double sum = matrix[i * n + j];
      for (int c = 0; c < j; ++c) sum = fused(-matrix[i * n + c], matrix[j * n + c], sum);
      if (i == j) {
        if (!(sum > 0.0)) return false;
        matrix[j * n + j] = 1.0 / square_root(sum);
      } else {
        matrix[i * n + j] = sum * matrix[j * n + j];
      }
    }
  }
  return true;
}

/// x := (L L')^-1 x.
CAROM_INLINE void solve_factor(int n, const double* factor, double* x) {
  for (int i = 0; i < n; ++i) {
    double sum = x[i];
    for (int c = 0; c < i; ++c) sum = fused(-factor[i * n + c], x[c], sum);
    x[i] = sum * factor[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = x[i];
    for (int c = i + 1; c < n; ++c) sum = fused(-factor[c * n + i], x[c], sum);
    x[i] = sum * factor[i * n + i];
  }
}

/// A x = b for few unknowns, A: [n, n] with rows of kMost. Elimination with complete pivoting;
/// where A is singular, as for contacts that share a load, the solution of least norm of the rows
/// that elimination leaves: with P A Q = L U of rank r, x = Q U' (U U')^-1 y, L y = P b. A is
/// overwritten then. Build: whose code it is (LaneOf).
template <int kMost, class Build>
class SmallSystem {
 public:
  double a[kMost][kMost];
  double b[kMost];

  /// False where A is not finite. `redundant`: A was singular to working accuracy.
  CAROM_CALL bool solve(int n, double* x, bool& redundant) {
    redundant = false;
    if (n == 1 && magnitude(a[0][0]) > 0.0 && is_finite(a[0][0])) {
      x[0] = b[0] / a[0][0];
      return true;
    }
    if constexpr (kMost > 1) {
      if (n == 2 && solve_pair(x)) return true;
    }
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) largest = larger(largest, magnitude(a[i][j]));
    }
    if (!is_finite(largest)) return false;
    const int rank = eliminate(n);
    if (rank == n) {
      substitute(n, x);
      return true;
    }
    redundant = true;
    rank_ = rank;
    return prepare_least_norm(n) && solve_again(n, x);
  }

  /// The same A with another b, after a solve that was redundant.
  CAROM_CALL bool solve_again(int n, double* x) const {
    double y[kMost] = {};
    double step[kMost] = {};
    forward(rank_, y);
    for (int i = 0; i < n; ++i) x[i] = 0.0;
    for (int round = 0; round < 2; ++round) {  // the second refines
      for (int i = 0; i < rank_; ++i) {
        double sum = y[i];
        for (int c = i; c < n; ++c) sum = fused(-lu_[i][c], x[column_[c]], sum);
        for (int c = 0; c < i; ++c) sum = fused(-a[i][c], step[c], sum);
        step[i] = sum / a[i][i];
      }
      for (int i = rank_ - 1; i >= 0; --i) {
        double sum = step[i];
        for (int c = i + 1; c < rank_; ++c) sum = fused(-a[c][i], step[c], sum);
        step[i] = sum / a[i][i];
      }
      for (int c = 0; c < n; ++c) {
        double sum = x[column_[c]];
        for (int i = 0; i < rank_ && i <= c; ++i) sum = fused(lu_[i][c], step[i], sum);
        x[column_[c]] = sum;
      }
    }
    return true;
  }

 private:
  static constexpr double kSingular = 1e-11;

  /// As eliminate and substitute.
  CAROM_INLINE bool solve_pair(double* x) const {
    int row = 0;
    int column = 0;
    double first = magnitude(a[0][0]);
    const auto look = [&](int i, int j) {
      if (!(magnitude(a[i][j]) > first)) return;
      first = magnitude(a[i][j]);
      row = i;
      column = j;
    };
    look(0, 1);
    look(1, 0);
    look(1, 1);
    const double share = a[1 - row][column] / a[row][column];
    const double left = fused(-share, a[row][1 - column], a[1 - row][1 - column]);
    if (!(magnitude(left) > kSingular * first) || !is_finite(first)) return false;
    x[1 - column] = fused(-share, b[row], b[1 - row]) / left;
    x[column] = fused(-a[row][1 - column], x[1 - column], b[row]) / a[row][column];
    return true;
  }

  /// Rank of A.
  CAROM_CALL int eliminate(int n) {
    for (int i = 0; i < n; ++i) {
      row_[i] = column_[i] = i;
      for (int j = 0; j < n; ++j) lu_[i][j] = a[i][j];
    }
    double first = 0.0;
    for (int k = 0; k < n; ++k) {
      int row = k;
      int column = k;
      for (int i = k; i < n; ++i) {
        for (int j = k; j < n; ++j) {
          if (magnitude(lu_[i][j]) > magnitude(lu_[row][column])) {
            row = i;
            column = j;
          }
        }
      }
      const double pivot = magnitude(lu_[row][column]);
      if (k == 0) first = pivot;
      if (!(pivot > kSingular * first)) return k;
      for (int j = 0; j < n; ++j) swap(lu_[k][j], lu_[row][j]);
      for (int i = 0; i < n; ++i) swap(lu_[i][k], lu_[i][column]);
      swap(row_[k], row_[row]);
      swap(column_[k], column_[column]);
      for (int i = k + 1; i < n; ++i) {
        lu_[i][k] /= lu_[k][k];
        for (int j = k + 1; j < n; ++j) lu_[i][j] = fused(-lu_[i][k], lu_[k][j], lu_[i][j]);
      }
    }
    return n;
  }

  /// L y = P b, the first `rank` rows.
  CAROM_INLINE void forward(int rank, double* y) const {
    for (int i = 0; i < rank; ++i) {
      double sum = b[row_[i]];
      for (int c = 0; c < i; ++c) sum = fused(-lu_[i][c], y[c], sum);
      y[i] = sum;
    }
  }

  /// U U' = C C', C in the lower triangle of a.
  CAROM_CALL bool prepare_least_norm(int n) {
    for (int i = 0; i < rank_; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0.0;
        for (int c = i; c < n; ++c) sum = fused(lu_[i][c], lu_[j][c], sum);
        for (int c = 0; c < j; ++c) sum = fused(-a[i][c], a[j][c], sum);
        if (i == j && !(sum > 0.0)) return false;
        a[i][j] = i == j ? square_root(sum) : sum / a[j][j];
      }
    }
    return true;
  }

  CAROM_CALL void substitute(int n, double* x) const {
    double y[kMost] = {};
    forward(n, y);
    for (int i = n - 1; i >= 0; --i) {
      double sum = y[i];
      for (int c = i + 1; c < n; ++c) sum = fused(-lu_[i][c], y[c], sum);
      y[i] = sum / lu_[i][i];
    }
    for (int i = 0; i < n; ++i) x[column_[i]] = y[i];
  }

  template <class Value>
  CAROM_INLINE static void swap(Value& p, Value& q) {
    const Value held = p;
    p = q;
    q = held;
  }

  double lu_[kMost][kMost];
  int row_[kMost], column_[kMost];
  int rank_ = 0;
};

}  // namespace carom::kernels::motion
