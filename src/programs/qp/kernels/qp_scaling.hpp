#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"

/// Scaling that the solver bodies of quadratic programs share, and the test of convexity.
namespace carom::kernels {

/// x = length D x', y = R y' / cost: columns are scaled to a unit diagonal of the Hessian (by their
/// largest entry in A where that is zero), rows to a largest entry of one, all rows of a cone
/// alike.
template <class Memory>
struct ScaledQp {
  Memory hessian;       ///< [n, n], column-major lower half
  Memory gradient;      ///< [n]
  Memory matrix;        ///< [rows, n]
  Memory column_scale;  ///< D, [n]
  Memory row_scale;     ///< R, [rows]
  Memory lower;         ///< [rows]
  Memory upper;         ///< [rows]
};
template <class Memory>
CAROM_INLINE constexpr ScaledQp<Memory> scaled_qp(Arena<Memory>& arena, long n, long rows) {
  return {arena.take(n * n), arena.take(n),    arena.take(rows * n), arena.take(n),
          arena.take(rows),  arena.take(rows), arena.take(rows)};
}

template <class V>
struct QpScale {
  V length;  ///< of x
  V cost;    ///< factor of the scaled gradient: q' = cost D q, P' = cost length D P D
  V bounds;  ///< largest bound in the scaled problem, where that is above the length of x
};

/// 1 / x, or 1 where x is not positive.
template <class V>
CAROM_INLINE V reciprocal_or_one(V x) {
  return V(1.0) / select(x > V(0.0), x, V(1.0));
}

/// N: the number of variables where it is known in advance, or 0.
template <class V, int N = 0, class Lanes, class Data, class Memory>
CAROM_CALL QpScale<V> scale_problem(const Lanes& lanes, const QpShape& shape,
                                    const QpView<Data>& view, const ScaledQp<Memory>& scaled) {
  constexpr double kSmallestDiagonal = 1e-12;
  const int variables = N > 0 ? N : shape.variables;
  const long n = variables;
  V largest(0.0);
  for (int j = 0; j < variables; ++j) largest = larger(view.hessian[j * n + j], largest);
  lanes.for_each(variables, [&](int j) {
    const V diagonal = view.hessian[j * n + j];
    scaled.column_scale[j] =
        select(diagonal > V(0.0), larger(diagonal, V(kSmallestDiagonal) * largest), V(0.0));
  });
  // Largest entry of a column of A, for the variables without curvature.
  lanes.for_each(variables, [&](int j) { scaled.gradient[j] = V(0.0); });
  for (int i = 0; i < shape.rows; ++i) {
    const int first = shape.row_first[i];
    lanes.for_each(shape.row_first[i + 1] - first, [&](int t) {
      const int j = shape.column[first + t];
      scaled.gradient[j] = larger(magnitude(view.matrix[i * n + j]), scaled.gradient[j]);
    });
  }
  lanes.for_each(variables, [&](int j) {
    const V diagonal = scaled.column_scale[j];
    scaled.column_scale[j] =
        V(1.0) / select(diagonal > V(0.0), square_root(diagonal),
                        select(scaled.gradient[j] > V(0.0), scaled.gradient[j], V(1.0)));
  });
  // A cone is read at all columns of any of its rows.
  for (int c = 0; c < shape.cones; ++c) {
    const QpConeSpan& cone = shape.cone[c];
    const int count = cone.column_last - cone.column_first;
    lanes.for_each_2d(cone.size, count, [&](int i, int t) {
      scaled.matrix[(cone.first + i) * n + shape.cone_column[cone.column_first + t]] = V(0.0);
    });
  }
  lanes.for_each(shape.rows, [&](int i) {
    V size(0.0);
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      const V entry = view.matrix[i * n + j] * scaled.column_scale[j];
      scaled.matrix[i * n + j] = entry;
      size = larger(magnitude(entry), size);
    }
    scaled.row_scale[i] = size;
  });
  for (int c = 0; c < shape.cones; ++c) {
    const QpConeSpan& cone = shape.cone[c];
    V size(0.0);
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      size = larger(scaled.row_scale[i], size);
    }
    lanes.for_each(cone.size, [&](int t) { scaled.row_scale[cone.first + t] = size; });
  }
  lanes.for_each(shape.rows, [&](int i) {
    const V scale = reciprocal_or_one(scaled.row_scale[i]);
    scaled.row_scale[i] = scale;
    scaled.lower[i] = view.lower[i] * scale;
    scaled.upper[i] = view.upper[i] * scale;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const long entry = i * n + shape.column[t];
      scaled.matrix[entry] = scaled.matrix[entry] * scale;
    }
  });
  V push(0.0);
  for (int j = 0; j < variables; ++j) {
    push = larger(magnitude(view.gradient[j] * scaled.column_scale[j]), push);
  }
  V bounds(0.0);
  const auto add_bound = [&](V bound) {
    const V size = magnitude(bound);
    bounds = select(size < V(kInfinity), larger(size, bounds), bounds);
  };
  for (int k = 0; k < shape.lowers; ++k) add_bound(scaled.lower[shape.lower_row[k]]);
  for (int k = 0; k < shape.uppers; ++k) add_bound(scaled.upper[shape.upper_row[k]]);
  for (int k = 0; k < shape.equations; ++k) add_bound(scaled.upper[shape.equation_row[k]]);
  for (int c = 0; c < shape.cones; ++c) {
    const QpConeSpan& cone = shape.cone[c];
    for (int i = cone.first; i < cone.first + cone.size; ++i) add_bound(scaled.upper[i]);
  }
  // The unconstrained minimum has length |D q| where there is curvature.
  const V natural = select(bounds > V(0.0), bounds, V(1.0));
  QpScale<V> scale;
  scale.length = select(push > V(0.0), select(largest > V(0.0), push, natural), natural);
  scale.cost =
      select(push > V(0.0), V(1.0) / select(push > V(0.0), push, V(1.0)), V(1.0) / scale.length);
  const V shorter = V(1.0) / scale.length;
  scale.bounds = larger(bounds * shorter, V(1.0));
  lanes.for_each(shape.rows, [&](int i) {
    scaled.lower[i] = scaled.lower[i] * shorter;
    scaled.upper[i] = scaled.upper[i] * shorter;
  });
  const V curvature = scale.cost * scale.length;
  lanes.for_each(variables, [&](int j) {
    scaled.gradient[j] = scale.cost * (scaled.column_scale[j] * view.gradient[j]);
    const V factor = curvature * scaled.column_scale[j];
    for (int i = j; i < variables; ++i) {
      scaled.hessian[j * n + i] = factor * scaled.column_scale[i] * view.hessian[i * n + j];
    }
  });
  return scale;
}

/// Relative to the diagonal, a negative eigenvalue down to this counts as rounding of the data.
inline constexpr double kConvexityShift = 1e-9;

/// factor = P, column-major lower half, with its diagonal raised by 1e-9 of itself, whatever the
/// units of the variables; where a diagonal is not positive, by 1e-9 of what the others' curvature
/// and its entries would ask of it, P_ij^2 / P_ii. factor: [n, n]; work: [n], both overwritten.
template <class V, int N = 0, class Lanes, class Data, class Memory>
CAROM_CALL void raise_hessian(const Lanes& lanes, int size, const Data& hessian,
                              const Memory& factor, const Memory& work) {
  const int variables = N > 0 ? N : size;
  const long n = variables;
  lanes.for_each(variables, [&](int j) {
    const V diagonal = hessian[j * n + j];
    V asked = magnitude(diagonal);
    if (any_of(diagonal <= V(0.0))) {
      V most(0.0);
      for (int i = 0; i < variables; ++i) {
        const V entry = magnitude(i >= j ? hessian[i * n + j] : hessian[j * n + i]);
        const V own = hessian[i * n + i];
        const V per = select(own > V(0.0), own, entry);
        most = larger(entry * entry / select(per > V(0.0), per, V(1.0)), most);
      }
      asked = select(diagonal <= V(0.0), most, asked);
    }
    work[j] = asked;
  });
  lanes.for_each(variables, [&](int j) {
    for (int i = j; i < variables; ++i) factor[j * n + i] = hessian[i * n + j];
    factor[j * n + j] = fused(work[j], V(kConvexityShift), factor[j * n + j]);
  });
}

/// Negative (or NaN) where the Hessian is not convex: the smallest pivot of L D L' of what
/// raise_hessian makes of it. factor: [n, n]; inverse: [n], both overwritten.
template <class V, int N = 0, class Lanes, class Data, class Memory>
CAROM_CALL V convexity_pivot(const Lanes& lanes, int size, const Data& hessian,
                             const Memory& factor, const Memory& inverse) {
  const int variables = N > 0 ? N : size;
  raise_hessian<V, N>(lanes, size, hessian, factor, inverse);
  return factor_symmetric<V, N>(lanes, variables, factor, inverse, V(0.0));
}

}  // namespace carom::kernels
