#pragma once

#include <carom/device/qp_problem.hpp>

/// L D L' of a symmetric matrix, for single problems and packs of them.
namespace carom::kernels {

namespace detail {

/// Columns J.. of factor_symmetric with N columns known in advance: one column at a time stays in
/// registers. The operations on each entry and their order are the same.
template <class V, int N, int J, class Memory>
CAROM_INLINE void factor_columns(const Memory& matrix, const Memory& inverse, V smallest,
                                 V& least) {
  if constexpr (J < N) {
    V column[N - J];
    for (int i = J; i < N; ++i) column[i - J] = matrix[J * N + i];
    for (int k = 0; k < J; ++k) {
      const V factor = -(matrix[k * N + J] * inverse[k]);
      for (int i = J; i < N; ++i) {
        column[i - J] = fused(factor, matrix[k * N + i], column[i - J]);
      }
    }
    for (int i = J; i < N; ++i) matrix[J * N + i] = column[i - J];
    const V pivot = column[0];
    least = select(pivot >= least, least, pivot);
    inverse[J] = select(pivot > smallest, V(1.0) / pivot, V(0.0));
    factor_columns<V, N, J + 1>(matrix, inverse, smallest, least);
  }
}

template <class V, int N, int K, class Memory>
CAROM_INLINE void solve_lower(const Memory& matrix, const Memory& inverse, V* x) {
  if constexpr (K < N) {
    const V value = x[K] * inverse[K];
    x[K] = value;
    for (int i = K + 1; i < N; ++i) x[i] = fused(-value, matrix[K * N + i], x[i]);
    solve_lower<V, N, K + 1>(matrix, inverse, x);
  }
}

template <class V, int N, int K, class Memory>
CAROM_INLINE void solve_upper(const Memory& matrix, const Memory& inverse, V* x) {
  if constexpr (K >= 0) {
    V sum[4] = {V(0.0), V(0.0), V(0.0), V(0.0)};
    constexpr int kFours = (N - K - 1) / 4 * 4;
    for (int t = 0; t < N - K - 1; ++t) {
      V& part = sum[t < kFours ? t % 4 : 0];
      part = fused(matrix[K * N + K + 1 + t], x[K + 1 + t], part);
    }
    x[K] = fused(-inverse[K], (sum[0] + sum[1]) + (sum[2] + sum[3]), x[K]);
    solve_upper<V, N, K - 1>(matrix, inverse, x);
  }
}

}  // namespace detail

/// Column-major lower half [n, n] in place: below the diagonal stands L D, on it D. inverse: [n],
/// 1/D. A pivot that is not above `smallest` gets the inverse 0: its unknown stays at zero.
/// Returns the smallest pivot. N: n where it is known in advance and one lane does it all, or 0.
template <class V, int N = 0, class Lanes, class Memory>
CAROM_CALL V factor_symmetric(const Lanes& lanes, int n, Memory matrix, Memory inverse,
                              V smallest) {
  V least(kInfinity);
  if constexpr (N > 0) {
    detail::factor_columns<V, N, 0>(matrix, inverse, smallest, least);
    return least;
  }
  const auto column_of = [&](int k) { return matrix + static_cast<long>(k) * n; };
  const auto take_pivot = [&](int k) {
    const V pivot = column_of(k)[k];
    least = select(pivot >= least, least, pivot);  // keeps a NaN out of `least` only if it is first
    const V reciprocal = select(pivot > smallest, V(1.0) / pivot, V(0.0));
    lanes.for_each(1, [&](int) { inverse[k] = reciprocal; });
  };
  int k = 0;
  // Four columns at a time: each entry after them is loaded and stored once for the four, and sees
  // the same operations in the same order.
  for (; k + 4 < n; k += 4) {
    for (int p = k; p < k + 4; ++p) {
      take_pivot(p);
      const Memory column = column_of(p);
      for (int j = p + 1; j < k + 4; ++j) {
        const Memory target = column_of(j);
        const V factor = -(column[j] * inverse[p]);
        lanes.for_each(n - j,
                       [&](int t) { target[j + t] = fused(factor, column[j + t], target[j + t]); });
      }
    }
    const Memory a = column_of(k);
    const Memory b = column_of(k + 1);
    const Memory c = column_of(k + 2);
    const Memory d = column_of(k + 3);
    lanes.for_each(n - k - 4, [&](int offset) {
      const int j = k + 4 + offset;
      const Memory target = column_of(j);
      const V by_a = -(a[j] * inverse[k]);
      const V by_b = -(b[j] * inverse[k + 1]);
      const V by_c = -(c[j] * inverse[k + 2]);
      const V by_d = -(d[j] * inverse[k + 3]);
      for (int i = j; i < n; ++i) {
        target[i] =
            fused(by_d, d[i], fused(by_c, c[i], fused(by_b, b[i], fused(by_a, a[i], target[i]))));
      }
    });
  }
  for (; k < n; ++k) {
    take_pivot(k);
    const Memory column = column_of(k);
    for (int j = k + 1; j < n; ++j) {
      const Memory target = column_of(j);
      const V factor = -(column[j] * inverse[k]);
      lanes.for_each(n - j,
                     [&](int t) { target[j + t] = fused(factor, column[j + t], target[j + t]); });
    }
  }
  return least;
}

/// Solves L D L' x = x in place.
template <class V, int N = 0, class Lanes, class Memory>
CAROM_CALL void solve_symmetric(const Lanes& lanes, int n, Memory matrix, Memory inverse,
                                Memory x) {
  if constexpr (N > 0) {
    V local[N];
    for (int j = 0; j < N; ++j) local[j] = x[j];
    detail::solve_lower<V, N, 0>(matrix, inverse, local);
    detail::solve_upper<V, N, N - 2>(matrix, inverse, local);
    for (int j = 0; j < N; ++j) x[j] = local[j];
    return;
  }
  for (int k = 0; k < n; ++k) {
    const Memory column = matrix + static_cast<long>(k) * n;
    const V value = x[k] * inverse[k];
    lanes.for_each(n - k, [&](int offset) {
      const int i = k + offset;
      x[i] = offset == 0 ? value : fused(-value, column[i], x[i]);
    });
  }
  for (int k = n - 2; k >= 0; --k) {
    const Memory column = matrix + static_cast<long>(k) * n;
    // Four sums, so that their products do not wait for one another.
    V a(0.0);
    V b(0.0);
    V c(0.0);
    V d(0.0);
    int i = k + 1;
    for (; i + 3 < n; i += 4) {
      a = fused(column[i], x[i], a);
      b = fused(column[i + 1], x[i + 1], b);
      c = fused(column[i + 2], x[i + 2], c);
      d = fused(column[i + 3], x[i + 3], d);
    }
    for (; i < n; ++i) a = fused(column[i], x[i], a);
    const V value = fused(-inverse[k], (a + b) + (c + d), x[k]);
    lanes.for_each(1, [&](int) { x[k] = value; });
  }
}

}  // namespace carom::kernels
