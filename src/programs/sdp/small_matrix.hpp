#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

/// Dense symmetric matrices of up to some tens of rows, by rows.
namespace carom::small {

/// Of element (i, j) in a matrix of n columns.
inline std::size_t place(int n, int i, int j) {
  return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
}

/// As cholesky(), row after row of L' in l's place: the same numbers, in registers.
template <class Real>
bool cholesky_by_rows(int n, const Real* a, Real* l) {
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) l[i * n + j] = a[j * n + i];
  }
  for (int k = 0; k < n; ++k) {
    Real* row = l + k * n;
    if (!(row[k] > 0.0)) return false;
    const Real root = std::sqrt(row[k]);
    row[k] = root;
    for (int j = k + 1; j < n; ++j) row[j] /= root;
    for (int i = k + 1; i < n; ++i) {
      const Real factor = row[i];
      Real* to = l + i * n;
      for (int j = i; j < n; ++j) to[j] -= factor * row[j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) l[j * n + i] = l[i * n + j], l[i * n + j] = 0.0;
  }
  return true;
}

inline constexpr int kLeastByRows = 12;

/// L of a = L L', in l; false unless a is positive definite.
template <class Real>
bool cholesky(int n, const Real* a, Real* l) {
  if (n >= kLeastByRows) return cholesky_by_rows(n, a, l);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      Real sum = a[i * n + j];
      for (int k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      if (i == j) {
        if (!(sum > 0.0)) return false;
        l[i * n + i] = std::sqrt(sum);
      } else {
        l[i * n + j] = sum / l[j * n + j];
      }
    }
    for (int j = i + 1; j < n; ++j) l[i * n + j] = 0.0;
  }
  return true;
}

/// x of L L' x = b, in b.
template <class Real>
void solve_cholesky(int n, const Real* l, Real* b) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
}

/// L^-1, lower, of a lower L.
template <class Real>
void invert_lower(int n, const Real* l, Real* inverse) {
  for (int i = 0; i < n * n; ++i) inverse[i] = 0.0;
  for (int j = 0; j < n; ++j) {
    inverse[j * n + j] = 1.0 / l[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      Real sum = 0.0;
      for (int k = j; k < i; ++k) sum -= l[i * n + k] * inverse[k * n + j];
      inverse[i * n + j] = sum / l[i * n + i];
    }
  }
}

/// c = a b.
template <class A, class B, class Real>
void multiply(int n, const A* a, const B* b, Real* c) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0.0;
    for (int k = 0; k < n; ++k) {
      const A value = a[i * n + k];
      if (value == 0.0) continue;
      for (int j = 0; j < n; ++j) c[i * n + j] += value * b[k * n + j];
    }
  }
}

inline constexpr int kMostRotated = 4;  ///< rows up to which Jacobi's rotations are as fast

/// Least eigenvalue of n > 1 rows: Householder's reflections to three diagonals, then halving by
/// the number of negative pivots. a is overwritten; its diagonal and the one below are left.
template <class Real>
Real least_by_bisection(int n, Real* a) {
  Real size = 0.0;
  for (int k = 0; k + 2 < n; ++k) {
    Real below = 0.0;
    for (int i = k + 2; i < n; ++i) below += a[i * n + k] * a[i * n + k];
    if (below == 0.0) continue;
    const Real head = a[(k + 1) * n + k];
    const Real length = std::copysign(std::sqrt(head * head + below), head);
    // v = column + length e in place, H = 1 - v v' / (length v_0)
    a[(k + 1) * n + k] = head + length;
    const Real scale = 1.0 / (length * (head + length));
    Real* w = a + k * n;  // the row above is not needed any more
    Real along = 0.0;
    for (int i = k + 1; i < n; ++i) {
      Real sum = 0.0;
      for (int j = k + 1; j <= i; ++j) sum += a[i * n + j] * a[j * n + k];
      for (int j = i + 1; j < n; ++j) sum += a[j * n + i] * a[j * n + k];
      w[i] = scale * sum;
      along += w[i] * a[i * n + k];
    }
    for (int i = k + 1; i < n; ++i) w[i] -= 0.5 * scale * along * a[i * n + k];
    for (int i = k + 1; i < n; ++i) {
      const Real vi = a[i * n + k], wi = w[i];
      for (int j = k + 1; j <= i; ++j) a[i * n + j] -= vi * w[j] + wi * a[j * n + k];
    }
    a[(k + 1) * n + k] = -length;
  }
  Real low = a[0], high = a[0];
  for (int i = 0; i < n; ++i) {
    const Real above = i > 0 ? std::fabs(a[i * n + i - 1]) : 0.0;
    const Real next = i + 1 < n ? std::fabs(a[(i + 1) * n + i]) : 0.0;
    const Real d = a[i * n + i];
    low = std::fmin(low, d - above - next);
    high = std::fmin(high, d);  // no eigenvalue is larger than all of the diagonal
    size = std::fmax(size, std::fabs(d) + above + next);
  }
  const Real tiny = 1e-300 + 1e-32 * size;
  while (high - low > 1e-16 * size) {
    const Real x = 0.5 * (low + high);
    if (!(x > low && x < high)) break;
    bool below = false;
    Real pivot = a[0] - x;
    for (int i = 0;;) {
      below = pivot < 0.0;
      if (below || ++i == n) break;
      const Real e = a[i * n + i - 1];
      pivot = a[i * n + i] - x - e * e / std::fmax(pivot, tiny);
    }
    (below ? high : low) = x;
  }
  return low;
}

/// Least eigenvalue; a is overwritten.
template <class Real>
Real least_eigenvalue(int n, Real* a) {
  if (n == 1) return a[0];
  if (n > kMostRotated) return least_by_bisection(n, a);
  if (n == 2) {
    const Real half = 0.5 * (a[0] - a[3]);
    return 0.5 * (a[0] + a[3]) - std::sqrt(half * half + a[1] * a[1]);
  }
  for (int sweep = 0; sweep < 40; ++sweep) {
    Real off = 0.0, all = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        all += a[i * n + j] * a[i * n + j];
        if (i != j) off += a[i * n + j] * a[i * n + j];
      }
    }
    if (!(off > 1e-30 * all)) break;
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        const Real apq = a[p * n + q];
        if (apq == 0.0) continue;
        const Real theta = 0.5 * (a[q * n + q] - a[p * n + p]) / apq;
        const Real t =
            std::copysign(Real(1.0), theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1.0));
        const Real c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < n; ++k) {
          const Real x = a[k * n + p], y = a[k * n + q];
          a[k * n + p] = c * x - s * y;
          a[k * n + q] = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const Real x = a[p * n + k], y = a[q * n + k];
          a[p * n + k] = c * x - s * y;
          a[q * n + k] = s * x + c * y;
        }
      }
    }
  }
  Real least = a[0];
  for (int i = 1; i < n; ++i) least = a[i * n + i] < least ? a[i * n + i] : least;
  return least;
}

}  // namespace carom::small
