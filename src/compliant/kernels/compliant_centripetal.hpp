#pragma once

#include <carom/device/constraint_rows.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Minverse-weighted product of two rows, over the columns that both have.
CAROM_INLINE double delassus_entry(const ConstraintRows& rows, const double* inverse_mass, int a,
                                   int b) {
  const int low = rows.begin[a] > rows.begin[b] ? rows.begin[a] : rows.begin[b];
  const int high = rows.end[a] < rows.end[b] ? rows.end[a] : rows.end[b];
  const double* x = rows.row(a);
  const double* y = rows.row(b);
  double sum = 0.0;
  for (int j = low; j < high; ++j) sum = fused(x[j] * inverse_mass[j], y[j], sum);
  return sum;
}

/// Least pivot of an independent row, relative to its own diagonal entry.
inline constexpr double kIndependent = 1e-10;

/// The kinds of rows that the paper gives a matrix M^ each: b, u, n, r, s.
inline constexpr int kRowGroups = 5;
CAROM_INLINE int row_group(const RowType* type, int i) {
  switch (type[i]) {
    case RowType::bilateral:
      return 0;
    case RowType::unilateral:
      return 1;
    case RowType::normal:
      return 2;
    case RowType::tangent:
      return type[i - 1] == RowType::normal ? 3 : 4;
    default:
      return -1;
  }
}
CAROM_INLINE int row_group(const ConstraintRows& rows, int i) { return row_group(rows.type, i); }

/// The term M^ (dG/dt) v of (23) for every row, with M^ = (G_g M^-1 G_g')^-1 of its group g. Where
/// a group is redundant the inverse is taken on a largest independent set of its rows and the
/// others get zero. scratch: [rows^2], picked: [rows] indices; out: [rows].
CAROM_INLINE void centripetal_force(const ConstraintRows& rows, const double* inverse_mass,
                                    double* scratch, int* picked, double* out) {
  for (int i = 0; i < rows.count; ++i) out[i] = 0.0;
  for (int group = 0; group < kRowGroups; ++group) {
    bool moves = false;
    for (int i = 0; i < rows.count; ++i) {
      moves = moves || (row_group(rows, i) == group && rows.jacobian_dot_v[i] != 0.0);
    }
    if (!moves) continue;
    // Cholesky row by row; a row whose pivot vanishes depends on those before it.
    int count = 0;
    for (int i = 0; i < rows.count; ++i) {
      if (row_group(rows, i) != group) continue;
      if (count == rows.velocities) break;  // whatever a pivot of rounding errors says
      double* lower = scratch + static_cast<long>(count) * rows.count;
      const double diagonal = delassus_entry(rows, inverse_mass, i, i);
      double pivot = diagonal;
      double value = rows.jacobian_dot_v[i];
      for (int k = 0; k < count; ++k) {
        const double* earlier = scratch + static_cast<long>(k) * rows.count;
        double sum = delassus_entry(rows, inverse_mass, i, picked[k]);
        for (int j = 0; j < k; ++j) sum = fused(-lower[j], earlier[j], sum);
        lower[k] = sum / earlier[k];
        pivot = fused(-lower[k], lower[k], pivot);
        value = fused(-lower[k], out[picked[k]], value);
      }
      if (!(pivot > kIndependent * diagonal)) continue;
      lower[count] = square_root(pivot);
      out[i] = value / lower[count];
      picked[count++] = i;
    }
    for (int k = count - 1; k >= 0; --k) {
      double sum = out[picked[k]];
      for (int j = k + 1; j < count; ++j) {
        sum = fused(-scratch[static_cast<long>(j) * rows.count + k], out[picked[j]], sum);
      }
      out[picked[k]] = sum / scratch[static_cast<long>(k) * rows.count + k];
    }
  }
}

}  // namespace carom::kernels
