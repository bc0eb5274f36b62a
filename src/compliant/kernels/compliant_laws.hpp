#pragma once

#include <carom/device/constraint_rows.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Compliant unilateral and frictional rows: F(p) = W p + u [m/s], W symmetric positive definite.
/// Rows in order, a contact's tangents behind its normal. W's half-bandwidth bounds every loop.
struct ContactSystem {
  int rows = 0;
  int stride = 0;
  int bandwidth = 0;  ///< W_ij = 0 where |i - j| exceeds it
  const double* matrix = nullptr;
  const double* vector = nullptr;
  const RowType* type = nullptr;
  const double* friction = nullptr;
  int tangents = 1;  ///< of a normal row: 1 planar, 2 spatial

  CAROM_INLINE int first(int i) const { return i > bandwidth ? i - bandwidth : 0; }
  CAROM_INLINE int last(int i) const { return i + bandwidth + 1 < rows ? i + bandwidth + 1 : rows; }
  CAROM_INLINE const double* row(int i) const { return matrix + static_cast<long>(i) * stride; }
  /// W_i x.
  CAROM_INLINE double times(int i, const double* x, double sum) const {
    const double* from = row(i);
    for (int j = first(i); j < last(i); ++j) sum = fused(from[j], x[j], sum);
    return sum;
  }
  CAROM_INLINE double flow(int i, const double* p) const { return times(i, p, vector[i]); }
  CAROM_INLINE int tangents_of(int i) const { return type[i] == RowType::normal ? tangents : 0; }
};

CAROM_INLINE double tangent_length(const double* t, int count) {
  if (count == 1) return magnitude(t[0]);
  return square_root(fused(t[0], t[0], t[1] * t[1]));
}

CAROM_INLINE void exchange(double& a, double& b) {
  const double held = a;
  a = b;
  b = held;
}

}  // namespace carom::kernels
