#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// What a mode's change does to every column of the tableau in contact_path_tableau.hpp.
namespace carom::kernels::contact_path {

inline constexpr int kFewestLateRows = 32;  // below, all columns are changed at once
inline constexpr int kMostChanges = 48;     // that are kept, before all columns are brought up
inline constexpr int kMostOfMode = 3;       // that one mode's change keeps

enum class ChangeKind : unsigned char {
  pivot,          ///< on a row that the tableau has
  far_end_given,  ///< on one that is not in it: the driving force, measured from the far corner
  edge_given,     ///< likewise, measured from the corner of another edge
  far_end,        ///< a basic force is measured from the far corner
  edge,           ///< both forces of a sticking contact are
  corner,         ///< velocities of a contact that closes are seen from another corner
  basic,          ///< the basic force passes to the row of the other one after edge_given
};
CAROM_INLINE constexpr bool is_pivot(ChangeKind kind) {
  return kind == ChangeKind::pivot || kind == ChangeKind::far_end_given ||
         kind == ChangeKind::edge_given;
}

template <class Real>
struct Change {
  ChangeKind kind;
  int row;       ///< of the pivot, or that changes
  int place[3];  ///< of forces a and b, or of rows that change together, and of the normal impulse
  int own;       ///< column of the driving variable
  int other;     ///< column that gets `turn` more
  Real inverse;  ///< of the pivot
  Real matrix[2][2];
  Real vector[2];
  Real scale;  ///< friction coefficient, or the edge's length in normal impulses
  Real turn;
};

/// Changes that columns may not have seen yet.
template <class Real, bool Some>
struct KeptChanges {};
template <class Real>
struct KeptChanges<Real, true> {
  int count = 0;
  Change<Real> change[kMostChanges];
};

}  // namespace carom::kernels::contact_path
