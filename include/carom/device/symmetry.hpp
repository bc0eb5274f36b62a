#pragma once

#include <carom/device/qp_problem.hpp>

namespace carom::kernels {

/// Whether entries (i, j) and (j, i) of a symmetric matrix are equal but for rounding: to 1e-9 of
/// themselves, or of the root of the diagonal entries' product, which bounds them where the matrix
/// is semidefinite. What J M J' leaves in place of zeros differs from its mirror image.
template <class V>
CAROM_INLINE MaskOf<V> is_mirrored(V entry, V mirrored, V own_i, V own_j) {
  const V apart = magnitude(entry - mirrored);
  const MaskOf<V> by_entry = apart <= V(1e-9) * (magnitude(entry) + magnitude(mirrored));
  const MaskOf<V> by_diagonal = apart * apart <= V(1e-18) * magnitude(own_i * own_j);
  return by_entry | by_diagonal;
}

}  // namespace carom::kernels
