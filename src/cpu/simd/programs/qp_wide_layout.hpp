#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/qp_problem.hpp>

/// Inputs and memory of QpWideActiveSet, the same for all instruction sets.
namespace carom::cpu::simd {

inline constexpr int kLargestWideVariables = 128;
inline constexpr int kLargestWideRows = 512;

CAROM_INLINE constexpr int eights(int count) { return (count + 7) / 8; }

/// Whether a row's numbers are sooner met by its list of columns than in vectors.
CAROM_INLINE bool is_sparse(const kernels::QpShape& shape) {
  return 4L * shape.row_first[shape.rows] < static_cast<long>(shape.rows) * shape.variables;
}

/// Padded to eights: n to `columns`, rows to `width`.
template <class Memory>
struct QpWideLayout {
  Memory hessian;  ///< [n, columns], both halves
  Memory factor;   ///< [n, columns]
  Memory matrix;   ///< [n, width], A transposed
  Memory through;  ///< [n, width], L^-1 A'
  Memory reach;    ///< [n, width], a column of A H^-1 A' for each active row
  Memory inverse;  ///< [n, columns], of the active rows among themselves
  Memory pivot, pivot_inverse, least, unit, centre, proximity, x, step, work, zeros;  // columns
  Memory multiplier, rate, sign, entry;                              // columns, of active rows
  Memory value, lower, upper, scale, feasible, size, slope, column;  // width

  QpWideLayout() = default;
  CAROM_INLINE constexpr QpWideLayout(kernels::Arena<Memory>& arena, long n, long rows) {
    const long columns = 8L * eights(static_cast<int>(n));
    const long width = 8L * eights(static_cast<int>(rows));
    for (Memory* part : {&hessian, &factor, &inverse}) *part = arena.take(n * columns);
    for (Memory* part : {&matrix, &through, &reach}) *part = arena.take(n * width);
    for (Memory* part : {&pivot, &pivot_inverse, &least, &unit, &centre, &proximity, &x, &step,
                         &work, &zeros, &multiplier, &rate, &sign, &entry}) {
      *part = arena.take(columns);
    }
    for (Memory* part : {&value, &lower, &upper, &scale, &feasible, &size, &slope, &column}) {
      *part = arena.take(width);
    }
  }
};
CAROM_INLINE constexpr long qp_wide_workspace(long n, long rows) {
  return kernels::values_of<QpWideLayout>(n, rows);
}

/// What a problem whose P is definite keeps of its matrices, padded to eights: n to `columns`, rows
/// to `width`.
template <class Memory>
struct QpKeptLayout {
  Memory hessian;      ///< [n, columns], both halves
  Memory inverse;      ///< P^-1, [n, columns]
  Memory matrix;       ///< [n, width], A transposed
  Memory unit;         ///< 1 / sqrt(P_jj), columns
  Memory norm, scale;  ///< of a row in the norm of P^-1, and what is 1 there; width

  QpKeptLayout() = default;
  CAROM_INLINE constexpr QpKeptLayout(kernels::Arena<Memory>& arena, long n, long rows) {
    const long columns = 8L * eights(static_cast<int>(n));
    const long width = 8L * eights(static_cast<int>(rows));
    for (Memory* part : {&hessian, &inverse}) *part = arena.take(n * columns);
    matrix = arena.take(n * width);
    unit = arena.take(columns);
    for (Memory* part : {&norm, &scale}) *part = arena.take(width);
  }
};
/// What pays where many problems share it.
template <class Memory>
struct QpSharedLayout {
  Memory given;  ///< [rows, columns], A
  Memory slope;  ///< P^-1 A', [n, width]
  Memory way;    ///< A P^-1, [rows, columns]
  Memory reach;  ///< A P^-1 A', [rows, width]

  QpSharedLayout() = default;
  CAROM_INLINE constexpr QpSharedLayout(kernels::Arena<Memory>& arena, long n, long rows) {
    const long columns = 8L * eights(static_cast<int>(n));
    const long width = 8L * eights(static_cast<int>(rows));
    for (Memory* part : {&given, &way}) *part = arena.take(rows * columns);
    slope = arena.take(n * width);
    reach = arena.take(rows * width);
  }
};

/// Where problems of one P and one A begin, a few at a time.
inline constexpr int kStarts = 4;
template <class Memory>
struct QpStartsLayout {
  Memory push, x;  ///< -q and -P^-1 q, [kStarts, columns]
  Memory value;    ///< A x, [kStarts, width]

  QpStartsLayout() = default;
  CAROM_INLINE constexpr QpStartsLayout(kernels::Arena<Memory>& arena, long n, long rows) {
    for (Memory* part : {&push, &x}) {
      *part = arena.take(8L * kStarts * eights(static_cast<int>(n)));
    }
    value = arena.take(8L * kStarts * eights(static_cast<int>(rows)));
  }
};

}  // namespace carom::cpu::simd
