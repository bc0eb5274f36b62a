#pragma once

#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_interior_point_data.hpp"

/// Normal equations of a step of the interior-point method, (P + A' W A) dx = r, factorised, and
/// products with A.
namespace carom::kernels {

/// Functions that are inlined take their caller's copy of the data, the others make one.
template <class Data>
struct QpNormalEquations {
  using V = typename Data::V;
  using Memory = typename Data::Memory;
  static constexpr int N = Data::kVariables;

  /// Row i of A, times x.
  static CAROM_INLINE V row_product(const Data& m, int i, const Memory& x) {
    V sum(0.0);
    if constexpr (N > 0) {
      if (count_of(m, i) == N) {
        const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
        for (int j = 0; j < N; ++j) sum = fused(row[j], x[j], sum);
        return sum;
      }
    }
    for (int t = m.shape.row_first[i]; t < m.shape.row_first[i + 1]; ++t) {
      const int j = m.shape.column[t];
      sum = fused(m.scaled.matrix[static_cast<long>(i) * m.variables() + j], x[j], sum);
    }
    return sum;
  }

  /// data.transposed = A' v
  static CAROM_CALL void transpose_product(const Data& data, const Memory& v) {
    const Data m = data;
    m.lanes.for_each(m.variables(), [&](int j) { m.transposed[j] = V(0.0); });
    for (int i = 0; i < m.rows; ++i) {
      const V value = v[i];
      const int first = m.shape.row_first[i];
      if constexpr (N > 0) {
        if (count_of(m, i) == N) {
          const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
          for (int j = 0; j < N; ++j) m.transposed[j] = fused(value, row[j], m.transposed[j]);
          continue;
        }
      }
      m.lanes.for_each(m.shape.row_first[i + 1] - first, [&](int t) {
        const int j = m.shape.column[first + t];
        m.transposed[j] = fused(value, m.scaled.matrix[static_cast<long>(i) * m.variables() + j],
                                m.transposed[j]);
      });
    }
  }

  /// data.weight -> data.factor = P + A' W A + the cones' part, factorised.
  static CAROM_CALL void factorise(const Data& data, bool cones) {
    const Data m = data;
    const long n = m.variables();
    m.lanes.for_each(m.variables(), [&](int j) {
      for (int i = j; i < m.variables(); ++i) m.factor[j * n + i] = m.scaled.hessian[j * n + i];
      m.factor[j * n + j] = m.factor[j * n + j] + V(kProximity);
    });
    int i = 0;
    while (i < m.rows) {
      int end = i;
      if constexpr (N > 0) {
        while (end < m.rows && count_of(m, end) == N) ++end;
      }
      if (end > i) {
        add_dense_rows<0>(m, i, end);
        i = end;
      } else {
        add_row(m, i, m.weight[i]);
        ++i;
      }
    }
    if (cones) {
      for (int c = 0; c < m.shape.cones; ++c) add_cone(data, m.shape.cone[c]);
    }
    factor_symmetric<V, Data::kVariables>(m.lanes, m.variables(), m.factor, m.inverse,
                                          V(kSmallestPivot));
  }

  /// Solves for dx with right-hand side -(keep (P x + q) + A' data.push), then A dx.
  static CAROM_CALL void solve_step(const Data& data, V keep) {
    const Data m = data;
    transpose_product(data, m.push);
    m.lanes.for_each(m.variables(),
                     [&](int j) { m.step[j] = -fused(keep, m.gradient[j], m.transposed[j]); });
    solve_symmetric<V, Data::kVariables>(m.lanes, m.variables(), m.factor, m.inverse, m.step);
    m.lanes.for_each(m.rows, [&](int i) { m.adx[i] = row_product(m, i, m.step); });
  }

 private:
  static constexpr double kProximity = 1e-12;
  static constexpr double kSmallestPivot = 1e-40;

  [[nodiscard]] static CAROM_INLINE int count_of(const Data& m, int i) {
    return m.shape.row_first[i + 1] - m.shape.row_first[i];
  }

  /// Columns J.. of the parts of rows [first, last), all of them full: one column at a time stays
  /// in registers.
  template <int J>
  static CAROM_INLINE void add_dense_rows(const Data& m, int first, int last) {
    if constexpr (J < N) {
      V column[N - J];
      for (int k = J; k < N; ++k) column[k - J] = m.factor[J * N + k];
      for (int i = first; i < last; ++i) {
        const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
        const V value = m.weight[i] * row[J];
        for (int k = J; k < N; ++k) column[k - J] = fused(value, row[k], column[k - J]);
      }
      for (int k = J; k < N; ++k) m.factor[J * N + k] = column[k - J];
      add_dense_rows<J + 1>(m, first, last);
    }
  }

  template <int Count>
  static CAROM_INLINE void add_short_row(const Data& m, int i, V weight) {
    const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
    const int* column = m.shape.column + m.shape.row_first[i];
    V entry[Count];
    for (int p = 0; p < Count; ++p) entry[p] = row[column[p]];
    for (int p = 0; p < Count; ++p) {
      const V value = weight * entry[p];
      const Memory to = m.factor + static_cast<long>(column[p]) * N;
      for (int q = p; q < Count; ++q) to[column[q]] = fused(value, entry[q], to[column[q]]);
    }
  }

  static CAROM_INLINE void add_row(const Data& m, int i, V weight) {
    const long n = m.variables();
    const int first = m.shape.row_first[i];
    const int count = m.shape.row_first[i + 1] - first;
    if constexpr (N > 0) {
      if (count == 1) return add_short_row<1>(m, i, weight);
      if (count == 3) return add_short_row<3>(m, i, weight);
    }
    const Memory row = m.scaled.matrix + i * n;
    const Memory factor = m.factor;
    const int* column = m.shape.column + first;
    m.lanes.for_each(count, [&](int p) {
      const int j = column[p];
      const V value = weight * row[j];
      const Memory to = factor + j * n;
      for (int q = p; q < count; ++q) to[column[q]] = fused(value, row[column[q]], to[column[q]]);
    });
  }

  /// eta^-2 (2 v v' - G'J G), v = G'J w; the rows' own parts came with data.weight.
  static CAROM_CALL void add_cone(const Data& data, const QpConeSpan& cone) {
    const Data m = data;
    const long n = m.variables();
    const int count = cone.column_last - cone.column_first;
    const V weight = V(2.0) * m.weight[cone.first + 1];
    m.lanes.for_each(count, [&](int p) {
      const int j = m.shape.cone_column[cone.column_first + p];
      V v = m.cone.point[cone.first] * m.scaled.matrix[cone.first * n + j];
      for (int i = cone.first + 1; i < cone.first + m.size_of(cone); ++i) {
        v = fused(-m.cone.point[i], m.scaled.matrix[i * n + j], v);
      }
      m.step[j] = v;
    });
    m.lanes.for_each(count, [&](int p) {
      const int j = m.shape.cone_column[cone.column_first + p];
      const V value = weight * m.step[j];
      for (int q = p; q < count; ++q) {
        const int k = m.shape.cone_column[cone.column_first + q];
        m.factor[j * n + k] = fused(value, m.step[k], m.factor[j * n + k]);
      }
    });
  }
};

}  // namespace carom::kernels
