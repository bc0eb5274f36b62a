#pragma once

#include <carom/certificate_derivative.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// The doubtful rows of an answer: 0 <= t perp S t + s >= 0, where S is the Schur complement of the
/// rows that are held.
namespace carom::derivatives {

using certificate::absolute;

/// Largest number of doubtful rows whose principal minors are looked at one by one.
inline constexpr int kMostMinors = 12;
/// A pivot below this share of the terms that it came from counts as zero.
inline constexpr double kClearPivot = 1e-10;

/// Memory of the functions below for b rows.
CAROM_HOST_DEVICE constexpr long doubtful_workspace(long b) { return b * b + 3 * b + 700; }

/// Whether the symmetric part of S is positive definite: Cholesky's pivots against `size`, the
/// magnitudes that S_ii is a sum of. memory: [b, b] and [b].
CAROM_HOST_DEVICE inline bool symmetric_definite(int b, const double* s, const double* size,
                                                 double* memory) {
  double* a = memory;
  double* terms = memory + static_cast<long>(b) * b;
  for (int i = 0; i < b; ++i) {
    terms[i] = size[i];
    for (int j = 0; j < b; ++j) a[i * b + j] = 0.5 * (s[i * b + j] + s[j * b + i]);
  }
  for (int k = 0; k < b; ++k) {
    const double pivot = a[k * b + k];
    if (!(pivot > kClearPivot * terms[k])) return false;
    for (int i = k + 1; i < b; ++i) {
      const double factor = a[i * b + k] / pivot;
      for (int j = k + 1; j < b; ++j) a[i * b + j] -= factor * a[k * b + j];
      terms[i] += absolute(factor * a[k * b + i]);
    }
  }
  return true;
}

/// Whether all principal minors of S [b, b] are positive, by pivots: s_00 > 0, and the same of S
/// without row 0, and of the Schur complement of s_00. b at most kMostMinors. memory: what
/// doubtful_workspace has.
CAROM_HOST_DEVICE inline bool minors_positive(int b, const double* s, const double* size,
                                              double* memory) {
  if (b == 0) return true;
  const double pivot = s[0];
  if (!(pivot > kClearPivot * size[0])) return false;
  const int rest = b - 1;
  double* part = memory;
  double* terms = memory + rest * rest;
  for (int reduced = 0; reduced < 2; ++reduced) {
    for (int i = 0; i < rest; ++i) {
      const double factor = reduced != 0 ? s[(i + 1) * b] / pivot : 0.0;
      for (int j = 0; j < rest; ++j) {
        part[i * rest + j] = s[(i + 1) * b + j + 1] - factor * s[j + 1];
      }
      terms[i] = size[i + 1] + absolute(factor * s[i + 1]);
    }
    if (!minors_positive(rest, part, terms, terms + rest)) return false;
  }
  return true;
}

/// Whether S is shown to be a P-matrix, so that the rows have one answer for each s.
CAROM_HOST_DEVICE inline bool shown_unique(int b, const double* s, const double* size,
                                           double* memory) {
  return symmetric_definite(b, s, size, memory) ||
         (b <= kMostMinors && minors_positive(b, s, size, memory));
}

/// Gaussian elimination with partial pivoting of a [n, n], in place; false where singular.
CAROM_HOST_DEVICE inline bool eliminate(int n, double* a, double* x) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (absolute(a[i * n + k]) > absolute(a[best * n + k])) best = i;
    }
    if (!(absolute(a[best * n + k]) > 0.0)) return false;
    if (best != k) {
      for (int j = k; j < n; ++j) {
        const double kept = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = kept;
      }
      const double kept = x[k];
      x[k] = x[best];
      x[best] = kept;
    }
    for (int i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      x[i] -= factor * x[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return true;
}

/// d >= 0 with d_i = 1 and S d = 0, S [b, b] positive semidefinite: least squares over d >= 0 in
/// the norm of S, by an active set (Lawson and Hanson 1974, chapter 23). False where there is none.
/// in: [b] of flags; memory: [b, b] and [2 b].
CAROM_HOST_DEVICE inline bool vanishing_combination(int b, const double* s, int i, double* d,
                                                    int* in, double* memory) {
  double* a = memory;
  double* x = memory + static_cast<long>(b) * b;
  constexpr double kZero = 1e-10;
  for (int k = 0; k < b; ++k) {
    d[k] = k == i ? 1.0 : 0.0;
    in[k] = 0;
  }
  const auto slope = [&](int k, double& size) {
    double sum = 0.0;
    size = 0.0;
    for (int j = 0; j < b; ++j) {
      sum += s[k * b + j] * d[j];
      size += kernels::square_root(kernels::larger(s[k * b + k] * s[j * b + j], 0.0)) * d[j];
    }
    return sum;
  };
  for (int round = 0; round < 4 * b + 4; ++round) {
    bool zero = true;
    int best = -1;
    double most = 0.0;
    for (int k = 0; k < b; ++k) {
      double size = 0.0;
      const double sum = slope(k, size);
      if (absolute(sum) <= kZero * size) continue;
      zero = false;
      if (k == i || in[k] != 0 || !(s[k * b + k] > 0.0)) continue;
      const double gain = -sum / kernels::square_root(s[k * b + k]);
      if (gain > most) {
        most = gain;
        best = k;
      }
    }
    if (zero) return true;
    if (best < 0) return false;
    in[best] = 1;
    for (int inner = 0; inner <= b; ++inner) {
      int n = 0;
      int count = 0;
      for (int k = 0; k < b; ++k) count += in[k];
      for (int k = 0; k < b; ++k) {
        if (in[k] == 0) continue;
        int column = 0;
        for (int j = 0; j < b; ++j) {
          if (in[j] != 0) a[n * count + column++] = s[k * b + j];
        }
        x[n++] = -s[k * b + i];
      }
      if (!eliminate(n, a, x)) return false;
      double step = 1.0;
      for (int k = 0, place = 0; k < b; ++k) {
        if (in[k] == 0) continue;
        const double target = x[place++];
        if (target <= 0.0) step = kernels::smaller(step, d[k] / (d[k] - target));
      }
      bool left = false;
      for (int k = 0, place = 0; k < b; ++k) {
        if (in[k] == 0) continue;
        const double target = x[place++];
        d[k] += step * (target - d[k]);
        if (step < 1.0 && target <= 0.0 && d[k] <= 1e-14) {
          d[k] = 0.0;
          in[k] = 0;
          left = true;
        }
      }
      if (!left) break;
    }
  }
  return false;
}

/// The answer t of 0 <= t perp S t + s >= 0 for a P-matrix S by principal pivots, least index first
/// (Murty 1974), which end. basic: [b] of flags; memory: [b, b] and [2 b]. False where rounding
/// keeps it from an end.
CAROM_HOST_DEVICE inline bool solve_doubtful(int b, const double* s, const double* rhs, double* t,
                                             int* basic, double* memory) {
  double* a = memory;
  double* x = memory + static_cast<long>(b) * b;
  for (int i = 0; i < b; ++i) basic[i] = 0;
  double unit = 0.0;
  for (int i = 0; i < b; ++i) unit = kernels::larger(unit, absolute(rhs[i]));
  const long most = b <= kMostMinors ? 4L << b : 400L * b;
  for (long round = 0; round < most; ++round) {
    int n = 0;
    for (int i = 0; i < b; ++i) {
      if (basic[i] == 0) continue;
      int column = 0;
      int count = 0;
      for (int j = 0; j < b; ++j) count += basic[j];
      for (int j = 0; j < b; ++j) {
        if (basic[j] != 0) a[n * count + column++] = s[i * b + j];
      }
      x[n++] = -rhs[i];
    }
    if (!eliminate(n, a, x)) return false;
    for (int i = 0, k = 0; i < b; ++i) t[i] = basic[i] != 0 ? x[k++] : 0.0;
    int wrong = -1;
    for (int i = 0; i < b && wrong < 0; ++i) {
      if (basic[i] != 0) {
        if (t[i] < 0.0) wrong = i;
        continue;
      }
      double sum = rhs[i], size = absolute(rhs[i]);
      for (int j = 0; j < b; ++j) {
        sum += s[i * b + j] * t[j];
        size += absolute(s[i * b + j] * t[j]);
      }
      if (sum < -1e-14 * kernels::larger(size, 1e-2 * unit)) wrong = i;
    }
    if (wrong < 0) return true;
    basic[wrong] = 1 - basic[wrong];
  }
  return false;
}

/// Weight of what makes a semidefinite S definite; repetition takes its effect away again.
inline constexpr double kProximal = 1e-7;
inline constexpr int kProximalRounds = 4;

/// x with S x = t, S [b, b] positive semidefinite and t in its range: the proximal point's steps.
/// size: of S_ii; regular, memory: [b, b] each, and [2 b] behind the latter.
CAROM_HOST_DEVICE inline bool solve_semidefinite(int b, const double* s, const double* size,
                                                 const double* t, double* x, double* regular,
                                                 double* memory) {
  double* step = memory + static_cast<long>(b) * b;
  for (int i = 0; i < b; ++i) x[i] = 0.0;
  for (int round = 0; round < kProximalRounds; ++round) {
    for (int i = 0; i < b; ++i) {
      double sum = t[i];
      for (int j = 0; j < b; ++j) {
        regular[i * b + j] = s[i * b + j] + (i == j ? kProximal * size[i] : 0.0);
        sum -= s[i * b + j] * x[j];
      }
      step[i] = sum;
    }
    if (!eliminate(b, regular, step)) return false;
    for (int i = 0; i < b; ++i) x[i] += step[i];
  }
  return true;
}

/// As solve_doubtful for a positive semidefinite S, whose S t is unique where t is not.
CAROM_HOST_DEVICE inline bool solve_semidefinite_doubtful(int b, const double* s,
                                                          const double* size, const double* rhs,
                                                          double* t, int* basic, double* regular,
                                                          double* near, double* memory) {
  for (int i = 0; i < b; ++i) t[i] = 0.0;
  for (int i = 0; i < b * b; ++i) regular[i] = s[i];
  for (int i = 0; i < b; ++i) regular[i * b + i] += kProximal * size[i];
  for (int round = 0; round < kProximalRounds; ++round) {
    for (int i = 0; i < b; ++i) near[i] = rhs[i] - kProximal * size[i] * t[i];
    if (!solve_doubtful(b, regular, near, t, basic, memory)) return false;
  }
  return true;
}

}  // namespace carom::derivatives
