#pragma once

#include <carom/device/numeric.hpp>

/// Dense least squares of any rank, for one lane.
namespace carom::kernels {

/// Least squares |A x - b| by Householder's reflections with column pivoting; unknowns that the
/// columns before explain are zero. table: [rows, columns + 1], b last, overwritten.
/// A column is explained below `dependent` of its size, of `least` where that is larger. order, x:
/// [columns]; size: [columns].
template <class Real>
CAROM_CALL int least_squares(int rows, int columns, double dependent, double least, Real* table,
                             int* order, double* size, Real* x) {
  const int stride = columns + 1;
  const auto entry = [&](int i, int j) -> Real& {
    return table[static_cast<long>(i) * stride + j];
  };
  const auto column_size = [&](int j, int from) {
    double sum = 0.0;
    for (int i = from; i < rows; ++i) {
      const auto value = static_cast<double>(entry(i, j));
      sum += value * value;
    }
    return sum;
  };
  for (int j = 0; j < columns; ++j) {
    order[j] = j;
    size[j] = larger(column_size(j, 0), least * least);
    x[j] = Real(0.0);
  }
  int rank = 0;
  for (; rank < rows && rank < columns; ++rank) {
    // Sizes relative to each column's own: units do not choose the pivot.
    int place = -1;
    double best = dependent * dependent;
    double norm = 0.0;
    for (int c = rank; c < columns; ++c) {
      const double rest = column_size(order[c], rank);
      if (size[order[c]] > 0.0 && rest / size[order[c]] > best) {
        best = rest / size[order[c]];
        norm = rest;
        place = c;
      }
    }
    if (place < 0 || !(norm > 0.0)) break;
    const int column = order[place];
    order[place] = order[rank];
    order[rank] = column;
    Real length(0.0);
    for (int i = rank; i < rows; ++i) length += entry(i, column) * entry(i, column);
    length = square_root(length);
    if (entry(rank, column) > Real(0.0)) length = -length;
    // v = a - length e, v'v = 2 length (length - a_0)
    const Real head = entry(rank, column) - length;
    const Real scale = Real(-1.0) / (length * head);
    entry(rank, column) = head;
    for (int c = rank + 1; c <= columns; ++c) {
      const int j = c < columns ? order[c] : columns;
      Real dot(0.0);
      for (int i = rank; i < rows; ++i) dot += entry(i, column) * entry(i, j);
      dot = dot * scale;
      for (int i = rank; i < rows; ++i) entry(i, j) -= dot * entry(i, column);
    }
    entry(rank, column) = length;
  }
  for (int k = rank - 1; k >= 0; --k) {
    Real sum = entry(k, columns);
    for (int c = k + 1; c < rank; ++c) sum -= entry(k, order[c]) * x[order[c]];
    x[order[k]] = sum / entry(k, order[k]);
  }
  return rank;
}

}  // namespace carom::kernels
