#pragma once

#include <carom/device/numeric.hpp>

/// Dense least squares of any rank, for one lane.
namespace carom::kernels {

/// |A x - b| by Householder's reflections with column pivoting; unknowns that the columns before
/// explain are zero. A column is explained below `dependent` of its size, of `least` where that is
/// larger.
template <class Real>
struct LeastSquares {
  int rows, columns;
  Real* table;   ///< [rows, columns + 1], b last, overwritten
  int* order;    ///< [columns]: column c is then that of unknown order[c]
  double* size;  ///< [columns], squared
  Real* head;    ///< [columns]: of the reflections, whose rest is below the diagonal
  int rank = 0;

  /// Of A, and b with it. x: [columns], room for sums.
  CAROM_CALL void reflect(double dependent, double least, Real* x) {
    // Row by row: sums of many columns at once do not wait for one another.
    const auto find_sizes = [&] {
      for (int c = rank; c < columns; ++c) x[c] = Real(0.0);
      for (int i = rank; i < rows; ++i) {
        const Real* const entry = row(i);
        for (int c = rank; c < columns; ++c) {
          const auto value = static_cast<double>(entry[c]);
          x[c] = Real(static_cast<double>(x[c]) + value * value);
        }
      }
    };
    rank = 0;
    find_sizes();
    for (int c = 0; c < columns; ++c) {
      order[c] = c;
      size[c] = larger(static_cast<double>(x[c]), least * least);
    }
    for (; rank < rows && rank < columns; ++rank) {
      // Sizes relative to each column's own: units do not choose the pivot.
      int place = -1;
      double best = dependent * dependent;
      double norm = 0.0;
      if (rank > 0) find_sizes();
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
      first = head[rank] = first - length;
      Real* const dot = x - 1;  // of the columns after this one
      for (int c = rank + 1; c <= columns; ++c) dot[c] = Real(0.0);
      for (int i = rank; i < rows; ++i) {
        const Real* const entry = row(i);
        const Real own = entry[rank];
        if (static_cast<double>(own) == 0.0) continue;
        for (int c = rank + 1; c <= columns; ++c) dot[c] += own * entry[c];
      }
      const Real scale = Real(-1.0) / (length * head[rank]);
      for (int c = rank + 1; c <= columns; ++c) dot[c] = dot[c] * scale;
      for (int i = rank; i < rows; ++i) {
        Real* const entry = row(i);
        const Real own = entry[rank];
        if (static_cast<double>(own) == 0.0) continue;
        for (int c = rank + 1; c <= columns; ++c) entry[c] -= dot[c] * own;
      }
      first = length;
    }
  }

  /// Another b, in its place in the table.
  CAROM_CALL void reflect_side() const {
    for (int k = 0; k < rank; ++k) {
      const auto own = [&](int i) { return i == k ? head[k] : row(i)[k]; };
      Real dot(0.0);
      for (int i = k; i < rows; ++i) dot += own(i) * row(i)[columns];
      dot = dot * (Real(-1.0) / (row(k)[k] * head[k]));
      for (int i = k; i < rows; ++i) row(i)[columns] -= dot * own(i);
    }
  }

  CAROM_CALL void solve(Real* x) const {
    for (int c = 0; c < columns; ++c) x[c] = Real(0.0);
    for (int k = rank - 1; k >= 0; --k) {
      Real sum = row(k)[columns];
      for (int c = k + 1; c < rank; ++c) sum -= row(k)[c] * x[order[c]];
      x[order[k]] = sum / row(k)[k];
    }
  }

  [[nodiscard]] CAROM_INLINE Real* row(int i) const {
    return table + static_cast<long>(i) * (columns + 1);
  }
};

}  // namespace carom::kernels
