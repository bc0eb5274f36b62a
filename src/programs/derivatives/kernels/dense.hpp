#pragma once

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Dense factors of the equations of one answer's modes: small, general and nearly always regular.
namespace carom::derivatives {

/// |x|.
CAROM_INLINE double magnitude(double x) { return certificate::absolute(x); }

template <class Memory>
struct FactorsLayout {
  Memory matrix;        ///< as given, row-major [n, n]
  Memory lu;            ///< of the scaled matrix, pivots by their inverses
  Memory row_scale;     ///< powers of two
  Memory column_scale;  ///< likewise
  Memory scratch;       ///< [3 n]

  FactorsLayout() = default;
  CAROM_INLINE constexpr FactorsLayout(kernels::Arena<Memory>& arena, long n)
      : matrix(arena.take(n * n)),
        lu(arena.take(n * n)),
        row_scale(arena.take(n)),
        column_scale(arena.take(n)),
        scratch(arena.take(3 * n)) {}
};

/// A power of two that makes `size` lie in [1/2, 1); one of zero.
CAROM_INLINE double inverse_power(double size) {
  if (!(size > 0.0) || !kernels::is_finite(size)) return 1.0;
  return __builtin_ldexp(1.0, -(__builtin_ilogb(size) + 1));
}

/// LU with partial pivoting of a matrix whose rows and columns are first scaled to size one, so
/// that neither pivots nor the condition depend on units. Every solve is refined once.
class Factors {
 public:
  /// A pivot below this share of the scaled entries is what rounding left of zero.
  static constexpr double kSingular = 1e-13;

  /// n: capacity; pivots: [n].
  CAROM_INLINE Factors(double* memory, int* pivots, int capacity)
      : at_(kernels::placed<FactorsLayout>(memory, static_cast<long>(capacity))), pivots_(pivots) {}

  /// Row-major [n, n], to be filled before factor(n).
  [[nodiscard]] CAROM_INLINE double* matrix() const { return at_.matrix; }

  /// False where the matrix is singular to rounding.
  CAROM_HOST_DEVICE bool factor(int n) {
    n_ = n;
    for (int i = 0; i < n; ++i) {
      double size = 0.0;
      for (int j = 0; j < n; ++j) size = kernels::larger(size, magnitude(entry(i, j)));
      if (!(size > 0.0) || !kernels::is_finite(size)) return false;
      at_.row_scale[i] = inverse_power(size);
    }
    for (int j = 0; j < n; ++j) {
      double size = 0.0;
      for (int i = 0; i < n; ++i) {
        size = kernels::larger(size, magnitude(entry(i, j)) * at_.row_scale[i]);
      }
      if (!(size > 0.0)) return false;
      at_.column_scale[j] = inverse_power(size);
    }
    norm_ = 0.0;
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) {
        const double value = entry(i, j) * at_.row_scale[i] * at_.column_scale[j];
        lu(i, j) = value;
        sum += magnitude(value);
      }
      norm_ = kernels::larger(norm_, sum);
    }
    sign_ = 1;
    for (int k = 0; k < n; ++k) {
      int best = k;
      for (int i = k + 1; i < n; ++i) {
        if (magnitude(lu(i, k)) > magnitude(lu(best, k))) best = i;
      }
      pivots_[k] = best;
      if (best != k) {
        sign_ = -sign_;
        for (int j = 0; j < n; ++j) {
          const double kept = lu(k, j);
          lu(k, j) = lu(best, j);
          lu(best, j) = kept;
        }
      }
      const double pivot = lu(k, k);
      if (!(magnitude(pivot) > kSingular)) return false;
      if (pivot < 0.0) sign_ = -sign_;
      const double inverse = 1.0 / pivot;
      lu(k, k) = inverse;
      for (int i = k + 1; i < n; ++i) {
        const double factor = lu(i, k) * inverse;
        lu(i, k) = factor;
        if (factor == 0.0) continue;
        double* row = &lu(i, 0);
        const double* from = &lu(k, 0);
        for (int j = k + 1; j < n; ++j) row[j] = row[j] - factor * from[j];
      }
    }
    return true;
  }

  /// What x_j is like in a solution of x's size: unknowns of the scaled matrix have one unit.
  [[nodiscard]] CAROM_HOST_DEVICE double size_in_units(const double* x) const {
    double size = 0.0;
    for (int j = 0; j < n_; ++j) {
      size = kernels::larger(size, magnitude(x[j]) / at_.column_scale[j]);
    }
    return size;
  }
  [[nodiscard]] CAROM_INLINE double unit(int j) const { return at_.column_scale[j]; }

  /// That of the determinant.
  [[nodiscard]] CAROM_INLINE int sign() const { return sign_; }

  /// x: right-hand side, then A^-1 of it.
  CAROM_HOST_DEVICE void solve(double* x) const {
    double* given = at_.scratch;
    double* rest = at_.scratch + n_;
    copy(x, given);
    scaled_solve(x);
    for (int i = 0; i < n_; ++i) {
      double sum = given[i];
      for (int j = 0; j < n_; ++j) sum = sum - entry(i, j) * x[j];
      rest[i] = sum;
    }
    scaled_solve(rest);
    add(rest, x);
  }

  /// x: right-hand side, then A^-T of it.
  CAROM_HOST_DEVICE void solve_transposed(double* x) const {
    double* given = at_.scratch;
    double* rest = at_.scratch + n_;
    copy(x, given);
    scaled_solve_transposed(x);
    copy(given, rest);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) rest[j] = rest[j] - entry(i, j) * x[i];
    }
    scaled_solve_transposed(rest);
    add(rest, x);
  }

  /// Hager's estimate of the scaled matrix's condition in the 1-norm (Higham 2002, algorithm 15.1).
  [[nodiscard]] CAROM_HOST_DEVICE double condition() const {
    if (n_ == 0) return 1.0;
    double* x = at_.scratch;
    double* y = at_.scratch + n_;
    for (int i = 0; i < n_; ++i) x[i] = 1.0 / n_;
    double best = 0.0;
    for (int round = 0; round < 3; ++round) {
      eliminate(x);
      double sum = 0.0;
      for (int i = 0; i < n_; ++i) {
        sum += magnitude(x[i]);
        y[i] = x[i] >= 0.0 ? 1.0 : -1.0;
      }
      if (!(sum > best)) break;
      best = sum;
      eliminate_transposed(y);
      int most = 0;
      for (int i = 1; i < n_; ++i) {
        if (magnitude(y[i]) > magnitude(y[most])) most = i;
      }
      for (int i = 0; i < n_; ++i) x[i] = i == most ? 1.0 : 0.0;
    }
    return best * norm_;
  }

 private:
  CAROM_INLINE double entry(int i, int j) const {
    return at_.matrix[static_cast<long>(i) * n_ + j];
  }
  CAROM_INLINE double& lu(int i, int j) const { return at_.lu[static_cast<long>(i) * n_ + j]; }
  CAROM_INLINE void copy(const double* from, double* to) const {
    for (int i = 0; i < n_; ++i) to[i] = from[i];
  }
  CAROM_INLINE void add(const double* from, double* to) const {
    for (int i = 0; i < n_; ++i) to[i] += from[i];
  }

  /// With the scaled matrix's factors.
  CAROM_HOST_DEVICE void eliminate(double* x) const {
    for (int k = 0; k < n_; ++k) {
      const double kept = x[k];
      x[k] = x[pivots_[k]];
      x[pivots_[k]] = kept;
    }
    for (int i = 1; i < n_; ++i) {
      double sum = x[i];
      for (int j = 0; j < i; ++j) sum = sum - lu(i, j) * x[j];
      x[i] = sum;
    }
    for (int i = n_ - 1; i >= 0; --i) {
      double sum = x[i];
      for (int j = i + 1; j < n_; ++j) sum = sum - lu(i, j) * x[j];
      x[i] = sum * lu(i, i);
    }
  }
  CAROM_HOST_DEVICE void eliminate_transposed(double* x) const {
    for (int i = 0; i < n_; ++i) {
      x[i] *= lu(i, i);
      for (int j = i + 1; j < n_; ++j) x[j] = x[j] - lu(i, j) * x[i];
    }
    for (int i = n_ - 1; i > 0; --i) {
      for (int j = 0; j < i; ++j) x[j] = x[j] - lu(i, j) * x[i];
    }
    for (int k = n_ - 1; k >= 0; --k) {
      const double kept = x[k];
      x[k] = x[pivots_[k]];
      x[pivots_[k]] = kept;
    }
  }
  CAROM_INLINE void scaled_solve(double* x) const {
    for (int i = 0; i < n_; ++i) x[i] *= at_.row_scale[i];
    eliminate(x);
    for (int i = 0; i < n_; ++i) x[i] *= at_.column_scale[i];
  }
  CAROM_INLINE void scaled_solve_transposed(double* x) const {
    for (int i = 0; i < n_; ++i) x[i] *= at_.column_scale[i];
    eliminate_transposed(x);
    for (int i = 0; i < n_; ++i) x[i] *= at_.row_scale[i];
  }

  FactorsLayout<double*> at_;
  int* pivots_;
  int n_ = 0;
  double norm_ = 0.0;
  int sign_ = 1;
};

}  // namespace carom::derivatives
