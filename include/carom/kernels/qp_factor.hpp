#pragma once

#include <carom/kernels/qp_problem.hpp>

/// L D L' of a symmetric matrix, for single problems and packs of them.
namespace carom::kernels {

/// Column-major lower half [n, n] in place: below the diagonal stands L D, on it D. inverse: [n],
/// 1/D. A pivot that is not above `smallest` gets the inverse 0: its unknown stays at zero.
/// Returns the smallest pivot.
template <class V, class Lanes, class Memory>
CAROM_HOST_DEVICE V factor_symmetric(const Lanes& lanes, int n, Memory matrix, Memory inverse,
                                     V smallest) {
  V least(kInfinity);
  for (int k = 0; k < n; ++k) {
    const Memory column = matrix + static_cast<long>(k) * n;
    const V pivot = column[k];
    least = select(pivot >= least, least, pivot);  // keeps a NaN out of `least` only if it is first
    const V reciprocal = select(pivot > smallest, V(1.0) / pivot, V(0.0));
    lanes.for_each(n - k - 1, [&](int offset) {
      const int j = k + 1 + offset;
      const Memory target = matrix + static_cast<long>(j) * n;
      const V factor = -(column[j] * reciprocal);
      for (int i = j; i < n; ++i) target[i] = fused(factor, column[i], target[i]);
    });
    lanes.for_each(1, [&](int) { inverse[k] = reciprocal; });
  }
  return least;
}

/// Solves L D L' x = x in place.
template <class V, class Lanes, class Memory>
CAROM_HOST_DEVICE void solve_symmetric(const Lanes& lanes, int n, Memory matrix, Memory inverse,
                                       Memory x) {
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
