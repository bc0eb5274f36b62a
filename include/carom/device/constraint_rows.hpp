#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>

namespace carom {

/// Types of rows of a step's constraint Jacobian. A contact is a normal row directly followed by
/// its dimension - 1 tangent rows.
enum class RowType : std::uint8_t {
  none,        ///< absent: the row is skipped
  bilateral,   ///< spring-damper that pulls and pushes, (15)
  unilateral,  ///< spring-damper that only pushes, (68)
  normal,      ///< the same, with tangent rows after it
  tangent,     ///< spring-damper whose force the friction cone limits, (97) and (98)
};

namespace kernels {

/// Rows of one world at one instant. jacobian: [count, velocities], non-zero in columns
/// [begin_i, end_i) only; the other arrays: [count]. T: double, or a number with its derivatives.
template <class T>
struct ConstraintRowsOf {
  int velocities = 0;
  int capacity = 0;
  int count = 0;
  RowType* type = nullptr;
  int* slot = nullptr;  ///< names the row over time, below `capacity`: its impulse is kept by it
  int* begin = nullptr;
  int* end = nullptr;
  T* jacobian = nullptr;        ///< G
  T* jacobian_dot_v = nullptr;  ///< (dG/dt) v
  T* phi = nullptr;
  T* stiffness = nullptr;  ///< K >= 0
  T* damping = nullptr;    ///< B >= 0
  T* friction = nullptr;   ///< mu of a normal row

  /// Appends a row that is zero in columns [begin, end); returns its index.
  CAROM_INLINE int add(RowType kind, int name, int first, int last, T deformation, T k, T b) {
    const int i = count++;
    type[i] = kind;
    slot[i] = name;
    begin[i] = first;
    end[i] = last;
    jacobian_dot_v[i] = T(0.0);
    phi[i] = deformation;
    stiffness[i] = k;
    damping[i] = b;
    friction[i] = T(0.0);
    for (int j = first; j < last; ++j) row(i)[j] = T(0.0);
    return i;
  }
  CAROM_INLINE T* row(int i) const { return jacobian + static_cast<long>(i) * velocities; }
};
using ConstraintRows = ConstraintRowsOf<double>;

CAROM_HOST_DEVICE constexpr long constraint_reals(int capacity, int velocities) {
  return static_cast<long>(capacity) * (velocities + 5L);
}
CAROM_HOST_DEVICE constexpr long constraint_ints(int capacity) { return 3L * capacity; }

/// Lays the rows' arrays out in scratch memory. types: [capacity].
template <class T>
CAROM_INLINE ConstraintRowsOf<T> make_rows(int capacity, int velocities, T* reals, int* ints,
                                           RowType* types) {
  ConstraintRowsOf<T> rows;
  rows.velocities = velocities;
  rows.capacity = capacity;
  rows.type = types;
  rows.slot = ints;
  rows.begin = ints + capacity;
  rows.end = ints + 2L * capacity;
  rows.jacobian = reals;
  T* column = reals + static_cast<long>(capacity) * velocities;
  rows.jacobian_dot_v = column;
  rows.phi = column + capacity;
  rows.stiffness = column + 2L * capacity;
  rows.damping = column + 3L * capacity;
  rows.friction = column + 4L * capacity;
  return rows;
}

}  // namespace kernels
}  // namespace carom
