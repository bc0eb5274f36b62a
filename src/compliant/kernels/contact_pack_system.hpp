#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/constraint_rows.hpp>

/// The equations that ContactNewtonPack solves, and their memory.
namespace carom::kernels {

/// Rows in order, a contact's tangents behind its normal. Memory holds values of V.
template <class Memory>
struct ContactPackSystem {
  int rows;
  int stride;
  Memory matrix;    ///< W, [rows, stride]
  Memory vector;    ///< u, [rows]
  Memory friction;  ///< mu, [rows], read at normal rows
  const RowType* type;
  int tangents;  ///< of a normal row
};

template <class Memory>
struct ContactPackLayout {
  Memory upper;   ///< factor U above its diagonal
  Memory weight;  ///< rho
  Memory force;   ///< p - rho F
  Memory slip;    ///< F
  Memory step;
  Memory best;
  Memory pivot;

  CAROM_INLINE constexpr ContactPackLayout(Arena<Memory>& arena, long rows)
      : upper(arena.take(rows * rows)),
        weight(arena.take(rows)),
        force(arena.take(rows)),
        slip(arena.take(rows)),
        step(arena.take(rows)),
        best(arena.take(rows)),
        pivot(arena.take(rows)) {}
};
CAROM_HOST_DEVICE constexpr long contact_pack_workspace(long rows) {
  return values_of<ContactPackLayout>(rows);
}

/// Values of V that the compiler may keep in registers.
template <class V, int kSize>
struct LocalValues {
  V data[kSize];
  CAROM_INLINE V& operator[](int i) { return data[i]; }
  CAROM_INLINE const V& operator[](int i) const { return data[i]; }
};
template <class V, class Memory, int kSize>
struct RowValues {
  using Type = LocalValues<V, kSize>;
};
template <class V, class Memory>
struct RowValues<V, Memory, 0> {
  using Type = Memory;
};

}  // namespace carom::kernels
