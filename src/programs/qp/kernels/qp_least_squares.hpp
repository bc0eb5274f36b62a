#pragma once

#include <carom/device/numeric.hpp>

/// Dense least squares of any rank, for one lane.
namespace carom::kernels {

/// Least squares |A x - b| by Householder's reflections with column pivoting; unknowns that the
/// columns before explain are zero. table: [rows, columns + 1], b last, overwritten: column c is
/// then that of unknown order[c]. A column is explained below `dependent` of its size, of `least`
/// where that is larger. order, size, x: [columns].
template <class Real>
CAROM_CALL int least_squares(int rows, int columns, double dependent, double least, Real* table,
                             int* order, double* size, Real* x) {
  const auto row = [&](int i) { return table + static_cast<long>(i) * (columns + 1); };
  // Row by row: sums of many columns at once do not wait for one another.
  const auto find_sizes = [&](int rank) {
    for (int c = rank; c < columns; ++c) x[c] = Real(0.0);
    for (int i = rank; i < rows; ++i) {
      const Real* const entry = row(i);
      for (int c = rank; c < columns; ++c) {
        const auto value = static_cast<double>(entry[c]);
        x[c] = Real(static_cast<double>(x[c]) + value * value);
      }
    }
  };
  find_sizes(0);
  for (int c = 0; c < columns; ++c) {
    order[c] = c;
    size[c] = larger(static_cast<double>(x[c]), least * least);
  }
  int rank = 0;
  for (; rank < rows && rank < columns; ++rank) {
    // Sizes relative to each column's own: units do not choose the pivot.
    int place = -1;
    double best = dependent * dependent;
    double norm = 0.0;
    if (rank > 0) find_sizes(rank);
    for (int c = rank; c < columns; ++c) {
      const auto rest = static_cast<double>(x[c]);
      if (size[c] > 0.0 && rest / size[c] > best) {
        best = rest / size[c];
        norm = rest;
        place = c;
      }
    }
    if (place < 0 || !(norm > 0.0)) break;
    if (place != rank) {
      const auto exchange = [&](auto* values) {
        const auto value = values[place];
        values[place] = values[rank];
        values[rank] = value;
      };
      exchange(order);
      exchange(size);
      for (int i = 0; i < rows; ++i) exchange(row(i));
    }
    Real length(0.0);
    for (int i = rank; i < rows; ++i) length += row(i)[rank] * row(i)[rank];
    length = square_root(length);
    Real& first = row(rank)[rank];
    if (first > Real(0.0)) length = -length;
    // v = a - length e, v'v = 2 length (length - a_0)
    const Real head = first - length;
    const Real scale = Real(-1.0) / (length * head);
    first = head;
    Real* const dot = x - 1;  // of the columns after this one
    for (int c = rank + 1; c <= columns; ++c) dot[c] = Real(0.0);
    for (int i = rank; i < rows; ++i) {
      const Real* const entry = row(i);
      const Real own = entry[rank];
      for (int c = rank + 1; c <= columns; ++c) dot[c] += own * entry[c];
    }
    for (int c = rank + 1; c <= columns; ++c) dot[c] = dot[c] * scale;
    for (int i = rank; i < rows; ++i) {
      Real* const entry = row(i);
      const Real own = entry[rank];
      for (int c = rank + 1; c <= columns; ++c) entry[c] -= dot[c] * own;
    }
    first = length;
  }
  for (int c = 0; c < columns; ++c) x[c] = Real(0.0);
  for (int k = rank - 1; k >= 0; --k) {
    Real sum = row(k)[columns];
    for (int c = k + 1; c < rank; ++c) sum -= row(k)[c] * x[order[c]];
    x[order[k]] = sum / row(k)[k];
  }
  return rank;
}

}  // namespace carom::kernels
