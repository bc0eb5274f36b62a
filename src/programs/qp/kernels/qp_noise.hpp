#pragma once

#include <carom/device/qp_problem.hpp>

namespace carom::kernels {

/// Sets entries to zero that are rounding errors: x_j that is negligible in every row that contains
/// it, if the equations can still be met, and y_i that then balance nothing.
/// share: of a row's and of a column's terms. Returns whether anything changed. work: [rows + n].
template <class Lanes, class Data, class Memory>
CAROM_CALL bool drop_hidden(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                            double share, const Memory& x, const Memory& y, const Memory& work) {
  const int n = shape.variables;
  const int rows = shape.rows;
  const Memory row_size = work;
  const Memory column_size = work + rows;
  const auto entry = [&](int i, int j) {
    return magnitude(view.matrix[static_cast<long>(i) * n + j]);
  };
  const auto for_row = [&](int i, auto&& f) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) f(shape.column[t]);
  };
  lanes.for_each(rows, [&](int i) {
    double size = 0.0;
    for_row(i, [&](int j) { size = fused(entry(i, j), magnitude(x[j]), size); });
    row_size[i] = size;
  });
  // 0: in no row; 1: hidden in all that have it; 2: seen
  lanes.for_each(n, [&](int j) { column_size[j] = 0.0; });
  for (int i = 0; i < rows; ++i) {
    const double hidden = share * row_size[i];
    for_row(i, [&](int j) {
      const double term = entry(i, j) * magnitude(x[j]);
      const double seen = term > hidden ? 2.0 : term > 0.0 ? 1.0 : 0.0;
      lanes.for_each(1, [&](int) { column_size[j] = larger(seen, column_size[j]); });
    });
  }
  double dropped = 0.0;
  for (int j = 0; j < n; ++j) {
    if (column_size[j] != 1.0) continue;
    dropped += 1.0;
    lanes.for_each(1, [&](int) { x[j] = 0.0; });
  }
  lanes.for_each(n, [&](int j) {
    double size = magnitude(view.gradient[j]);
    for (int k = 0; k < n; ++k) {
      const double curvature =
          view.hessian[k <= j ? static_cast<long>(j) * n + k : static_cast<long>(k) * n + j];
      size = fused(magnitude(curvature), magnitude(x[k]), size);
    }
    column_size[j] = size;
  });
  for (int i = 0; i < rows; ++i) {
    if (!(y[i] != 0.0)) continue;
    bool balances = false;
    for_row(i, [&](int j) {
      const double size = column_size[j];
      balances = balances || (size > 0.0 && entry(i, j) * magnitude(y[i]) > share * size);
    });
    if (balances) continue;
    dropped += 1.0;
    lanes.for_each(1, [&](int) { y[i] = 0.0; });
  }
  return dropped > 0.0;
}

}  // namespace carom::kernels
