#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/qp_problem.hpp>

namespace carom::kernels {

/// A problem's numbers as ConvexLemke reads them.
template <class Data>
struct QpLemkeSource {
  const QpShape& shape;
  const QpView<Data>& view;
  CAROM_INLINE int variables() const { return shape.variables; }
  CAROM_INLINE int rows() const { return shape.rows; }
  CAROM_INLINE double hessian(int i, int j) const {
    const long n = shape.variables;
    return j <= i ? view.hessian[i * n + j] : view.hessian[j * n + i];
  }
  CAROM_INLINE double gradient(int j) const { return view.gradient[j]; }
  /// Rows hold numbers in their own columns only.
  CAROM_INLINE double matrix(int i, int j) const {
    const int first = shape.row_first[i];
    const int last = shape.row_first[i + 1];
    const long n = shape.variables;
    if (last - first == n) return view.matrix[i * n + j];
    for (int t = first; t < last; ++t) {
      if (shape.column[t] == j) return view.matrix[i * n + j];
    }
    return 0.0;
  }
  CAROM_INLINE double lower(int i) const { return view.lower[i]; }
  CAROM_INLINE double upper(int i) const { return view.upper[i]; }
  CAROM_INLINE double column_lower(int) const { return -kInfinity; }
  CAROM_INLINE double column_upper(int) const { return kInfinity; }
};

}  // namespace carom::kernels
