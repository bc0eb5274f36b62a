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
/// Of a row that is the sum of x_k times earlier rows (of length one) rounding leaves a pivot of
/// some 1e-16 |x|^2 in place of zero.
inline constexpr double kPivotRounding = 1e-14;
/// |x_k|^2 is at most the inverse of the product of the earlier rows' pivots: no matter where that
/// is larger.
inline constexpr double kRegularKind = 1e-5;

/// |x|^2 of row i as a combination of the rows before it that belong to its kind, all of length
/// one, from Cholesky's factor: entry(j, k), which has room for x at (k, i); quotient(value, k): by
/// that of the diagonal, zero at rows not picked; own(k): the square of a length.
template <class V, class Belongs, class Entry, class Quotient, class Own>
CAROM_INLINE V combination_size(int i, Belongs&& belongs, Entry&& entry, Quotient&& quotient,
                                Own&& own) {
  V size(0.0);
  for (int k = i - 1; k >= 0; --k) {
    if (!belongs(k)) continue;
    V value = entry(i, k);
    for (int j = k + 1; j < i; ++j) {
      if (belongs(j)) value = fused(-entry(j, k), entry(j, i), value);
    }
    const V x = quotient(value, k);
    entry(k, i) = x;
    size = fused(x * x, own(k), size);
  }
  return size / own(i);
}

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
    double volume = 1.0;
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
      double least = kIndependent;
      if (volume < kRegularKind) {
        const double size = combination_size<double>(
            count, [](int) { return true; },
            [&](int j, int k) -> double& { return scratch[static_cast<long>(j) * rows.count + k]; },
            [&](double x, int k) { return x / scratch[static_cast<long>(k) * (rows.count + 1)]; },
            [&](int k) {
              return delassus_entry(rows, inverse_mass, k < count ? picked[k] : i,
                                    k < count ? picked[k] : i);
            });
        least = larger(kPivotRounding * size, least);
      }
      if (!(pivot > least * diagonal)) continue;
      volume *= pivot / diagonal;
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
