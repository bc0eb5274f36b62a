#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/memory.hpp>
#include <carom/device/numeric.hpp>

/// Data that the QP kernels share: the shape, and a view of one problem (or of one
/// pack of problems).
namespace carom::kernels {

/// One second-order cone: rows [first, first + size), size >= 2, and the columns where any of them
/// is nonzero: cone_column[column_first .. column_last).
struct QpConeSpan {
  int first;
  int size;
  int column_first;
  int column_last;
};

/// Shape of all problems that a call of a body may meet (src/programs/qp/layout.hpp builds one).
/// Rows 0..rows-1 are intervals l <= a'x <= u, except those of second-order cones, where h - G x
/// lies in the cone with G the row of the matrix and h its `upper`. Half-lines and equations of a
/// cone list are interval rows. A row stands in every list that any of the problems needs it in;
/// absent sides are masked per problem.
struct QpShape {
  int variables;
  int rows;  ///< all rows, those of second-order cones included
  int lowers, uppers, equations, inequalities, cones;
  const int* lower_row;       ///< [lowers], rows with a finite l < u
  const int* upper_row;       ///< [uppers], rows with a finite u > l
  const int* equation_row;    ///< [equations], rows with l = u
  const int* inequality_row;  ///< [inequalities], rows that are not equations in all problems
  const QpConeSpan* cone;     ///< [cones]
  const int* cone_column;
  /// Columns where any problem's row is nonzero: column[row_first[i] .. row_first[i + 1]).
  const int* row_first;  ///< [rows + 1]
  const int* column;
  /// The same of row j of P and column j, j itself among them: hessian_column[hessian_first[j] ..
  /// hessian_first[j + 1]). Null where no zeros are known.
  const int* hessian_first;  ///< [n + 1]
  const int* hessian_column;
};

/// Data of one problem. Memory: PlainMemory<const V> or InterleavedMemory<const double>.
template <class Memory>
struct QpView {
  Memory hessian;   ///< [n, n], symmetric, the lower half is read
  Memory gradient;  ///< q, [n]
  Memory matrix;    ///< [rows, n]
  Memory lower;     ///< [rows], minus infinity in cone rows
  Memory upper;     ///< [rows], h in cone rows
};

/// How a body ended, before any certificate, as a number: packs hold one per lane.
namespace qp_end {
inline constexpr double kRunning = 0.0;
inline constexpr double kConverged = 1.0;
inline constexpr double kStalled = 2.0;  ///< rounding allows no better; judge the answer
inline constexpr double kInfeasible = 3.0;
inline constexpr double kUnbounded = 4.0;
inline constexpr double kNonconvex = 5.0;
inline constexpr double kBroken = 6.0;      ///< NaN or overflow
inline constexpr double kActiveSet = 7.0;   ///< converged on a dual active set
inline constexpr double kNoInterior = 8.0;  ///< Status::no_interior
}  // namespace qp_end

/// Where a body stands after solve.
template <class V>
struct QpOutcome {
  V end;             ///< qp_end
  V iterations;      ///< of this lane
  V level = V(0.0);  ///< 1 where an active set's P is not definite
};

/// What a comparison of two V says: a bool, or one for each lane of a pack.
template <class V>
using MaskOf = decltype(V(0.0) < V(0.0));
template <class V>
CAROM_INLINE MaskOf<V> mask_of(bool on) {
  return V(on ? 1.0 : 0.0) > V(0.0);
}
/// 1 where it is set, for counting.
template <class V>
CAROM_INLINE V as_number(MaskOf<V> mask) {
  return select(mask, V(1.0), V(0.0));
}

/// 1 where a bound is there, for sums; NaN counts as there, so that it is met again in the answer.
template <class V>
CAROM_INLINE V presence(V bound) {
  return select(magnitude(bound) < V(kInfinity), V(1.0), V(0.0));
}

}  // namespace carom::kernels
